"""Respondents in a real browser, with and without scripts, double clicks, and two tabs."""

import re
from collections.abc import Iterator

import pytest
from playwright.sync_api import Browser, Page, expect
from sqlalchemy import func, select

from tests.browser.respondent_steps import Link, asked, finish, give, press
from tests.browsing import look, sideways, violations, window
from webapp.base.database import db, utc_now
from webapp.records.forms import close_form
from webapp.records.responses.models import ResponseSession


@pytest.fixture(params=["scripts", "no scripts"])
def any_page(request: pytest.FixtureRequest, browser: Browser, link: Link) -> Iterator[Page]:
    scripts = request.param == "scripts"
    with window(browser, link.address, refused=[422], java_script_enabled=scripts) as page:
        page.goto(link.path)
        yield page


@pytest.fixture
def page(browser: Browser, link: Link) -> Iterator[Page]:
    """The form, opened with scripts."""
    with window(browser, link.address, refused=[410, 422, 503]) as page:
        page.goto(link.path)
        yield page


def test_a_form_is_answered_from_the_link_to_the_thank_you(any_page: Page, link: Link) -> None:
    asked(any_page, 1)
    give(any_page, "Me")
    asked(any_page, 2)
    press(any_page, "Skip this question")
    asked(any_page, 3)
    give(any_page, "Habit")
    expect(any_page.get_by_text("2 answered, 1 skipped")).to_be_visible()
    finish(any_page, "Sam")

    assert link.texts() == ["Me", "Habit"]


def test_back_and_change_work_from_every_page(any_page: Page, link: Link) -> None:
    give(any_page, "Me")
    asked(any_page, 2)
    press(any_page, "Back")
    asked(any_page, 1)
    expect(any_page.locator("#answer")).to_have_value("Me")
    give(any_page, "Mira")
    asked(any_page, 2)
    give(any_page, "It")
    asked(any_page, 3)
    give(any_page, "Habit")
    press(any_page, "Change question 2")
    asked(any_page, 2)
    give(any_page, "Everything")
    finish(any_page)

    assert link.texts() == ["Mira", "Habit", "Everything"]


def test_an_empty_page_is_asked_for_again(any_page: Page, link: Link) -> None:
    press(any_page, "Continue")

    expect(any_page).to_have_title(re.compile("^Error: Question 1 of 3"))
    expect(any_page.get_by_role("alert").filter(has_text="There is no answer yet.")).to_be_visible()
    expect(any_page.locator("#answer")).to_be_focused()
    assert link.sessions() == 0


def test_what_was_sent_can_be_read_and_deleted(any_page: Page, link: Link) -> None:
    for number in (1, 2, 3):
        asked(any_page, number)
        give(any_page, f"answer {number}")
    finish(any_page)

    press(any_page, "See what I sent")
    expect(any_page.get_by_text("answer 2")).to_be_visible()
    press(any_page, "Delete my answers")
    expect(any_page.get_by_role("heading", level=1)).to_have_text("Delete all your answers?")
    press(any_page, "Yes, delete my answers")
    expect(any_page.get_by_role("heading", level=1)).to_have_text("Your answers are deleted.")

    assert link.sessions() == 0


def test_a_reload_shows_the_same_question(any_page: Page, link: Link) -> None:
    give(any_page, "Me")
    asked(any_page, 2)
    give(any_page, "It")
    asked(any_page, 3)

    any_page.reload()

    asked(any_page, 3)
    assert link.texts() == ["Me", "It"]


def test_the_focus_the_title_and_the_address_follow_the_question(page: Page, link: Link) -> None:
    give(page, "Me")
    asked(page, 2)

    expect(page.locator("#answer")).to_be_focused()
    expect(page).to_have_url(f"{link.address}{link.path}/q/2")
    assert page.evaluate("window.scrollY") == 0


@pytest.mark.parametrize("scripts_come", [True, False])
def test_after_a_retry_on_a_dead_network_the_address_is_that_of_the_question(
    troubled: Page, link: Link, *, scripts_come: bool
) -> None:
    if not scripts_come:  # the network was dead for them, too: the browser posts by itself
        troubled.route("**/*.js", lambda route: route.abort())
        troubled.reload()
    troubled.context.set_offline(True)
    with troubled.expect_event("requestfailed"):
        give(troubled, "Me")

    troubled.context.set_offline(False)
    if not scripts_come:
        troubled.unroute("**/*.js")
        troubled.reload()

    asked(troubled, 2)
    troubled.wait_for_url(f"**{link.path}/q/2")
    troubled.reload()
    asked(troubled, 2)
    assert link.texts() == ["Me"]


def test_in_another_language_the_address_is_that_of_the_question(page: Page, link: Link) -> None:
    give(page, "Me")
    asked(page, 2)
    page.locator("#answer").fill("Half a word")

    page.locator(".languages summary").first.click()
    press(page, "Deutsch")

    page.wait_for_url(f"**{link.path}/q/2")
    expect(page.locator("#answer")).to_have_value("Half a word")


def test_the_browsers_back_shows_the_question_before_with_its_text(page: Page, link: Link) -> None:
    give(page, "Me")
    asked(page, 2)
    give(page, "It")
    asked(page, 3)

    page.go_back()
    asked(page, 2)
    expect(page.locator("#answer")).to_have_value("It")
    page.go_back()
    asked(page, 1)
    expect(page.locator("#answer")).to_have_value("Me")
    give(page, "Mira")
    asked(page, 3)

    assert link.texts() == ["It", "Mira"]


