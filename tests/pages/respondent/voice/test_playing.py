"""Hearing a recording again: by the cookie, on all pages that show the answer, and as a file."""

import re
from typing import Any

import pytest
from flask import Flask
from werkzeug.test import TestResponse

from tests.pages.respondent.voice.conftest import CHECKED, Speaker, held_in, kept
from tests.pages.respondent_client import arrive, heading, hidden, set_columns
from tests.voice.audio_files import recording
from webapp.base.vocabulary import TranscriptState
from webapp.records.forms import Form
from webapp.records.responses.recordings import Recording

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


def test_a_form_that_records_no_more_still_shows_it(app: Flask, answered: Speaker) -> None:
    set_columns(app, Form, records_voice=False)
    done = {"transcript": "As heard", "transcript_state": TranscriptState.DONE}
    set_columns(app, Recording, **done)

    page = answered.post("/q/1/open")

    assert CHECKED.search(page.text)
    assert "As heard</blockquote>" in page.text
    assert "data-do" not in page.text  # nothing would do it
    assert 'type="file"' not in page.text


@pytest.mark.constants("webapp.pages.respondent.recordings", TRANSCRIPT_RATE="2/minute")
def test_handing_back_is_limited(speaker: Speaker) -> None:
    where = f"/r/{speaker.share_token}/recordings/{held_in(speaker.upload())}"
    sent = {"session": hidden(speaker.page)["session"]}

    answers = [speaker.client.post(where, data=sent).status_code for _ in range(3)]

    assert answers == [200, 200, 429]


def test_it_is_never_shown_as_a_page_of_ours(answered: Speaker) -> None:
    headers = answered.client.get(source(answered.open("/check"))).headers

    assert headers["Content-Type"] == "audio/webm"
    assert headers["X-Content-Type-Options"] == "nosniff"
    assert headers["Content-Disposition"].startswith("attachment")
    assert headers["Cross-Origin-Resource-Policy"] == "same-origin"
    assert headers["Cache-Control"] == "private, no-store"
    assert "sandbox" in headers.getlist("Content-Security-Policy")


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


@pytest.mark.parametrize("status", ["closed", "completed"])
def test_a_form_that_closes_hands_back_what_was_recorded(
    app: Flask, speaker: Speaker, status: str
) -> None:
    speaker.upload()
    set_columns(app, Form, status=status)

    page = speaker.go_on(1, "My words")

    assert page.status_code == 410
    assert "My words" in page.text
    file = handed_back(speaker)
    assert file.data == recording()
    assert f"filename={kept(app)[0].id}.webm" in file.headers["Content-Disposition"]


def test_before_the_first_answer_it_is_heard_as_a_file(speaker: Speaker) -> None:
    page = speaker.upload(answer="My words")
    given = re.search(r'<noscript><button [^>]*formaction="([^"]+/recordings/[^"]+)"', page.text)

    assert given
    sent = hidden(page) | {"answer": "My words", "audio": ""}
    assert speaker.client.post(given[1], data=sent).data == recording()
    reloaded = speaker.open()  # its page belongs to the same session
    assert hidden(reloaded)["session"] == hidden(page)["session"]
    assert speaker.client.get(source(reloaded)).data == recording()


def test_what_comes_after_sending_is_handed_back(app: Flask, speaker: Speaker) -> None:
    speaker.answer(1, "Me")
    speaker.upload(2)
    late = speaker.page
    speaker.answer_all()
    speaker.post("/check", name="")
    speaker.page = late

    page = speaker.upload(1)

    assert heading(page).startswith("Thank you.")
    assert "What you recorded last came after sending" in page.text
    assert page.status_code == 409


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
