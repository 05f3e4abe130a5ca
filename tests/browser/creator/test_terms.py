"""What a creator is told of models and spoken answers, and how they agree to it."""

import pytest
from playwright.sync_api import Page, expect

from tests.browser.conftest import ExampleSite
from tests.browsing import look, sideways, squeezed, violations
from tests.factories import make_form
from webapp.drafts.agreement import Agreement, VoiceAgreement, WriterAgreement
from webapp.pages.creator import agreements
from webapp.records.drafts import Draft
from webapp.records.follow_ups import ModelOutcome

SMALL = "small at models.example.org"
HOST = "speech.example.org"
# as long as the settings let it be, without a place to break
LONGEST = f"{'m' * 200} at {'models.' * 20}example.org:8443"


class Server:
    """Who writes follow-up questions and recordings down, as the operator set it up."""

    writer = transcriber = ""

    def offered(self) -> Agreement:
        voice = VoiceAgreement(records_voice=True, transcriber=self.transcriber)
        return Agreement(voice, WriterAgreement(self.writer))


@pytest.fixture
def server(monkeypatch: pytest.MonkeyPatch) -> Server:
    made = Server()
    monkeypatch.setattr(agreements, "offered", made.offered)
    return made


@pytest.fixture
def form(site: ExampleSite) -> str:
    """The path of a published form of this test's own."""
    asking = {"followUpMode": "deep_dive", "context": "Two cafés close.", "goal": "Learn why."}
    with site.app.app_context():
        return f"/forms/{make_form(site.data.account_id, **asking).id}"


def problems(page: Page) -> list[str]:
    found = []
    for width, scheme in ((320, "light"), (390, "dark"), (1280, "light")):
        look(page, width=width, scheme=scheme)
        found += sideways(page) + squeezed(page)
        if width != 390:
            found += violations(page)
    return found


def test_other_terms_are_read_before_the_form_goes_out(
    page: Page, draft: Draft, server: Server
) -> None:
    server.writer = SMALL
    page.goto(f"/drafts/{draft.id}/confirm")
    expect(page.get_by_text("Nobody writes recordings down.")).to_be_visible()
    server.writer, server.transcriber = LONGEST, HOST
    page.get_by_role("button", name="Publish now").click()

    expect(page.get_by_role("alert")).to_contain_text(LONGEST)
    expect(page.get_by_role("alert")).to_contain_text(HOST)
    assert problems(page) == []
    page.get_by_role("button", name="Publish revision 1").click()
    expect(page.locator("h1")).to_have_text("It’s live. Share it with someone.")


def test_a_model_is_agreed_to_by_keyboard_and_its_counts_are_readable(
    page: Page, form: str, server: Server, monkeypatch: pytest.MonkeyPatch
) -> None:
    server.writer = SMALL
    came = {ModelOutcome.WROTE: 1200, ModelOutcome.LATE: 3}, {"special_category": 4, "leak": 1}
    monkeypatch.setattr(agreements, "count_outcomes", lambda **_: came)
    page.goto(f"{form}/settings")
    section = page.locator("section", has=page.locator("#follow-ups-label"))
    expect(section).to_contain_text("It gets nothing of this form until you agree.")
    assert problems(page) == []
    page.get_by_role("link", name="See what is so today for follow-up questions").press("Enter")
    expect(page.get_by_role("heading", level=1)).to_have_text("Agree to this?")
    expect(page.locator(".private-context")).to_contain_text("Two cafés close.")
    assert problems(page) == []
    page.locator("main form .btn--main").press("Enter")

    expect(section).to_contain_text(SMALL)
    expect(section.get_by_role("link")).to_have_count(0)
    expect(page.get_by_text("wrote a question: 1200")).to_be_visible()
    assert problems(page) == []
