"""What a page holds by the mode of its form: beside each other, behind a button, or nothing."""

import re
from typing import Any

import pytest
from flask import Flask
from sqlalchemy import update
from werkzeug.test import TestResponse

from tests.pages.respondent.voice.conftest import Speaker
from tests.voice.factories import make_voice_form
from webapp.base.database import db
from webapp.base.vocabulary import ResponseMode
from webapp.records.forms import Form

BEHIND = re.compile(
    r"<details class=\"recorder__typing\"( open)?>.*?<textarea.*?</details>", re.DOTALL
)


def opened(app: Flask, mode: ResponseMode, *, records: bool = True) -> Speaker:
    with app.app_context():
        form: Any = make_voice_form()
        values = {"response_mode": mode, "records_voice": records}
        db.session.execute(update(Form).values(values))
        db.session.commit()
    client = app.test_client()
    return Speaker(client, form.share_token, client.get(f"/r/{form.share_token}"))


def is_open(page: TestResponse) -> bool:
    """Whether the sheet behind "I cannot record" can be seen."""
    found = BEHIND.search(page.text)
    assert found
    return bool(found[1])


def test_words_and_recorder_are_in_one_sheet(app: Flask) -> None:
    page = opened(app, ResponseMode.VOICE_PREFERRED).page.text

    sheet = page.partition('<div class="sheet">')[2]
    assert sheet.index('<textarea class="text-area" id="answer"') < sheet.index('id="recorder"')
    assert not BEHIND.search(page)


def test_by_voice_only_the_sheet_waits_behind_a_button(app: Flask) -> None:
    speaker = opened(app, ResponseMode.VOICE_ONLY)

    assert "<summary>I cannot record, let me type</summary>" in speaker.page.text
    assert not is_open(speaker.page)
    assert is_open(speaker.upload(answer="Words"))
    assert is_open(speaker.upload(answer=""))


def test_typing_always_counts(app: Flask) -> None:
    speaker = opened(app, ResponseMode.VOICE_ONLY)

    assert is_open(speaker.answer(1, ""))
    assert speaker.answer(1, "Typed").status_code == 200
    assert is_open(speaker.post("/q/1/open"))


@pytest.mark.parametrize(
    ("mode", "records"),
    [(ResponseMode.TEXT_ONLY, True), (ResponseMode.VOICE_ONLY, False)],
)
def test_a_form_that_is_typed_loads_nothing_of_voice(
    app: Flask, mode: ResponseMode, *, records: bool
) -> None:
    page = opened(app, mode, records=records).page

    assert re.findall("record|voice|audio|microphone", page.text) == []
    assert page.headers["Permissions-Policy"].startswith("microphone=(),")


def test_enter_continues_and_uploads_nothing(app: Flask) -> None:
    """Enter in a field presses the first button of its form."""
    page = opened(app, ResponseMode.VOICE_PREFERRED).page.text
    form = page[page.index('<form class="ask"') :]

    assert "formaction" not in form[form.index("<button") : form.index(">", form.index("<button"))]
