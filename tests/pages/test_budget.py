"""The compressed size of pages with their assets is bounded."""

import gzip
import re
from dataclasses import dataclass
from typing import Any

import pytest
from flask import Flask
from flask.testing import FlaskClient
from werkzeug.test import TestResponse

from tests.event_factories import make_attempt, make_delivery, make_event, make_subscription
from tests.factories import make_account, make_draft, make_form, make_response
from tests.pages.creator_client import ORIGIN, Creator
from tests.pages.respondent_client import Respondent
from tests.voice.factories import make_voice_form
from webapp.base.database import utc_now
from webapp.base.vocabulary import DeliveryState, SubscriptionEnd
from webapp.events.delivery_log import PAGE_DELIVERIES
from webapp.events.subscription_log import LIVE_SHOWN
from webapp.pages.public.docs import DOCUMENTS
from webapp.records.accounts.models import Account

KIB = 1024
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


def test_a_respondent_page_is_light(client: FlaskClient, pages: list[TestResponse]) -> None:
    loads = [load(client, page) for page in pages]

    assert len(loads) == 6
    assert max(each.html for each in loads) <= 6 * KIB
    assert max(each.of(".css") for each in loads) <= 9 * KIB
    assert max(each.of(".js") for each in loads) <= 24 * KIB


def test_a_respondent_page_takes_six_requests_and_no_font(
    client: FlaskClient, pages: list[TestResponse]
) -> None:
    loads = [load(client, page) for page in pages]

    assert max(1 + len(each.files) for each in loads) <= 6
    assert not [name for each in loads for name in each.files if "font" in name]
    styles = client.get(next(name for name in loads[0].files if name.endswith(".css"))).text
    assert not re.search(r"@import|url\(|@font-face", styles)


def test_a_follow_up_adds_little_to_a_page(
    client: FlaskClient, app: Flask, account: Account, pages: list[TestResponse]
) -> None:
    with app.app_context():
        asks = {"title": "How your rota really gets made", "followUpMode": "deep_dive"}
        form = make_form(account.id, questions=["What went wrong in the deploy?"], **asks)
    respondent = Respondent(client, form.share_token, client.get(f"/r/{form.share_token}"))
    follow_up = respondent.answer(1, "It ran twice.")

    assert "Follow-up to question 1" in follow_up.text
    assert load(client, follow_up).whole - load(client, pages[0]).whole <= 250


def test_voice_adds_little_to_a_page(app: Flask, client: FlaskClient) -> None:
    with app.app_context():
        questions = ["What went wrong in the deploy?"]
        written, spoken = (
            load(client, client.get(f"/r/{form.share_token}"))
            for form in (
                make_form(make_account().id, questions=questions),
                make_voice_form(questions=questions),
            )
        )

    assert spoken.files.keys() > written.files.keys()
    assert not [name for name in written.files if re.search("voice|recorder", name)]
    assert spoken.whole - written.whole <= 8_000


def test_the_recorder_is_light_and_comes_when_it_is_needed(app: Flask, client: FlaskClient) -> None:
    with app.app_context():
        page = client.get(f"/r/{make_voice_form().share_token}")
    recorder = app.extensions["assets"].assets["js/recorder.js"]

    assert not [name for name in load(client, page).files if name.endswith("/recorder.js")]
    assert recorder.packed is not None
    assert len(recorder.packed) <= 9_000


@pytest.mark.parametrize(
    "path",
    ["/drafts", "/drafts/{draft.id}", "/drafts/{draft.id}/confirm", "/forms/{form.id}",
     "/forms/{form.id}/share", "/forms/{form.id}/people", "/connections",
     "/deliveries", "/account", "/about", "/privacy",
     *(f"/docs/{document.name}" for document in DOCUMENTS)],
)  # fmt: skip
def test_a_creator_page_is_light(
    app: Flask, ann: Creator, path: str, draft: Any, form: Any
) -> None:
    page = ann.page(path.format(draft=draft, form=form))

    assert page.status_code == 200
    assert load(ann.client, page).whole <= 70 * KIB


def test_a_long_log_of_deliveries_is_light(app: Flask, ann: Creator, form: Any) -> None:
    with app.app_context():
        for number in range(LIVE_SHOWN):
            subscription = make_subscription(form, host=f"{number}.hooks.example.com:443")
            event_id, state = make_event(form.id), DeliveryState.ABANDONED
            make_attempt(make_delivery(subscription, event_id=event_id, state=state))
            make_subscription(form, ended_at=utc_now(), end_reason=SubscriptionEnd.EXPIRED)

    page = ann.page("/deliveries")

    assert page.text.count('/again"') == PAGE_DELIVERIES
    assert page.text.count('/test"') == LIVE_SHOWN
    assert load(ann.client, page).whole <= 70 * KIB


@pytest.fixture
def draft(app: Flask, account: Account) -> Any:
    with app.app_context():
        return make_draft(account.id, context="what only the creator knows", goal="to find out")


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
