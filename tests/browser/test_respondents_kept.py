"""No typed word is lost: reloads, a network that ends, a server in trouble, refused cookies."""

import re
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import orjson
import pytest
from playwright.sync_api import Browser, Page, expect

from tests.browser.respondent import Link, asked, finish, give, press
from tests.browsing import look, sideways, violations, watch, window
from tests.pages.respondent import storage_away
from tests.programs import CHROMIUM_ARGS


@pytest.fixture
def page(browser: Browser, link: Link) -> Iterator[Page]:
    """The form, opened with scripts."""
    with window(browser, link.address) as page:
        page.goto(link.path)
        yield page


@pytest.fixture
def troubled(browser: Browser, link: Link) -> Iterator[Page]:
    """The form in a window whose requests fail on purpose, which its console may say."""
    context = browser.new_context(base_url=link.address)
    page = context.new_page()
    page.goto(link.path)
    yield page
    context.close()


def test_unsent_words_survive_a_reload_and_end_with_saving(page: Page) -> None:
    page.locator("#answer").press_sequentially("half a sent")
    expect(page.get_by_text("Kept in this tab until you continue.")).to_be_visible()
    page.reload()
    expect(page.locator("#answer")).to_have_value("half a sent")

    give(page, "A whole sentence")
    asked(page, 2)
    press(page, "Back")
    asked(page, 1)

    expect(page.locator("#answer")).to_have_value("A whole sentence")
    assert page.evaluate("sessionStorage.length") == 0


def speak(page: Page, language: str) -> None:
    """Choose a language at the foot of the page."""
    page.locator(".languages summary").click()
    press(page, language)


def test_unsent_words_survive_the_choice_of_a_language(page: Page) -> None:
    give(page, "Me")
    asked(page, 2)
    page.locator("#answer").fill("half a sent")
    speak(page, "العربية")

    expect(page).to_have_title(re.compile("السؤال 2 من 3"))
    expect(page.locator("html")).to_have_attribute("dir", "rtl")
    expect(page.locator("#answer")).to_have_value("half a sent")
    press(page, "متابعة")
    expect(page).to_have_title(re.compile("السؤال 3 من 3"))


def test_unsent_words_survive_a_look_at_another_question(page: Page) -> None:
    give(page, "Me")
    asked(page, 2)
    page.locator("#answer").fill("half a sent")
    press(page, "Back")
    asked(page, 1)
    press(page, "Continue")
    asked(page, 2)

    expect(page.locator("#answer")).to_have_value("half a sent")


def test_without_a_network_the_words_stay_and_are_sent_once_it_is_back(
    troubled: Page, link: Link
) -> None:
    troubled.context.set_offline(True)
    give(troubled, "A long story")
    expect(troubled.get_by_text(re.compile("Not saved yet. Trying again in"))).to_be_visible()
    expect(troubled.locator("#answer")).to_have_value("A long story")
    troubled.locator("#answer").fill("A longer story")

    troubled.context.set_offline(False)

    asked(troubled, 2)
    assert link.texts() == ["A longer story"]


def test_a_storage_that_fails_is_tried_again_by_itself(troubled: Page, link: Link) -> None:
    answers = iter([503])

    def fail_once(route: Any) -> None:
        status = next(answers, None)
        route.fulfill(status=status, body="") if status else route.continue_()

    troubled.route("**/q/1", fail_once)
    give(troubled, "A long story")
    expect(
        troubled.get_by_text(re.compile("Not saved yet. Trying again in 2 seconds"))
    ).to_be_visible()

    asked(troubled, 2)
    assert link.texts() == ["A long story"]


def test_an_answer_that_was_stored_but_not_confirmed_is_stored_once(
    troubled: Page, link: Link
) -> None:
    """The connection ends after the server has stored the answer and before the browser knows."""
    lost = iter([True])

    def lose_the_answer(route: Any) -> None:
        if next(lost, False):
            route.fetch()
            route.abort()
        else:
            route.continue_()

    troubled.route("**/q/1", lose_the_answer)
    give(troubled, "Me")

    asked(troubled, 2)
    assert (link.sessions(), link.texts()) == (1, ["Me"])


