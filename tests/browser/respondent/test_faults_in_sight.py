"""Error pages of respondents in windows of real height."""

import re
from collections.abc import Iterator

import pytest
from playwright.sync_api import Browser, Page, expect
from sqlalchemy import update

from tests.browser.respondent_steps import Link, asked, finish, give, press
from tests.browser.tab_order import SIZES, WINDOWS, hidden_stops
from tests.browser.test_refused_in_sight import LONG, answer_all
from tests.browsing import sideways, violations, window
from tests.pages.respondent_client import storage_away
from webapp.base.database import db
from webapp.base.limits import ANSWER_BODY_MAX_BYTES
from webapp.records.forms import Form

LOW = (640, 400)
REFUSED = [409, 413, 422, 503]


def opened(browser: Browser, link: Link, size: tuple[int, int], *, scripts: bool) -> Iterator[Page]:
    options = {"refused": REFUSED, "color_scheme": "dark"}
    with window(browser, link.address, width=size[0], height=size[1], **options) as page:
        if not scripts:
            # axe needs scripts, so only ours are kept away
            page.route(
                re.compile(r"/js/(respondent|htmx)\.js$"),
                lambda route: route.fulfill(body="", content_type="text/javascript"),
            )
        page.goto(link.path)
        yield page


@pytest.fixture(params=SIZES)
def page(request: pytest.FixtureRequest, browser: Browser, link: Link) -> Iterator[Page]:
    yield from opened(browser, link, request.param, scripts=True)


@pytest.fixture(params=SIZES)
def plain(request: pytest.FixtureRequest, browser: Browser, link: Link) -> Iterator[Page]:
    """The same without scripts."""
    yield from opened(browser, link, request.param, scripts=False)


def is_sound(page: Page) -> bool:
    """Whether everything can be read, and reached by Tab, without anything in front of it."""
    size = page.viewport_size
    assert size
    if size["width"] == WINDOWS[1][0]:  # axe takes longer than all the rest
        assert violations(page) == []
    assert sideways(page) == []
    assert hidden_stops(page) == []
    return True


@pytest.mark.parametrize("certain", [True, False], ids=["not saved", "nobody knows"])
def test_without_scripts_a_failed_save_shows_the_text_on_its_own_page(
    plain: Page,
    link: Link,
    monkeypatch: pytest.MonkeyPatch,
    certain: bool,  # noqa: FBT001
) -> None:
    monkeypatch.setattr(
        "webapp.pages.respondent.error_handling.may_have_stored", lambda: not certain
    )
    with storage_away(link.app):
        give(plain, LONG)

        heading = plain.get_by_role("heading", level=1)
        expect(heading).to_contain_text("Not saved" if certain else "It is not certain")
        expect(heading).to_be_in_viewport(ratio=1)
        expect(plain.get_by_role("alert")).to_be_in_viewport(ratio=1)
        expect(plain.get_by_label("Your words")).to_have_value(LONG)
        assert is_sound(plain)
    press(plain, "Try again")

    asked(plain, 2)
    assert link.texts() == [LONG]


@pytest.mark.parametrize("certain", [True, False])
def test_with_scripts_a_failed_save_keeps_the_text_in_its_textarea(
    page: Page,
    link: Link,
    monkeypatch: pytest.MonkeyPatch,
    certain: bool,  # noqa: FBT001
) -> None:
    monkeypatch.setattr(
        "webapp.pages.respondent.error_handling.may_have_stored", lambda: not certain
    )
    with storage_away(link.app):
        give(page, LONG)

        note = page.locator("[data-retry] .note")
        expect(note).to_contain_text("Not saved yet." if certain else "It is not certain")
        expect(note).to_be_in_viewport(ratio=1)
        expect(page.get_by_role("button", name="Try again")).to_be_in_viewport(ratio=1)
        expect(page.locator("#answer")).to_have_value(LONG)
        assert is_sound(page)
    press(page, "Try again")

    asked(page, 2)
    assert link.texts() == [LONG]


def send_too_much(page: Page) -> None:
    """Continue with a body beyond the limit, which no box could hold without slowing the test."""
    body = "answer=" + "x" * ANSWER_BODY_MAX_BYTES
    page.route(
        "**/q/1",
        lambda route: (
            route.continue_(post_data=body) if route.request.method == "POST" else route.continue_()
        ),
    )
    give(page, LONG)


def test_a_too_large_body_is_reported_in_the_viewport(page: Page, link: Link) -> None:
    send_too_much(page)

    message = page.get_by_text("That is too much at once.")
    expect(message).to_be_in_viewport(ratio=1)
    expect(page.get_by_text("Your words are still here: shorten them")).to_be_in_viewport(ratio=1)
    expect(page.locator("#answer")).to_have_value(LONG)
    assert link.texts() == []


def test_without_scripts_a_too_large_body_leads_back_to_the_text(plain: Page, link: Link) -> None:
    send_too_much(plain)

    heading = plain.get_by_role("heading", level=1)
    expect(heading).to_have_text("That is too much at once.")
    expect(plain.get_by_text("Press Back in your browser")).to_be_in_viewport(ratio=1)
    assert is_sound(plain)
    plain.go_back()
    expect(plain.locator("#answer")).to_have_value(LONG)
    plain.go_forward()
    expect(heading).to_have_text("That is too much at once.")
    plain.get_by_role("link", name="Open the form").click()
    asked(plain, 1)
    assert link.texts() == []


def fill_up(link: Link) -> None:
    with link.app.app_context():
        full = update(Form).values(answer_bytes=link.app.config["SETTINGS"].limit_form_bytes)
        db.session.execute(full)
        db.session.commit()


def test_in_a_low_window_the_textarea_does_not_push_the_message_out(
    browser: Browser, link: Link
) -> None:
    for page in opened(browser, link, LOW, scripts=True):
        fill_up(link)
        give(page, LONG)

        expect(page.locator("#answer-error")).to_be_in_viewport(ratio=1)
        expect(page.locator("#answer")).to_be_focused()


def test_a_full_form_is_reported_in_the_viewport(page: Page, link: Link) -> None:
    fill_up(link)
    page.locator("#answer").fill(LONG)
    press(page, "Continue")

    expect(page.locator("#answer-error")).to_be_in_viewport(ratio=1)
    expect(page.locator("#answer")).to_have_value(LONG)
    assert is_sound(page)
    assert link.texts() == []


def test_every_page_can_be_walked_by_tab(page: Page) -> None:
    """Long answers: the page is higher than each window."""
    assert hidden_stops(page) == []
    answer_all(page)
    expect(page.get_by_role("heading", level=1)).to_have_text("Check your answers, then send.")
    assert hidden_stops(page) == []
    press(page, "Change question 2")
    asked(page, 2)
    expect(page.locator("#answer")).to_have_value(re.compile("One line"))
    assert hidden_stops(page) == []
    press(page, "Back to your answers")
    finish(page)
    assert hidden_stops(page) == []
    press(page, "See what I sent")
    expect(page.get_by_role("heading", level=1)).to_have_text("This is what you sent.")
    assert hidden_stops(page) == []
    press(page, "Delete my answers")
    expect(page.get_by_role("heading", level=1)).to_have_text("Delete all your answers?")
    assert hidden_stops(page) == []
