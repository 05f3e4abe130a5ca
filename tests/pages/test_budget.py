"""What respondent pages make a browser fetch."""

import re

import pytest
from flask import Flask
from flask.testing import FlaskClient
from werkzeug.test import TestResponse

from tests.factories import make_form, make_response
from tests.pages.creator_client import ORIGIN
from tests.pages.respondent_client import Respondent
from webapp.records.accounts.models import Account

LOADED = re.compile(r'<(?:link(?! rel="alternate")|script|img|use)\b[^>]*?\s(?:href|src)="([^"#]+)')


@pytest.fixture
def pages(app: Flask, client: FlaskClient, account: Account) -> list[TestResponse]:
    """What one respondent sees, from the first question to the end, and a closed form."""
    with app.app_context():
        questions = [f"What went wrong in step {number} of the deploy?" for number in range(1, 4)]
        form = make_form(account.id, title="How your rota really gets made", questions=questions)
        full = make_form(account.id, responseLimit="one")
        make_response(full)
    first = client.get(f"/r/{form.share_token}")
    respondent = Respondent(client, form.share_token, first)
    answered = [respondent.answer(number, "It ran twice.") for number in (1, 2, 3)]
    return [first, *answered, respondent.post("/check"), client.get(f"/r/{full.share_token}")]


def test_a_respondent_page_takes_six_requests_and_no_font(
    client: FlaskClient, pages: list[TestResponse]
) -> None:
    loads = [set(LOADED.findall(page.text)) for page in pages]

    assert max(1 + len(each) for each in loads) <= 6
    for address in set().union(*loads):
        with client.get(address, base_url=ORIGIN) as found:
            assert (found.status_code, "font" in address) == (200, False), address
            if address.endswith(".css"):
                assert not re.search(r"@import|url\(|@font-face", found.text)


@pytest.mark.parametrize(
    ("name", "part", "within"),
    [
        ("js/respondent.js", "js/respondent/history_state.js", b"takesCookies"),
        ("js/voice.js", "js/respondent/voice/recorder_loader.js", b"function loadWhereNeeded"),
        ("js/recorder.js", "js/respondent/voice/voice_recorder.js", b"class VoiceRecorder"),
    ],
)
def test_a_script_comes_with_everything_it_imports(
    app: Flask, name: str, part: str, within: bytes
) -> None:
    shelf = app.extensions["assets"].assets

    assert not re.search(rb"^(import|export) ", shelf[name].body, re.MULTILINE)
    assert within in shelf[name].body
    assert part not in shelf
