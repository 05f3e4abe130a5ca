"""What a creator is told of spoken answers, and how they agree to it."""

from collections.abc import Iterator

import pytest
from playwright.sync_api import Page, expect

from tests.browser.conftest import ExampleSite, OpenWindow
from tests.browsing import look, sideways, squeezed, violations
from webapp.drafts.terms import FormTerms, VoiceTerms
from webapp.pages.creator.terms import page_terms
from webapp.records.drafts import Draft

HOST = "speech.example.org"
LOOKS = ((320, "light"), (390, "dark"), (1280, "light"))


class Server:
    """What the server does with spoken answers, as its operator set it up."""

    terms = VoiceTerms(records_voice=True)

    def write_down(self, host: str) -> None:
        self.terms = VoiceTerms(records_voice=True, transcriber=host)


@pytest.fixture
def server(monkeypatch: pytest.MonkeyPatch) -> Iterator[Server]:
    made = Server()
    monkeypatch.setattr(page_terms, "offered", lambda: FormTerms(made.terms))
    return made


def problems(page: Page) -> list[str]:
    found = []
    for width, scheme in LOOKS:
        look(page, width=width, scheme=scheme)
        found += violations(page) + sideways(page) + squeezed(page)
    return found


def test_a_changed_transcriber_is_read_before_the_form_goes_out(
    open_window: OpenWindow, draft: Draft, server: Server
) -> None:
    with open_window(refused=[409]) as page:
        page.goto(f"/drafts/{draft.id}/confirm")
        expect(page.get_by_text("Nobody writes recordings down.")).to_be_visible()
        assert problems(page) == []
        server.write_down(HOST)
        page.get_by_role("button", name="Publish now").click()

        expect(page.get_by_role("alert")).to_contain_text(HOST)
        assert problems(page) == []
        page.get_by_role("button", name="Publish revision 1").click()
        expect(page.get_by_role("heading", level=1)).to_have_text(
            "It’s live. Share it with someone."
        )


@pytest.mark.parametrize("scripts", [True, False])
def test_a_typed_form_is_switched_on_by_keyboard(
    site: ExampleSite, open_window: OpenWindow, server: Server, *, scripts: bool
) -> None:
    server.write_down(HOST if scripts else "other.example.org")
    with open_window(java_script_enabled=scripts) as page:
        page.goto(f"{site.data.empty}/settings")
        if scripts:
            assert problems(page) == []
        page.locator("#voice-label ~ * a.btn").focus()
        page.keyboard.press("Enter")
        expect(page.get_by_role("heading", level=1)).to_have_text(
            "Let people speak?" if scripts else "Agree to this?"
        )
        if scripts:
            assert problems(page) == []
        page.locator("main form .btn--main").focus()
        page.keyboard.press("Enter")

        section = page.locator("section", has=page.locator("#voice-label"))
        expect(section).to_contain_text(server.terms.transcriber)
        expect(section.get_by_role("link")).to_have_count(0)
        page.get_by_label("Language that people speak").select_option("German")
        section.get_by_role("button", name="Save").click()
        expect(page.get_by_label("Language that people speak")).to_have_value("de")
        if scripts:
            assert problems(page) == []
