"""Recordings of every kind are taken and looked at in both run modes, by confined children."""

import re
from collections.abc import Iterator, Mapping
from contextlib import ExitStack, suppress
from pathlib import Path
from typing import Any

import httpx
import pytest
from flask import Flask
from sqlalchemy import select

from tests.command import ROOT
from tests.databases import both_empty_databases
from tests.jobs.test_processes import beside, killed_at_the_end, place, variables
from tests.pages.respondent_client import hidden
from tests.services import free_port, wait_until
from tests.voice.audio_files import KINDS, NOT_PLAIN, not_plain, recording
from tests.voice.factories import make_voice_form
from webapp.base.database import db
from webapp.records.responses.recordings import Recording
from webapp.voice import audio_inspection

__all__ = ["beside", "place", "variables"]


@pytest.fixture
def server(variables: dict[str, str], request: pytest.FixtureRequest) -> Iterator[tuple[str, int]]:
    """Its address, and how many processes of it open audio."""
    commands = ["run"]
    if not variables["DATABASE_URL"].startswith("sqlite"):
        commands = ["web", "worker"]
        variables["REDIS_URL"] = request.getfixturevalue("redis_url")
    port = free_port()
    variables |= {"PORT": str(port), "PUBLIC_URL": f"http://127.0.0.1:{port}"}
    with ExitStack() as stack:
        for command in commands:
            stack.enter_context(killed_at_the_end(command, **variables))
        wait_until(lambda: is_ready(variables["PUBLIC_URL"]), "being served", seconds=90)
        yield variables["PUBLIC_URL"], len(commands)


def is_ready(url: str) -> bool:
    with suppress(httpx.HTTPError):
        return httpx.get(f"{url}/readyz").is_success
    return False


@both_empty_databases
def test_recordings_of_every_kind_are_opened_by_confined_children(
    beside: Flask, server: tuple[str, int]
) -> None:
    url, processes = server
    with beside.app_context():
        path = f"/r/{make_voice_form().share_token}"
    files = {kind: recording(kind, "voice") for kind in KINDS}
    files |= {name: not_plain(name) for name in NOT_PLAIN}

    assert [name for name, file in files.items() if not is_taken(url, path, file)] == []
    wait_until(lambda: are_looked_at(beside, len(files)), "being looked at", seconds=60)
    if audio_inspection.unconfined() == "":
        audio_inspection.child.end()
        states = list(audio_children())
        assert len(states) >= processes
        assert {(state["NoNewPrivs"], state["Seccomp"]) for state in states} == {("1", "2")}


def is_taken(url: str, path: str, file: bytes) -> bool:
    """Whether the page of somebody who uploads it holds it, and their answer does."""
    with httpx.Client(base_url=url, follow_redirects=True, timeout=30) as client:
        page: Any = client.get(path)
        page = client.post(f"{path}/q/1/recording", data=hidden(page), files={"audio": ("a", file)})
        held = re.search(r'name="recording" value="(\w+)" checked', page.text)
        if held is None:
            return False
        answered = client.post(f"{path}/q/1", data=hidden(page) | {"recording": held[1]})
    return answered.is_success


def are_looked_at(beside: Flask, count: int) -> bool:
    with beside.app_context():
        claimed = select(Recording.levels).where(Recording.answer_id.is_not(None))
        levels = list(db.session.scalars(claimed))
        return len(levels) == count and all(levels)


def audio_children() -> Iterator[Mapping[str, str]]:
    """The state of each process of this program that opens audio."""
    for process in Path("/proc").glob("[0-9]*"):
        with suppress(OSError):
            command = (process / "cmdline").read_bytes()
            ours = f"PYTHONPATH={ROOT}".encode() in (process / "environ").read_bytes()
            if ours and b"\0webapp.voice.audio_child\0" in command:
                yield dict(re.findall(r"(\w+):\s+(\d+)\n", (process / "status").read_text()))
