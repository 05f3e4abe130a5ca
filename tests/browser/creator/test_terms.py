"""How a creator agrees to a model, and reads what came of it."""

from typing import Any

import pytest
from playwright.sync_api import Page, expect

from tests.browser.conftest import ExampleSite
from tests.browser.test_accessibility import problems
from tests.factories import make_form
from webapp.drafts.agreement import Agreement, VoiceAgreement, WriterAgreement
from webapp.pages.creator import agreements
from webapp.records.follow_ups import ModelOutcome

SMALL = "small at models.example.org"
LOOKS = [(320, "light", "ltr"), (1280, "dark", "ltr")]


def test_a_model_is_agreed_to_by_keyboard_and_its_counts_are_readable(
    site: ExampleSite, page: Page, monkeypatch: pytest.MonkeyPatch
) -> None:
    offered = Agreement(VoiceAgreement(records_voice=True), WriterAgreement(SMALL))
    came = {ModelOutcome.WROTE: 1200, ModelOutcome.LATE: 3}, {"special_category": 4, "leak": 1}
    monkeypatch.setattr(agreements, "offered", lambda: offered)
    monkeypatch.setattr(agreements.follow_ups, "count_outcomes", lambda **_: came)
    asking: Any = {"followUpMode": "deep_dive", "context": "Two cafés close."}
    with site.app.app_context():
        form = make_form(site.data.account_id, **asking)
    page.goto(f"/forms/{form.id}/settings")
    section = page.locator("section", has=page.locator("#follow-ups-label"))
    expect(section).to_contain_text("It gets nothing of this form until you agree.")
    page.get_by_role("link", name="See what is so today for follow-up questions").press("Enter")
    expect(page.locator(".private-context")).to_contain_text("Two cafés close.")
    assert problems(page, LOOKS) == {}
    page.locator("main form .btn--main").press("Enter")

    expect(section).to_contain_text(SMALL)
    expect(page.get_by_text("wrote a question: 1200")).to_be_visible()
    assert problems(page, LOOKS) == {}
