"""What a page holds by the mode of its form, and inside of another website."""

import re
from html import unescape
from typing import Any

import pytest
from flask import Flask
from sqlalchemy import update
from werkzeug.test import TestResponse

from tests.pages.creator_client import Creator
from tests.pages.respondent.voice.conftest import CHECKED, Speaker, kept
from tests.pages.respondent_client import heading
from tests.voice.factories import make_voice_form
from webapp.base.database import db
from webapp.base.vocabulary import ResponseMode
from webapp.records.accounts.models import Account
from webapp.records.forms import Form

BEHIND = re.compile(
    r"<details class=\"recorder__typing\"( open)?>.*?<textarea.*?</details>", re.DOTALL
)

SITE = "https://www.example.org"


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


@pytest.fixture
def framed(app: Flask, account: Account) -> Any:
    """Shown in frames of one website."""
    with app.app_context():
        made = make_voice_form(account.id)
        db.session.execute(update(Form).values(frame_origins=SITE))
        db.session.commit()
        return made


@pytest.mark.parametrize("records", [True, False])
def test_the_code_for_websites_lets_a_form_that_records_use_the_microphone(
    app: Flask, ann: Creator, framed: Any, *, records: bool
) -> None:
    with app.app_context():
        db.session.execute(update(Form).values(records_voice=records))
        db.session.commit()

    page = unescape(ann.page(f"/forms/{framed.id}/share").text)

    end = ' loading="lazy" allow="microphone"></iframe>' if records else ' loading="lazy"></iframe>'
    assert end in page


def test_a_frame_uploads_and_answers_without_a_cookie(app: Flask, framed: Any) -> None:
    client = app.test_client(use_cookies=False)
    page = client.get(f"/r/{framed.share_token}?embed=1")
    speaker = Speaker(client, framed.share_token, page)

    added = speaker.upload("1", headers={"Sec-Fetch-Dest": "iframe"})
    speaker.page = added
    assert CHECKED.search(added.text)
    assert "Set-Cookie" not in added.headers
    following = speaker.go_on(1)

    assert heading(following) == "What went wrong?"
    assert kept(app)[0].answer_id
    assert page.headers["Permissions-Policy"].startswith("microphone=(self)")


def test_a_recording_that_is_not_found_may_be_shown_in_the_frame(app: Flask, framed: Any) -> None:
    page = app.test_client().get(f"/r/{framed.share_token}/recordings/att_0?embed=1")

    assert page.status_code == 404
    assert f"frame-ancestors {SITE}" in page.headers["Content-Security-Policy"]


def test_in_a_frame_every_address_says_so(app: Flask, framed: Any) -> None:
    page = app.test_client().get(f"/r/{framed.share_token}?embed=1")

    addresses = re.findall(rf'="(/r/{framed.share_token}/[^"]*)"', page.text)
    assert [each for each in addresses if "recording" in each]
    assert [each for each in addresses if "embed=1" not in each] == []