def _nothing(route: Any) -> None:
    """A script that does nothing, so that forms are sent by the browser itself."""
    route.fulfill(body="", content_type="text/javascript")


def test_without_scripts_a_failing_storage_hands_the_words_back(
    browser: Browser, link: Link
) -> None:
    with window(browser, link.address, refused=[503]) as page:
        page.route(re.compile(r"/js/(slip|htmx)\.js$"), _nothing)
        page.goto(link.path)
        with storage_away(link.app):
            give(page, "A long story")
            heading = page.get_by_role("heading", level=1)
            expect(heading).to_have_text("Not saved, but your text is still here.")
        expect(page.get_by_label("Your words")).to_have_value("A long story")
        look(page, width=320)
        assert violations(page) + sideways(page) == []

        press(page, "Try again")

        asked(page, 2)
    assert link.texts() == ["A long story"]


# --- a browser that refuses cookies ---


@contextmanager
def refusing_cookies(browser: Browser, chromium: str, folder: Path, link: Link) -> Iterator[Page]:
    """A profile whose settings block all cookies, and with them every storage of pages."""
    settings = {"profile": {"default_content_setting_values": {"cookies": 2}}}
    (folder / "Default").mkdir(parents=True)
    (folder / "Default" / "Preferences").write_bytes(orjson.dumps(settings))
    context = browser.browser_type.launch_persistent_context(
        folder, executable_path=chromium, args=CHROMIUM_ARGS, base_url=link.address
    )
    complaints = watch(context, link.address)
    try:
        yield context.pages[0]
        assert complaints == []
    finally:
        context.close()


@pytest.fixture
def cookieless(browser: Browser, chromium_path: str, tmp_path: Path, link: Link) -> Iterator[Page]:
    with refusing_cookies(browser, chromium_path, tmp_path, link) as page:
        page.goto(link.path)
        yield page
        assert page.context.cookies() == []


def test_a_browser_without_cookies_answers_a_whole_form(cookieless: Page, link: Link) -> None:
    give(cookieless, "Me")
    asked(cookieless, 2)
    press(cookieless, "Back")
    asked(cookieless, 1)
    expect(cookieless.locator("#answer")).to_have_value("Me")
    give(cookieless, "Mira")
    asked(cookieless, 2)
    give(cookieless, "It")
    asked(cookieless, 3)
    give(cookieless, "Habit")
    press(cookieless, "Change question 1")
    give(cookieless, "Tom")
    finish(cookieless, "Sam")

    assert (link.sessions(), link.texts()) == (1, ["It", "Habit", "Tom"])


def test_a_browser_without_cookies_goes_on_after_a_reload(cookieless: Page, link: Link) -> None:
    give(cookieless, "Me")
    asked(cookieless, 2)

    cookieless.reload()

    asked(cookieless, 2)
    give(cookieless, "It")
    asked(cookieless, 3)
    assert (link.sessions(), link.texts()) == (1, ["Me", "It"])


def test_a_browser_without_cookies_keeps_its_language_and_its_place_after_a_reload(
    cookieless: Page, link: Link
) -> None:
    give(cookieless, "Me")
    asked(cookieless, 2)
    speak(cookieless, "Deutsch")
    expect(cookieless).to_have_title(re.compile("Frage 2 von 3"))

    cookieless.reload()

    expect(cookieless).to_have_title(re.compile("Frage 2 von 3"))
    cookieless.locator("#answer").fill("Es")
    press(cookieless, "Weiter")
    expect(cookieless).to_have_title(re.compile("Frage 3 von 3"))
    assert (link.sessions(), link.texts()) == (1, ["Me", "Es"])


def test_a_browser_without_cookies_can_delete_its_answers(cookieless: Page, link: Link) -> None:
    for number in (1, 2, 3):
        asked(cookieless, number)
        give(cookieless, f"answer {number}")
    finish(cookieless)
    press(cookieless, "Delete my answers")
    expect(cookieless.get_by_role("heading", level=1)).to_have_text("Delete all your answers?")
    press(cookieless, "Yes, delete my answers")
    expect(cookieless.get_by_role("heading", level=1)).to_have_text("Your answers are deleted.")

    assert link.sessions() == 0
