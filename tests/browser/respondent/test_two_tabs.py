"""An answer in two tabs of one browser, with scripts."""

from playwright.sync_api import Browser, expect

from tests.browser.respondent_steps import Link, asked, give, press
from tests.browser.tab_order import hidden_stops
from tests.browsing import look, sideways, violations, window


def test_an_older_tab_shows_both_texts_and_its_writer_chooses(browser: Browser, link: Link) -> None:
    with window(browser, link.address, refused=[422]) as newer:
        newer.goto(link.path)
        give(newer, "Me")
        asked(newer, 2)
        older = newer.context.new_page()
        older.goto(f"{link.path}/q/2")
        give(newer, "The newer words")
        asked(newer, 3)

        give(older, "The older words")
        expect(older.get_by_role("alert").filter(has_text="in another tab")).to_be_in_viewport()
        expect(older.locator(".newer-answer")).to_have_text("The newer words")
        expect(older.locator("#answer")).to_have_value("The older words")
        expect(older.get_by_role("heading", level=1)).to_be_focused()
        assert link.texts() == ["Me", "The newer words"]
        assert hidden_stops(older) == []
        look(older, width=320)
        assert violations(older) + sideways(older) == []

        press(older, "Keep the newer answer")
        expect(older.locator("#answer")).to_have_value("The newer words")
        assert older.evaluate("localStorage.length") == 0
        press(older, "Back")
        asked(older, 1)
        give(older, "Mira")
        asked(older, 3)
    assert link.texts() == ["The newer words", "Mira"]
