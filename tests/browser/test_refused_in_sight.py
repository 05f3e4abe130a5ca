"""Errors are shown in the viewport, beside the pressed button, in windows of real height."""

import re
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import Any, NamedTuple

import pytest
from playwright.sync_api import Browser, Locator, Page, expect

from tests.browser.respondent_steps import Link, asked, give, press
from tests.browser.tab_order import SIZES, WINDOWS, hidden_stops
from tests.browsing import watch, window
from tests.factories import make_form, make_response
from webapp.base.database import utc_now
from webapp.records.forms import close_form


class Ending(NamedTuple):
    """A form, what its page says once it has ended, and what ends it."""

    path: str
    heading: str
    end: Callable[[], None]


LONG = "One line of a very long story.\n" * 60


@contextmanager
def sized(browser: Browser, link: Link, size: tuple[int, int]) -> Iterator[Page]:
    """The form in a window whose network fails on purpose; console errors are allowed."""
    context = browser.new_context(
        base_url=link.address,
        viewport={"width": size[0], "height": size[1]},
        reduced_motion="reduce",
    )
    page = context.new_page()
    page.goto(link.path)
    yield page
    context.close()


@pytest.fixture(params=SIZES)
def page(request: pytest.FixtureRequest, browser: Browser, link: Link) -> Iterator[Page]:
    with sized(browser, link, request.param) as page:
        yield page


@pytest.fixture
def usual(browser: Browser, link: Link) -> Iterator[Page]:
    with sized(browser, link, WINDOWS[0]) as page:
        yield page


def main_button(page: Page) -> Locator:
    return page.locator(".btn--main")


def answer_all(page: Page, text: str = LONG) -> None:
    for number in (1, 2, 3):
        asked(page, number)
        give(page, text)
    page.get_by_label("Your name").wait_for()


def failing(page: Page, path: str, status: int, **headers: str) -> None:
    page.route(
        path,
        lambda route: (
            route.fulfill(status=status, headers=headers, body="")
            if route.request.method == "POST"
            else route.continue_()
        ),
    )


def test_continue_without_a_network_is_reported_beside_the_button(page: Page, link: Link) -> None:
    page.locator("#answer").fill(LONG)
    page.context.set_offline(True)
    main_button(page).click()

    note = page.locator("[data-retry] .note")
    expect(note).to_contain_text("Not saved yet. Trying again in")
    expect(note.get_by_text("You seem to be offline.")).to_be_visible()
    expect(note).to_contain_text("you can keep writing")
    expect(main_button(page)).to_have_text("Try again")
    expect(note).to_be_in_viewport(ratio=1)
    expect(main_button(page)).to_be_in_viewport(ratio=1)
    assert above(note, page.locator(".actions--main"))

    page.context.set_offline(False)
    asked(page, 2)
    expect(main_button(page)).to_have_text(re.compile("Continue"))
    assert link.texts() == [LONG]


def above(upper: Locator, lower: Locator) -> bool:
    """Whether one stands directly above the other."""
    boxes = upper.bounding_box(), lower.bounding_box()
    assert boxes[0]
    assert boxes[1]
    return 0 <= boxes[1]["y"] - boxes[0]["y"] - boxes[0]["height"] < 40


def test_a_failed_send_is_reported_beside_the_button(page: Page) -> None:
    answer_all(page)
    status = {1280: 429, 390: 500, 640: 503}[page.viewport_size["width"]]  # type: ignore[index]
    failing(page, "**/check", status, **{"Retry-After": "30"})
    main_button(page).click()

    note = page.locator("[data-retry] .note")
    expected = "Not sent yet. Trying again in"
    safe = "Your answers are saved; only sending them is left."
    if status == 500:
        expected = "It is not certain that this was sent. Trying again in"
        safe = "Your answers are saved. They are sent once, even if they were sent before."
    expect(note).to_contain_text(expected)
    expect(note).to_contain_text(safe)
    expect(note.get_by_text("You seem to be offline.")).to_be_hidden()
    expect(note).not_to_contain_text("keep writing")
    expect(main_button(page)).to_have_text("Try again")
    expect(note).to_be_in_viewport(ratio=1)
    expect(main_button(page)).to_be_in_viewport(ratio=1)
    assert hidden_stops(page) == []
    page.unroute("**/check")
    main_button(page).click()
    expect(page.get_by_role("heading", level=1)).to_contain_text("Thank you.")


def test_the_countdown_is_announced_once(usual: Page) -> None:
    usual.clock.install(time=0)
    usual.clock.pause_at(60)
    failing(usual, "**/q/1", 429, **{"Retry-After": "9"})
    give(usual, "A long story")
    slot = usual.locator("[data-retry]")
    expect(slot).to_contain_text("Trying again in 9 s.")
    assert slot.get_attribute("aria-live") is None
    usual.clock.run_for(3000)

    expect(slot).to_contain_text("Trying again in 6 s.")
    expect(slot).to_have_attribute("aria-live", "off")