@pytest.mark.parametrize("scripts", [True, False], ids=["scripts", "no scripts"])
def test_a_double_click_answers_once(browser: Browser, link: Link, scripts: bool) -> None:  # noqa: FBT001
    with window(browser, link.address, java_script_enabled=scripts) as page:
        page.goto(link.path)
        page.locator("#answer").fill("Me")
        page.get_by_role("button", name="Continue").dblclick()
        asked(page, 2)
        page.wait_for_load_state("networkidle")
        asked(page, 2)

    assert (link.sessions(), link.texts()) == (1, ["Me"])


def test_the_second_click_does_nothing_on_the_page_that_the_first_one_brought(
    browser: Browser, link: Link
) -> None:
    """Else a fast server would refuse an empty answer, or send before the person has looked."""
    with window(browser, link.address) as page:
        page.goto(link.path)
        for number in (1, 2, 3):
            asked(page, number)
            give(page, f"answer {number}")
        for name, count in (("Change question 3", 1), ("Continue", 1), ("Send", 2)):
            button = page.get_by_role("button", name=name)
            button.hover()
            page.mouse.down(click_count=count)
            page.mouse.up(click_count=count)
        page.wait_for_load_state("networkidle")
        expect(page.get_by_text("3 answered")).to_be_visible()


@pytest.mark.parametrize("scripts", [True, False], ids=["scripts", "no scripts"])
def test_enter_five_times_sends_once(browser: Browser, link: Link, scripts: bool) -> None:  # noqa: FBT001
    with window(browser, link.address, java_script_enabled=scripts) as page:
        page.goto(link.path)
        for number in (1, 2, 3):
            asked(page, number)
            give(page, f"answer {number}")
        name = page.get_by_label("Your name")
        name.fill("Sam")
        for _ in range(5):
            page.keyboard.press("Enter")
        expect(page.get_by_role("heading", level=1)).to_contain_text("Thank you.")

    with link.app.app_context():
        completed = select(func.count(ResponseSession.completed_stamp))
        assert db.session.scalar(completed) == 1


def test_control_and_enter_continue(page: Page) -> None:
    page.locator("#answer").fill("Me")
    page.keyboard.press("Control+Enter")

    asked(page, 2)


def test_a_closed_form_shows_the_unsent_text(page: Page, link: Link) -> None:
    give(page, "Me")
    asked(page, 2)
    with link.app.app_context():
        close_form(link.form.account_id, link.form.id, now=utc_now())

    give(page, "Too late")

    expect(page.get_by_role("heading", level=1)).to_have_text("This form is closed.")
    expect(page.get_by_label("Your unsent text")).to_have_value("Too late")
    look(page, width=320)
    assert violations(page) + sideways(page) == []


def test_unsent_text_survives_a_skip(page: Page) -> None:
    page.locator("#answer").fill("A long story")
    press(page, "Skip this question")
    asked(page, 2)
    press(page, "Back")
    asked(page, 1)

    expect(page.locator("#answer")).to_have_value("A long story")
    expect(page.locator("#draft-note")).to_contain_text("We restored what you hadn’t sent.")


def test_the_check_page_marks_unsent_text(page: Page) -> None:
    for number in (1, 2, 3):
        asked(page, number)
        give(page, f"answer {number}")
    press(page, "Change question 2")
    asked(page, 2)
    page.locator("#answer").fill("answer 2, and more")
    press(page, "Back to your answers")

    left_out = page.get_by_text("What you wrote here last is not included.")
    expect(left_out.and_(page.locator(":visible"))).to_have_count(1)
    press(page, "Change question 2")
    give(page, "answer 2, and all of it")
    expect(page.get_by_text("answer 2, and all of it")).to_be_visible()
    expect(left_out.and_(page.locator(":visible"))).to_have_count(0)


def test_two_tabs_are_one_person(page: Page, link: Link) -> None:
    other = page.context.new_page()
    other.goto(link.path)
    give(page, "first tab")
    asked(page, 2)
    give(other, "second tab")
    expect(other.locator(".newer-answer")).to_have_text("first tab")
    expect(other.locator("#answer")).to_have_value("second tab")
    press(other, "Keep the newer answer")
    give(page, "first tab again")
    asked(page, 3)

    assert link.sessions() == 1
    assert link.texts() == ["first tab", "first tab again"]


def test_another_response_is_another_session(page: Page, link: Link) -> None:
    for number in (1, 2, 3):
        asked(page, number)
        give(page, f"answer {number}")
    finish(page)

    press(page, "Submit another response")

    asked(page, 1)
    expect(page.locator("#answer")).to_have_value("")
    give(page, "Somebody else")
    asked(page, 2)
    assert link.sessions() == 2


def test_the_moment_of_sending_is_told_in_the_readers_time(browser: Browser, link: Link) -> None:
    with window(browser, link.address, timezone_id="Asia/Kolkata", locale="en-GB") as page:
        page.goto(link.path)
        for number in (1, 2, 3):
            asked(page, number)
            give(page, f"answer {number}")
        finish(page)

        sent = page.locator("time[data-clock]")
        expect(sent).to_have_text(re.compile(r"^\d+ \w+, \d\d:\d\d$"))
        expect(sent).to_have_attribute("title", re.compile(r" \d{4} at \d\d:\d\d:\d\d "))
        at = sent.evaluate("time => new Date(time.dateTime).getMinutes()")
        expect(sent).to_have_text(re.compile(rf":{at:02}$"))
