"""What a creator is told of who writes follow-up questions, and how they agree to it."""

import re

import pytest
from playwright.sync_api import Page, expect

from tests.browser.conftest import ExampleSite, OpenWindow
from tests.browsing import look, sideways, squeezed, violations
from tests.factories import make_form
from webapp.drafts.terms import FormTerms, VoiceTerms, WriterTerms
from webapp.pages.creator.terms import follow_up_writer as terms_page
from webapp.pages.creator.terms import page_terms
from webapp.records.drafts import Draft
from webapp.records.follow_ups import ModelOutcome

SMALL = "small at models.example.org"
# as long as the settings let it be, without a place to break
LONGEST = f"{'m' * 200} at {'models.' * 20}example.org:8443"
LOOKS = ((320, "light"), (390, "dark"), (1280, "light"))


class Server:
    """Who writes follow-up questions, as the operator of the server set it up."""

    writer = ""

    def offered(self) -> FormTerms:
        return FormTerms(VoiceTerms(records_voice=True), WriterTerms(self.writer))


@pytest.fixture
def server(monkeypatch: pytest.MonkeyPatch) -> Server:
    made = Server()
    monkeypatch.setattr(page_terms, "offered", made.offered)
    return made


@pytest.fixture
def form(site: ExampleSite) -> str:
    """The path of a published form of this test's own."""
    asking = {"followUpMode": "deep_dive", "context": "Two cafés close.", "goal": "Learn why."}
    with site.app.app_context():
        return f"/forms/{make_form(site.data.account_id, **asking).id}"


def problems(page: Page) -> list[str]:
    found = []
    for width, scheme in LOOKS:
        look(page, width=width, scheme=scheme)
        found += violations(page) + sideways(page) + squeezed(page)
    return found


def test_the_counts_of_a_model_are_readable(
    open_window: OpenWindow, form: str, server: Server, monkeypatch: pytest.MonkeyPatch
) -> None:
    server.writer = SMALL
    came = {ModelOutcome.WROTE: 1200, ModelOutcome.LATE: 3}, {"special_category": 4, "leak": 1}
    monkeypatch.setattr(terms_page, "count_outcomes", lambda **_: came)
    with open_window() as page:
        page.goto(f"{form}/follow-ups")
        page.get_by_role("button", name="Agree for this form").click()
        expect(page.get_by_text("wrote a question: 1200")).to_be_visible()
        assert problems(page) == []


@pytest.mark.parametrize(
    "writer", [*(pytest.param(usual, marks=pytest.mark.prove) for usual in ("", SMALL)), LONGEST]
)
def test_review_and_confirm_are_readable_whoever_writes(
    open_window: OpenWindow, draft: Draft, server: Server, writer: str
) -> None:
    server.writer = writer
    with open_window() as page:
        page.goto(f"/drafts/{draft.id}")
        settings = page.locator("#settings")
        expect(settings).to_contain_text(writer or "After a thin answer")
        expect(settings).to_contain_text("Each person gets at most 9 questions")
        assert problems(page) == []
        page.locator("#context").get_by_role("link", name="Edit").click()
        editor = page.get_by_role("textbox", name="Private context")
        expect(editor).to_have_accessible_description(re.compile("no secrets"))
        assert problems(page) == []
        page.goto(f"/drafts/{draft.id}/confirm")
        expect(page.locator(".facts")).to_contain_text("Each person gets at most 9 questions")
        assert problems(page) == []


def test_another_model_is_read_before_the_form_goes_out(
    open_window: OpenWindow, draft: Draft, server: Server
) -> None:
    server.writer = SMALL
    with open_window(refused=[409]) as page:
        page.goto(f"/drafts/{draft.id}/confirm")
        server.writer = LONGEST
        page.get_by_role("button", name="Publish now").click()

        expect(page.get_by_role("alert")).to_contain_text(LONGEST)
        assert problems(page) == []
        page.get_by_role("button", name="Publish revision 1").click()
        expect(page.get_by_role("heading", level=1)).to_have_text(
            "It’s live. Share it with someone."
        )


@pytest.mark.parametrize("scripts", [True, False])
def test_a_model_is_agreed_to_by_keyboard(
    open_window: OpenWindow, form: str, server: Server, *, scripts: bool
) -> None:
    server.writer = SMALL
    with open_window(java_script_enabled=scripts) as page:
        page.goto(f"{form}/settings")
        section = page.locator("section", has=page.locator("#follow-ups-label"))
        expect(section).to_contain_text("It gets nothing of this form until you agree.")
        if scripts:
            assert problems(page) == []
        page.get_by_role("link", name="See what is so today for follow-up questions").focus()
        page.keyboard.press("Enter")
        expect(page.get_by_role("heading", level=1)).to_have_text("Agree to this?")
        expect(page.locator(".private-context")).to_contain_text("Two cafés close.")
        if scripts:
            assert problems(page) == []
        page.locator("main form .btn--main").focus()
        page.keyboard.press("Enter")

        expect(section).to_contain_text(SMALL)
        expect(section.get_by_role("link")).to_have_count(0)
        if scripts:
            assert problems(page) == []
