"""Spoken answers in tools: their recordings are listed, and fragments have all of their words."""

import secrets
from typing import Any

from flask import Flask

from tests.api.mcp.conftest import Hosted
from tests.api.mcp.responses.reading import fragment_pages, quoted
from tests.factories import make_answer
from tests.voice.factories import make_spoken_answer
from webapp.answers import answering
from webapp.base.database import utc_now

TEXT = "ü" * 100_000


def test_the_recording_comes_once_with_a_text_in_fragments(
    app: Flask, hosted: Hosted, form: Any
) -> None:
    key = secrets.token_urlsafe(24)
    with app.app_context():
        recording = make_spoken_answer(form, key, text=TEXT)
        response_id, name = str(recording.session_id), recording.id
        make_answer(form, key, 1, "Typed")
        answering.complete_response(form.share_token, key, responder_name="", now=utc_now())
    host = hosted(form.account_id)

    (session,) = quoted(host, "get_form_responses", formId=form.id)["responses"]
    exchanges = [
        each for page in fragment_pages(host, form, response_id) for each in page["exchanges"]
    ]

    (spoken,) = session["answers"]
    assert (spoken["responseType"], spoken["answerTruncated"]) == ("voice", True)
    assert [each["id"] for each in spoken["attachments"]] == [name]
    *fragments, typed = exchanges
    assert "".join(each["answerText"] for each in fragments) == TEXT
    assert len(fragments) > 1
    assert [each["attachments"] for each in fragments] == [
        spoken["attachments"],
        *([] for _ in fragments[1:]),
    ]
    assert (typed["responseType"], typed["attachments"]) == ("text", [])
