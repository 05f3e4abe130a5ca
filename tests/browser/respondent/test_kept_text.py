"""Typed text is kept: reloads, network failures, server errors, blocked cookies."""

import re
from collections.abc import Iterator

import pytest
from flask import Flask
from playwright.sync_api import Browser, BrowserContext, Page, expect

from tests.browser.respondent.test_embedding import profile
from tests.browser.respondent_steps import Link, asked, fail, finish, give, lose_the_answer, press
from tests.browsing import watch


def test_unsent_text_survives_a_reload_and_is_cleared_by_saving(page: Page) -> None:
    page.locator("#answer").press_sequentially("half a sent")
    expect(page.locator("#draft-note")).to_have_text("Kept in this browser until you continue.")
    page.reload()
    expect(page.locator("#answer")).to_have_value("half a sent")
    expect(page.locator("#draft-note")).to_contain_text("We restored what you hadn’t sent.")

    give(page, "A whole sentence")
    asked(page, 2)
    press(page, "Back")
    asked(page, 1)

    expect(page.locator("#answer")).to_have_value("A whole sentence")
    assert page.evaluate("localStorage.length") == 0


def test_unsent_text_survives_its_tab_without_revealing_the_session_key(
    page: Page, link: Link
) -> None:
    give(page, "Me")
    asked(page, 2)
    page.locator("#answer").fill("half a sent")
    key = page.locator("form.ask input[name=session]").get_attribute("value") or "missing"
    assert page.evaluate("localStorage.length") == 1
    assert key not in page.evaluate("JSON.stringify(localStorage)")
    other = page.context.new_page()
    page.close()
    other.goto(link.path)

    asked(other, 2)
    expect(other.locator("#answer")).to_have_value("half a sent")
    assert link.texts() == ["Me"]


def choose_language(page: Page, language: str) -> None:
    """Choose a language in the footer."""
    page.locator(".languages summary").first.click()
    press(page, language)


def test_retry_waits_grow_and_end_when_the_network_returns(troubled: Page, link: Link) -> None:
    troubled.clock.install(time=0)
    troubled.clock.pause_at(60)
    troubled.context.set_offline(True)
    give(troubled, "A long story")
    for seconds in (2, 5, 15, 30, 30):
        line = troubled.get_by_text(f"Not saved yet. Trying again in {seconds} s.")
        expect(line).to_be_visible()
        troubled.clock.run_for(seconds * 1000)
    troubled.clock.resume()

    troubled.context.set_offline(False)

    asked(troubled, 2)
    assert link.texts() == ["A long story"]


def test_an_answer_that_was_stored_but_not_confirmed_is_stored_once(
    troubled: Page, link: Link
) -> None:
    fail(troubled, "**/q/1", lose_the_answer)
    give(troubled, "Me")

    note = troubled.locator("[data-retry] .note")
    expect(note).to_contain_text("It is not certain that this was saved. Trying again in")
    expect(note).to_contain_text("They are saved once, even if they were saved before.")
    asked(troubled, 2)
    assert (link.sessions(), link.texts()) == (1, ["Me"])


@pytest.fixture(scope="module")
def refusing_cookies(
    browser: Browser,
    chromium_path: str,
    tmp_path_factory: pytest.TempPathFactory,
    served: Flask,
) -> Iterator[BrowserContext]:
    """A profile whose settings block all cookies, and with them every storage of pages."""
    settings = {"default_content_setting_values": {"cookies": 2}}
    address = served.config["SETTINGS"].public_url
    folder = tmp_path_factory.mktemp("profile")
    with profile(browser, chromium_path, folder, settings, base_url=address) as context:
        yield context


@pytest.fixture
def cookieless(refusing_cookies: BrowserContext, link: Link) -> Iterator[Page]:
    """A tab of the profile, which can keep nothing of the tab before."""
    complaints = watch(refusing_cookies, [link.address])
    page = refusing_cookies.new_page()
    try:
        page.goto(link.path)
        yield page
        assert refusing_cookies.cookies() == []
        assert complaints == []
    finally:
        page.close()


def test_a_browser_without_cookies_answers_a_whole_form(cookieless: Page, link: Link) -> None:
    give(cookieless, "Me")
    asked(cookieless, 2)
    press(cookieless, "Back")
    asked(cookieless, 1)
    expect(cookieless.locator("#answer")).to_have_value("Me")
    give(cookieless, "Mira")
    asked(cookieless, 2)
    choose_language(cookieless, "Deutsch")
    expect(cookieless).to_have_title(re.compile("Frage 2 von 3"))
    cookieless.reload()
    expect(cookieless).to_have_title(re.compile("Frage 2 von 3"))
    choose_language(cookieless, "English")
    for number in (2, 3):
        asked(cookieless, number)
        give(cookieless, f"answer {number}")
    finish(cookieless, "Sam")

    assert (link.sessions(), link.texts()) == (1, ["Mira", "answer 2", "answer 3"])