def test_a_final_refusal_is_reported_beside_the_button(page: Page) -> None:
    page.locator("#answer").fill(LONG)
    failing_for_good(page)
    main_button(page).click()

    message = page.get_by_text("No, never.")
    expect(message).to_be_in_viewport(ratio=1)
    expect(page.locator("#answer")).to_have_value(LONG)


def failing_for_good(page: Page) -> None:
    def refuse(route: Any) -> None:
        body = '<div class="note" role="alert"><p>No, never.</p></div>'
        route.fulfill(status=403, body=body, content_type="text/html")

    page.route("**/q/1", refuse)


def test_a_failed_secondary_button_does_not_rename_the_main_one(usual: Page) -> None:
    """Pressed, it would do something else."""
    failing(usual, "**/q/1/skip", 503)
    press(usual, "Skip this question")

    expect(usual.locator("[data-retry] .note")).to_be_visible()
    expect(main_button(usual)).to_have_text(re.compile("Continue"))


@pytest.mark.parametrize("words", ["", f"{'x' * 100}\n" * 200], ids=["none", "too many"])
def test_the_reason_of_a_refused_answer_is_in_the_viewport(page: Page, words: str) -> None:
    page.locator("#answer").fill(words)
    main_button(page).click()
    page.locator("#answer-error").wait_for()

    expect(page.locator("#answer-error")).to_be_in_viewport(ratio=1)
    expect(page.locator("#answer")).to_be_focused()


def test_the_reason_of_a_refused_name_is_in_the_viewport(page: Page) -> None:
    answer_all(page)
    page.get_by_label("Your name").fill("x" * 400)
    main_button(page).click()
    page.locator("#name-error").wait_for()

    expect(page.locator("#name-error")).to_be_in_viewport(ratio=1)
    expect(page.get_by_label("Your name")).to_be_in_viewport(ratio=1)
    expect(page.get_by_label("Your name")).to_be_focused()


def test_the_reason_of_a_refused_empty_send_is_in_the_viewport(page: Page) -> None:
    for number in (1, 2, 3):
        asked(page, number)
        press(page, "Skip this question")
    page.get_by_label("Your name").wait_for()
    main_button(page).click()

    expect(page.get_by_text("Nothing is answered yet.")).to_be_in_viewport(ratio=1)
    expect(page.get_by_role("heading", level=1)).to_be_focused()


ENDED = {"closed": "This form is closed.", "answered": "This form has already been answered."}


@pytest.fixture(params=ENDED)
def ending(request: pytest.FixtureRequest, link: Link) -> Ending:
    """A form that takes one response, and what ends it."""
    with link.app.app_context():
        form = make_form(link.form.account_id, questions=["Who?"], responseLimit="one")

    def end() -> None:
        with link.app.app_context():
            if request.param == "answered":
                make_response(form)
            else:
                close_form(form.account_id, form.id, now=utc_now())

    return Ending(f"/r/{form.share_token}", ENDED[request.param], end)


@contextmanager
def ended(
    browser: Browser, link: Link, ending: Ending, size: tuple[int, int], words: str
) -> Iterator[Page]:
    """The page of a form that ended while these words were on it."""
    width, height = size
    with window(browser, link.address, refused=[410], width=width, height=height) as page:
        page.goto(ending.path)
        page.locator("#answer").fill(words)
        ending.end()
        page.reload()
        expect(page.get_by_role("heading", level=1)).to_have_text(ending.heading)
        yield page


@pytest.mark.parametrize("size", SIZES)
def test_an_ended_form_shows_no_textarea_without_unsent_text(
    browser: Browser, link: Link, ending: Ending, size: tuple[int, int]
) -> None:
    with ended(browser, link, ending, size, "") as page:
        expect(page.get_by_label("Your unsent text")).to_be_hidden()
        expect(page.get_by_text("What you had written here was not sent.")).to_be_hidden()
        assert page.locator("[hidden]:visible").count() == 0
        assert hidden_stops(page) == []


@pytest.mark.parametrize("size", SIZES)
def test_an_ended_form_shows_the_unsent_text_of_its_writer(
    browser: Browser, link: Link, ending: Ending, size: tuple[int, int]
) -> None:
    with ended(browser, link, ending, size, "Half a sentence") as page:
        expect(page.get_by_label("Your unsent text")).to_be_visible()
        expect(page.get_by_label("Your unsent text")).to_have_value("Half a sentence")
        expect(page.get_by_text("What you had written here was not sent.")).to_be_visible()
        assert hidden_stops(page) == []


def test_hidden_elements_are_not_visible(browser: Browser, link: Link) -> None:
    with window(browser, link.address) as page:
        complaints = watch(page.context, [link.address])
        page.goto(link.path)
        assert page.locator("[hidden]:visible").count() == 0
        answer_all(page, "Me")
        assert page.locator("[hidden]:visible").count() == 0
        assert complaints == []
