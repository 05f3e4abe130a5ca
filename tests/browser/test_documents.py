"""The documents in a browser: without scripts, by keyboard, from one to the next."""

import pytest
from playwright.sync_api import expect

from tests.browser.conftest import ExampleSite
from tests.browsing import window
from webapp.pages.public.docs import DOCUMENTS, TITLES

UNSEEN = "() => getComputedStyle(document.activeElement).outlineStyle === 'none'"
BELOW = """() => { const box = document.activeElement.getBoundingClientRect();
  return box.width > 0 ? box.top + scrollY : -1; }"""


@pytest.mark.parametrize("scripts", [True, False], ids=["scripts", "no scripts"])
def test_one_document_leads_to_the_next(site: ExampleSite, *, scripts: bool) -> None:
    with window(site.browser, site.address, java_script_enabled=scripts) as page:
        page.goto("/docs")
        for document in DOCUMENTS:
            listed = page.get_by_role("navigation", name="Documents")
            listed.get_by_role("link", name=document.title, exact=True).click()

            expect(page).to_have_title(f"{document.title} · Askback")
            expect(listed.locator("[aria-current=page]")).to_have_text(document.title)


@pytest.mark.parametrize("name", TITLES)
def test_tab_moves_down_the_document_with_visible_focus(site: ExampleSite, name: str) -> None:
    with window(site.browser, site.address, width=390, height=664) as page:
        page.goto("/docs" if name == "index" else f"/docs/{name}")
        page.locator("h1").focus()
        page.keyboard.press("Tab")
        stops = [page.evaluate(BELOW)]
        while page.evaluate("() => !!document.activeElement.closest('main')"):
            assert not page.evaluate(UNSEEN)
            page.keyboard.press("Tab")
            stops.append(page.evaluate(BELOW))

        assert len(stops) > len(TITLES)
        assert [round(stop) for stop in stops] == sorted(round(stop) for stop in stops)


def test_a_heading_anchor_scrolls_to_it(site: ExampleSite) -> None:
    with window(site.browser, site.address) as page:
        page.goto("/docs/settings#audit_days")

        expect(page.locator("h3:target")).to_have_text("AUDIT_DAYS")
        expect(page.locator("h3:target")).to_be_in_viewport()


@pytest.mark.parametrize("name", ["mcp", "skill"])
def test_a_table_of_two_columns_fits_a_phone(site: ExampleSite, name: str) -> None:
    with window(site.browser, site.address, width=390, height=664) as page:
        page.goto(f"/docs/{name}")

        table = page.locator(".doc__table").first
        assert table.locator("th").count() == 2
        assert table.evaluate("table => table.scrollWidth <= table.clientWidth")
