"""The compressed size of pages with their assets is bounded."""

import gzip
import re
from dataclasses import dataclass

import pytest
from flask import Flask
from flask.testing import FlaskClient
from werkzeug.test import TestResponse

from tests.factories import make_form, make_response
from tests.pages.creator_client import ORIGIN
from tests.pages.respondent_client import Respondent
from webapp.records.accounts.models import Account

LOADED = re.compile(r'<(?:link(?! rel="alternate")|script|img|use)\b[^>]*?\s(?:href|src)="([^"#]+)')


@dataclass(frozen=True)
class Load:
    """A page with everything that it makes a browser fetch at once: name to compressed bytes."""

    html: int
    files: dict[str, int]

    def of(self, ending: str) -> int:
        return sum(size for name, size in self.files.items() if name.endswith(ending))

    @property
    def whole(self) -> int:
        return self.html + sum(self.files.values())


def load(client: FlaskClient, page: TestResponse) -> Load:
    files = {}
    for address in sorted(set(LOADED.findall(page.text))):
        assert address.startswith("/static/v/"), f"{address} is not ours"
        with client.get(address, headers={"Accept-Encoding": "gzip"}, base_url=ORIGIN) as found:
            assert found.status_code == 200
            files[address] = len(found.data)
    return Load(len(gzip.compress(page.data)), files)


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
    loads = [load(client, page) for page in pages]

    assert max(1 + len(each.files) for each in loads) <= 6
    assert not [name for each in loads for name in each.files if "font" in name]
    styles = client.get(next(name for name in loads[0].files if name.endswith(".css"))).text
    assert not re.search(r"@import|url\(|@font-face", styles)


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
