"""Hearing a recording again, and getting it back where no answer takes it."""

import re
from typing import Any

import pytest
from flask import Flask
from werkzeug.test import TestResponse

from tests.pages.respondent.voice.conftest import CHECKED, Speaker, kept
from tests.pages.respondent_client import arrive, set_columns
from tests.voice.audio_files import recording
from webapp.records.forms import Form

SOURCE = re.compile(r'<audio [^>]*src="([^"]+)"')


HANDED_BACK = re.compile(r'<form method="post" action="/r/[^/]+(/[^"]+)" data-full-page>')


def handed_back(speaker: Speaker) -> TestResponse:
    """The file that the page hands back."""
    found = HANDED_BACK.search(speaker.page.text)
    assert found
    return speaker.post(found[1])


def source(page: Any) -> str:
    found = SOURCE.search(page.text)
    assert found
    return found[1]


@pytest.fixture
def answered(speaker: Speaker) -> Speaker:
    speaker.upload()
    speaker.go_on(1, "Words beside it")
    speaker.answer(2, "It")
    return speaker


def test_every_page_with_the_answer_plays_it(answered: Speaker) -> None:
    page = answered.post("/q/1/open")
    assert CHECKED.search(page.text)
    paths = [source(page), source(answered.open("/q/1")), source(answered.open("/check"))]
    answered.post("/check", name="")
    paths.append(source(answered.open("/sent")))

    assert len(set(paths)) == 1
    assert "Words beside it" in answered.page.text
    assert answered.client.get(paths[0]).data == recording()
    part = answered.client.get(paths[0], headers={"Range": "bytes=10-19"})
    assert (part.status_code, part.data) == (206, recording()[10:20])


def test_nobody_else_hears_it(app: Flask, answered: Speaker, form: Any) -> None:
    path = source(answered.open("/check"))
    other = arrive(app.test_client(), form)
    other.answer(1, "Me")

    assert other.client.get(path).status_code == 404
    assert app.test_client().get(path).status_code == 404
    assert other.post(path.removeprefix(f"/r/{form.share_token}")).status_code == 404
    assert answered.client.get(path + "?embed=1").status_code == 404  # no cookie in a frame
    for name in ("att_1", "x", "att_%00", "..%2F..%2Fsecrets.json"):
        unknown = f"/r/{answered.share_token}/recordings/{name}"
        assert answered.client.get(unknown).status_code == 404


def test_a_form_that_closes_hands_back_what_was_recorded(app: Flask, speaker: Speaker) -> None:
    speaker.upload()
    set_columns(app, Form, status="closed")

    page = speaker.go_on(1, "My words")

    assert page.status_code == 410
    assert "My words" in page.text
    file = handed_back(speaker)
    assert file.data == recording()
    assert f"filename={kept(app)[0].id}.webm" in file.headers["Content-Disposition"]


def test_scripts_hand_back_what_the_server_refused_after_sending(speaker: Speaker) -> None:
    """Sent in another tab: this one still has the recording, and loses nothing by the page."""
    speaker.answer_all()
    early = speaker.open("/q/1")
    speaker.post("/check", name="")
    sent_page = speaker.page
    speaker.page = early

    page = speaker.upload(1, headers={"HX-Request": "true"})

    name = re.search(r'data-clear-drafts="([^"]+)"', sent_page.text)
    assert name
    assert f'data-recover-recordings="{name[1]}" hidden' in page.text
    assert "data-clear-drafts" not in page.text
    assert (page.status_code, page.headers["HX-Retarget"]) == (409, "#main")


def test_an_upload_that_no_answer_has_is_handed_back_after_sending(
    app: Flask, speaker: Speaker
) -> None:
    speaker.answer_all()
    speaker.open("/q/1")
    speaker.upload(1, file=recording("ogg", "tone"))

    speaker.post("/check", name="")

    assert handed_back(speaker).data == recording("ogg", "tone")
