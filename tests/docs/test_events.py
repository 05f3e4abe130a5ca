"""The page about being told of responses: its programs and commands, as they are written."""

import json
import os
import re
import signal
import socket
import subprocess
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from datetime import timedelta
from pathlib import Path
from urllib.error import HTTPError
from urllib.request import Request, urlopen

import pytest
from sqlalchemy import select

from jobs.deliver import Deliverer
from tests.docs.terminal import Terminal, filled
from tests.factories import make_form, make_response
from tests.oauth.live import Installation, installation
from tests.services import free_port, wait_until
from tests.webhook_receiver import SECRET
from webapp.base.config import Settings
from webapp.base.database import db, utc_now
from webapp.base.vocabulary import Scope
from webapp.events.signatures import signed_headers
from webapp.oauth.tokens import issue_token
from webapp.records.accounts.models import Account
from webapp.web.limiter import limiter

BLOCK = re.compile(r"```(\w+) ([^\n]+)\n(.*?)```", re.DOTALL)


@dataclass
class Page:
    """The blocks of the page by their titles, with a free port in the place of theirs."""

    running: Installation
    blocks: dict[str, str]
    port: int


@pytest.fixture
def page(settings: Settings, tmp_path: Path) -> Iterator[Page]:
    port = free_port()
    changed = {
        "database_url": f"sqlite:///{tmp_path}/events.sqlite3",
        "mcp_events_callback_allowlist": frozenset({f"http://127.0.0.1:{port}"}),
    }
    with installation(settings.model_copy(update=changed)) as running:
        limiter.reset()
        text = running.app.test_client().get("/docs/events.md", base_url=running.origin).text
        blocks = {title: body.replace("8800", str(port)) for _, title, body in BLOCK.findall(text)}
        yield Page(running, blocks, port)


@contextmanager
def program(command: list[str], secret: str, port: int) -> Iterator[subprocess.Popen[str]]:
    """A receiver of the page, listening; ended afterwards."""
    variables = {"PATH": os.environ["PATH"], "SECRET": secret}
    running = subprocess.Popen(command, env=variables, stdout=subprocess.PIPE, text=True)

    def listens() -> bool:
        with socket.socket() as probe:
            return probe.connect_ex(("127.0.0.1", port)) == 0

    try:
        wait_until(listens, "the receiver starts")
        yield running
    finally:
        running.send_signal(signal.SIGTERM)
        running.communicate(timeout=10)


def path_of(name: str, request: pytest.FixtureRequest) -> str:
    """What runs a program of this name."""
    return str(request.getfixturevalue("node") / "node") if name.endswith(".ts") else sys.executable


@pytest.mark.parametrize("name", ["receive.py", "receive.ts"])
def test_the_programs_and_commands_work_as_written(
    page: Page, tmp_path: Path, name: str, request: pytest.FixtureRequest
) -> None:
    runs = path_of(name, request)
    (tmp_path / name).write_text(page.blocks[name])
    terminal = Terminal(tmp_path / "folder")
    secret = terminal.paste(page.blocks["Make a secret"])
    with page.running.app.app_context():
        form = make_form(db.session.scalars(select(Account.id)).one())
        api = f"{page.running.origin}/api"
        access = issue_token(form.account_id, [Scope.RESPONSES_READ], api, now=utc_now())
    block = filled(page.blocks["Subscribe, or renew"], "frm_…", form.id)
    block = filled(block, "askat_…", access)
    subscribe = filled(block, "https://hooks.example.com/askback", f"http://127.0.0.1:{page.port}/")

    with program([runs, str(tmp_path / name)], secret, page.port) as receiver:
        made, renewed = (json.loads(terminal.paste(subscribe)) for _ in range(2))
        with page.running.app.app_context():
            make_response(form)
            Deliverer(page.running.app, threads=2).work()
        assert receiver.stdout is not None
        event_id, session_id = receiver.stdout.readline().split()
        listed = json.loads(terminal.paste(page.blocks["List"]))
    ended = filled(page.blocks["Unsubscribe"], "sub_…", made["subscriptionId"])

    assert terminal.paste(ended) == ""
    assert json.loads(terminal.paste(page.blocks["List"])) == {"subscriptions": []}
    terminal.close()
    assert renewed["subscriptionId"] == made["subscriptionId"]
    assert event_id.removeprefix("evt_") == session_id.removeprefix("ses_")
    (one,) = listed["subscriptions"]
    assert (one["lastError"], one["lastDeliveryAt"] is None) == (None, False)


@pytest.mark.parametrize("name", ["receive.py", "receive.ts"])
def test_the_programs_refuse_what_is_not_signed(
    page: Page, tmp_path: Path, name: str, request: pytest.FixtureRequest
) -> None:
    """By another secret, long ago, or changed on its way."""
    runs = path_of(name, request)
    (tmp_path / name).write_text(page.blocks[name])

    with program([runs, str(tmp_path / name)], SECRET, page.port):
        url = f"http://127.0.0.1:{page.port}/"
        assert answered(url) == 200
        assert answered(url, secret="whsec_" + "Ab3d" * 10) == 401
        assert answered(url, age=302) == 401
        assert answered(url, sent=b'{"eventId": "evt_2"}') == 401
        assert answered(url, without="webhook-signature") == 401
        assert answered(url, without="webhook-timestamp") == 401


def answered(
    url: str, *, secret: str = SECRET, age: float = 0, sent: bytes = b"", without: str = ""
) -> int:
    """The status for an event, signed so long ago; `sent` comes instead of what was signed."""
    body, signed_at = b'{"eventId": "evt_1", "data": {"responseId": "ses_1"}}', utc_now()
    headers = signed_headers(
        *("evt_1", body, [secret]),
        subscription_id="sub_1",
        now=signed_at - timedelta(seconds=age),
    )
    headers.pop(without, None)
    try:
        with urlopen(Request(url, sent or body, headers), timeout=10) as reply:
            return int(reply.status)
    except HTTPError as refused:
        with refused:
            return refused.code
