"""What a page holds by the mode of its form, and inside of another website."""

import re
from html import unescape
from typing import Any

import pytest
from flask import Flask
from werkzeug.test import TestResponse

from jobs.queue import BEGUN, TRANSCRIPTIONS
from tests.pages.creator_client import Creator
from tests.pages.respondent.voice.conftest import CHECKED, Speaker, arrive_to_speak, kept
from tests.pages.respondent_client import heading, set_columns
from tests.voice.factories import make_voice_form
from webapp.base.database import utc_now
from webapp.base.vocabulary import ON_THIS_SERVER, FormStatus, ResponseMode
from webapp.records.accounts.models import Account
from webapp.records.forms import Form

BEHIND = re.compile(
    r"<details class=\"recorder__typing\"( open)?>.*?<textarea.*?</details>", re.DOTALL
)

SITE = "https://www.example.org"


def opened(app: Flask, mode: ResponseMode, *, records: bool = True) -> Speaker:
    with app.app_context():
        form: Any = make_voice_form()
    set_columns(app, Form, response_mode=mode, records_voice=records)
    return arrive_to_speak(app.test_client(), form)


def is_open(page: TestResponse) -> bool:
    """Whether the sheet behind "I cannot record" can be seen."""
    found = BEHIND.search(page.text)
    assert found
    return bool(found[1])


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
    set_columns(app, Form, frame_origins=SITE)
    return made


@pytest.mark.parametrize("records", [True, False])
def test_the_code_for_websites_lets_a_form_that_records_use_the_microphone(
    app: Flask, ann: Creator, framed: Any, *, records: bool
) -> None:
    set_columns(app, Form, records_voice=records)

    page = unescape(ann.page(f"/forms/{framed.id}/share").text)

    end = ' loading="lazy" allow="microphone"></iframe>' if records else ' loading="lazy"></iframe>'
    assert end in page


def test_a_frame_uploads_and_answers_without_a_cookie(app: Flask, framed: Any) -> None:
    speaker = arrive_to_speak(app.test_client(use_cookies=False), framed, "?embed=1")
    page = speaker.page
    addresses = re.findall(rf'="(/r/{framed.share_token}/[^"]*)"', page.text)
    assert [each for each in addresses if "recording" in each]
    assert [each for each in addresses if "embed=1" not in each] == []

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


WHISPER = {"transcriber": "whisper", "transcriber_model": "tiny"}
HERE = pytest.mark.settings(**WHISPER)


@pytest.fixture
def told(app: Flask, monkeypatch: pytest.MonkeyPatch) -> list[str]:
    """What the queue of whoever writes down was handed."""
    ids: list[str] = []
    monkeypatch.setattr(app.extensions[TRANSCRIPTIONS.extension], "hand_over", ids.extend)
    return ids


@HERE
def test_it_is_told(app: Flask, speaker: Speaker, told: list[str]) -> None:
    set_columns(app, Form, transcriber=ON_THIS_SERVER)
    speaker.page = speaker.client.get(f"/r/{speaker.share_token}")
    address = f"/r/{speaker.share_token}/begin-recording"

    assert f'data-begins="{address}"' in speaker.page.text
    assert speaker.post("/begin-recording").status_code == 204
    assert told == [BEGUN]


@HERE
@pytest.mark.parametrize(
    "columns",
    [
        {"transcriber": ""},
        {"transcriber": ON_THIS_SERVER, "records_voice": False},
        {"transcriber": ON_THIS_SERVER, "response_mode": ResponseMode.TEXT_ONLY},
        {"transcriber": ON_THIS_SERVER, "status": FormStatus.CLOSED, "closed_at": utc_now()},
    ],
)
def test_a_form_that_is_not_written_down_here_loads_nothing(
    app: Flask, speaker: Speaker, told: list[str], columns: dict[str, Any]
) -> None:
    set_columns(app, Form, **columns)
    page = speaker.client.get(f"/r/{speaker.share_token}")

    assert "data-begins" not in page.text
    speaker.post("/begin-recording")
    assert told == []


@HERE
def test_a_stranger_without_a_page_loads_nothing(
    app: Flask, speaker: Speaker, told: list[str]
) -> None:
    set_columns(app, Form, transcriber=ON_THIS_SERVER)
    address = f"/r/{speaker.share_token}/begin-recording"

    assert speaker.client.get(address).status_code == 405
    assert speaker.client.post(address).status_code == 422
    assert speaker.client.post(address, data={"session": "k" * 32}).status_code == 422
    assert told == []


@pytest.mark.settings(**WHISPER, limit_upload_session="2/minute")
def test_it_has_a_limit(app: Flask, speaker: Speaker, told: list[str]) -> None:
    set_columns(app, Form, transcriber=ON_THIS_SERVER)
    page = speaker.page
    statuses = []
    for _ in range(3):
        speaker.page = page
        statuses.append(speaker.post("/begin-recording").status_code)

    assert statuses == [204, 204, 429]
    assert told == [BEGUN] * 2
