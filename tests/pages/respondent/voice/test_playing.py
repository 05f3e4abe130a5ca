"""Hearing a recording again, and what a page has of voice by the mode of its form and in frames."""

import re
from typing import Any

import pytest
from flask import Flask
from werkzeug.test import TestResponse

from jobs.queue import BEGUN, TRANSCRIPTIONS
from tests.pages.respondent.voice.conftest import CHECKED, Speaker, arrive_to_speak, kept
from tests.pages.respondent_client import arrive, hidden, set_columns
from tests.voice.audio_files import recording
from tests.voice.factories import make_voice_form
from webapp.base.vocabulary import ON_THIS_SERVER, ResponseMode
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


def test_a_replaced_one_and_a_withdrawn_one_are_gone(answered: Speaker) -> None:
    first = source(answered.open("/check"))
    answered.post("/q/1/open")
    answered.upload(file=recording("ogg", "tone"), name="a.webm")
    answered.go_on(1)
    second = source(answered.open("/check"))
    played = answered.client.get(second)

    assert answered.client.get(first).status_code == 404
    assert (played.mimetype, played.data) == ("audio/ogg", recording("ogg", "tone"))
    answered.post("/withdraw/now")
    assert answered.client.get(second).status_code == 404


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


def opened(app: Flask, mode: ResponseMode) -> Speaker:
    with app.app_context():
        form: Any = make_voice_form()
    set_columns(app, Form, response_mode=mode)
    return arrive_to_speak(app.test_client(), form)


def test_a_form_that_is_typed_loads_nothing_of_voice(app: Flask) -> None:
    page = opened(app, ResponseMode.TEXT_ONLY).page

    assert re.findall("record|voice|audio|microphone", page.text) == []
    assert page.headers["Permissions-Policy"].startswith("microphone=(),")


WHISPER = {"transcriber": "whisper", "transcriber_model": "tiny"}


@pytest.fixture
def told(app: Flask, monkeypatch: pytest.MonkeyPatch) -> list[str]:
    """What the queue of whoever writes down was handed."""
    ids: list[str] = []
    monkeypatch.setattr(app.extensions[TRANSCRIPTIONS.extension], "hand_over", ids.extend)
    return ids


@pytest.mark.settings(**WHISPER, limit_upload_session="2/minute")
def test_it_is_told_within_a_limit(app: Flask, speaker: Speaker, told: list[str]) -> None:
    set_columns(app, Form, transcriber=ON_THIS_SERVER)
    address = f"/r/{speaker.share_token}/begin-recording"
    assert speaker.client.get(address).status_code == 405
    for body in ({}, {"session": "k" * 32}):
        assert speaker.client.post(address, data=body).status_code == 422
    assert told == []

    page = speaker.client.get(f"/r/{speaker.share_token}")
    assert f'data-begins="{address}"' in page.text
    statuses = [speaker.client.post(address, data=hidden(page)).status_code for _ in range(3)]
    assert (statuses, told) == ([204, 204, 429], [BEGUN] * 2)
