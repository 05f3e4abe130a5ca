"""Respondents in a real browser: steps, focus, double clicks, two tabs, phones, motion."""

import re
from collections.abc import Iterator
from typing import Any

import pytest
from flask import Flask
from playwright.sync_api import Browser, Page, expect
from sqlalchemy import func, select

from tests.browser.respondent_steps import QUESTIONS, Link, answer_all, asked, finish, give, press
from tests.browser.tab_order import hidden_stops
from tests.browsing import look, sideways, violations, window
from tests.conftest import delete_rows
from tests.factories import make_account, make_form
from webapp.base.database import db
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


def test_back_and_change_work_from_every_page(page: Page, link: Link) -> None:
    give(page, "Me")
    asked(page, 2)
    press(page, "Back")
    asked(page, 1)
    expect(page.locator("#answer")).to_have_value("Me")
    give(page, "Mira")
    asked(page, 2)
    give(page, "It")
    asked(page, 3)
    give(page, "Habit")
    press(page, "Change question 2")
    asked(page, 2)
    give(page, "Everything")
    finish(page)

    assert link.texts() == ["Mira", "Habit", "Everything"]


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


def test_a_double_click_answers_once(page: Page, link: Link) -> None:
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
        answer_all(page)
        posted: list[str] = []
        page.on("request", lambda request: posted.append(request.url))
        for name, count in (("Change question 3", 1), ("Continue", 1), ("Send", 2)):
            button = page.get_by_role("button", name=name)
            button.hover()
            page.mouse.down(click_count=count)
            page.mouse.up(click_count=count)
        page.wait_for_timeout(300)
        assert [url for url in posted if url.endswith("/check")] == []
        expect(page.get_by_text("3 answered")).to_be_visible()


def test_enter_five_times_sends_once(page: Page, link: Link) -> None:
    answer_all(page)
    page.get_by_label("Your name").fill("Sam")
    for _ in range(5):
        page.keyboard.press("Enter")
    expect(page.get_by_role("heading", level=1)).to_contain_text("Thank you.")

    with link.app.app_context():
        completed = select(func.count(ResponseSession.completed_stamp))
        assert db.session.scalar(completed) == 1


def test_the_check_page_marks_unsent_text(page: Page) -> None:
    answer_all(page)
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


def test_the_moment_of_sending_is_told_in_the_readers_time(browser: Browser, link: Link) -> None:
    with window(browser, link.address, timezone_id="Asia/Kolkata", locale="en-GB") as page:
        page.goto(link.path)
        answer_all(page)
        finish(page)

        sent = page.locator("time[data-clock]")
        expect(sent).to_have_text(re.compile(r"^\d+ \w+, \d\d:\d\d$"))
        expect(sent).to_have_attribute("title", re.compile(r" \d{4} at \d\d:\d\d:\d\d "))
        at = sent.evaluate("time => new Date(time.dateTime).getMinutes()")
        expect(sent).to_have_text(re.compile(rf":{at:02}$"))


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


CARET = "box => [box.selectionStart, box.selectionEnd]"


@pytest.fixture
def phone(browser: Browser, link: Link) -> Iterator[Page]:
    """A touch screen, whose keyboard covers half of it."""
    with window(browser, link.address, width=390, has_touch=True, is_mobile=True) as page:
        page.goto(link.path)
        yield page


def test_text_typed_after_continue_is_kept(page: Page, link: Link) -> None:
    page.locator("#answer").click()
    page.keyboard.type("Me")
    page.keyboard.press("Control+Enter")
    asked(page, 2)
    expect(page.locator("#answer")).to_be_focused()
    page.keyboard.type("typed blindly")
    press(page, "Skip this question")
    asked(page, 3)
    page.keyboard.type("and this")
    page.keyboard.press("Control+Enter")

    expect(page.get_by_role("heading", level=1)).to_have_text("Check your answers, then send.")
    expect(page.get_by_role("heading", level=1)).to_be_focused()
    assert link.texts() == ["Me", "and this"]


def test_the_caret_is_at_the_end_of_a_stored_answer(page: Page) -> None:
    give(page, "Me\nand Mira")
    asked(page, 2)
    press(page, "Back")
    asked(page, 1)

    assert page.locator("#answer").evaluate(CARET) == [11, 11]
    page.keyboard.type(", of course")
    expect(page.locator("#answer")).to_have_value("Me\nand Mira, of course")


def test_the_caret_is_at_the_end_of_restored_text(page: Page) -> None:
    give(page, "Me")
    asked(page, 2)
    page.keyboard.type("half a sent")
    press(page, "Back")
    asked(page, 1)
    press(page, "Continue")
    asked(page, 2)
    page.keyboard.type("ence")

    expect(page.locator("#answer")).to_have_value("half a sentence")


def test_the_question_stays_in_the_viewport_with_a_long_answer(page: Page) -> None:
    give(page, "A long story.\n" * 200)
    asked(page, 2)
    press(page, "Back")
    asked(page, 1)

    expect(page.locator("#answer")).to_be_focused()
    assert page.evaluate("scrollY") == 0


def test_the_first_question_has_the_focus_as_later_ones(page: Page) -> None:
    expect(page.get_by_role("heading", level=1)).to_be_focused()
    page.keyboard.press("Tab")
    expect(page.locator("#answer")).to_be_focused()


def test_a_touch_screen_shows_the_question_and_no_keyboard(phone: Page) -> None:
    give(phone, "Me")
    asked(phone, 2)

    expect(phone.get_by_role("heading", level=1)).to_be_focused()


WITHOUT_KEYBOARD, ABOVE_KEYBOARD = {"width": 390, "height": 664}, {"width": 390, "height": 384}
LONG_QUESTION = (
    "How would you explain to a new colleague on her first morning how the rota comes about? "
)


@pytest.fixture
def long_link(served: Flask) -> Iterator[Link]:
    with served.app_context():
        form = make_form(
            make_account().id, questions=[QUESTIONS[0], QUESTIONS[1], LONG_QUESTION * 3]
        )
    yield Link(served, served.config["SETTINGS"].public_url, f"/r/{form.share_token}", form)
    delete_rows(served)


@pytest.fixture
def short_phone(browser: Browser, long_link: Link) -> Iterator[Page]:
    with window(
        browser, long_link.address, **WITHOUT_KEYBOARD, has_touch=True, is_mobile=True
    ) as page:
        page.goto(long_link.path)
        yield page


def top(page: Page, name: str) -> float:
    box = page.get_by_role("button", name=name).bounding_box()
    assert box
    return box["y"]


def test_continue_stays_above_the_keyboard_while_somebody_types(short_phone: Page) -> None:
    content = short_phone.locator("meta[name=viewport]").get_attribute("content") or ""
    assert "interactive-widget=resizes-content" in content
    give(short_phone, "Me")
    asked(short_phone, 2)
    box = short_phone.locator("#answer")
    before = short_phone.locator(".respondent__foot").bounding_box()
    box.tap()
    assert short_phone.locator(".respondent__foot").bounding_box() == before
    short_phone.set_viewport_size(ABOVE_KEYBOARD)
    box.fill("A long story.\n" * 30)
    for place in (0, 400):
        short_phone.evaluate("y => scrollTo(0, y)", place)
        expect(short_phone.get_by_role("button", name="Continue")).to_be_in_viewport(ratio=1)
        expect(short_phone.get_by_role("button", name="Back")).to_be_in_viewport(ratio=1)
    short_phone.get_by_role("button", name="Continue").tap()

    expect(short_phone.locator("h1")).to_contain_text(LONG_QUESTION.strip())


def test_an_open_menu_moves_no_other_and_is_inside_the_window(short_phone: Page) -> None:
    appearance = short_phone.locator("summary", has_text="Appearance")
    language = short_phone.locator(".languages summary").first
    for menu, other, choice in (
        (language, appearance, "العربية"),
        (appearance, language, "Dark"),
    ):
        beside = "part => part.getBoundingClientRect().left"
        row = "part => part.getBoundingClientRect().top + scrollY"
        before = other.evaluate(beside), other.evaluate(row)
        menu.tap()
        expect(short_phone.get_by_role("button", name=choice)).to_be_in_viewport(ratio=1)
        assert (other.evaluate(beside), other.evaluate(row)) == before
        menu.tap()


LISTEN = """() => {
  window.drawn = [];
  document.addEventListener("animationstart", ({ animationName, target }) => window.drawn.push({
    name: animationName,
    stroke: [...target.parentElement.children].indexOf(target) + 1,
    ms: Math.round(parseFloat(getComputedStyle(target).animationDuration) * 1000),
  }));
}"""


def opened(browser: Browser, link: Link, motion: str) -> Iterator[Page]:
    with window(browser, link.address, reduced_motion=motion) as page:
        page.goto(link.path)
        page.evaluate(LISTEN)
        yield page


@pytest.fixture
def moving(browser: Browser, link: Link) -> Iterator[Page]:
    yield from opened(browser, link, "no-preference")


@pytest.fixture
def still(browser: Browser, link: Link) -> Iterator[Page]:
    yield from opened(browser, link, "reduce")


def drawn(page: Page, count: int) -> Any:
    """What was drawn since the first page, when it is that much."""
    page.wait_for_function("count => window.drawn.length >= count", arg=count)
    return page.evaluate("window.drawn")


def test_each_answer_draws_its_stroke_and_the_end_is_signed(moving: Page) -> None:
    stroke = {"name": "ink-on", "ms": 240}
    give(moving, "Me")
    asked(moving, 2)
    expect(moving.locator("#answer")).to_be_focused()
    moving.keyboard.type("typed at once")
    assert drawn(moving, 1) == [stroke | {"stroke": 1}]
    press(moving, "Skip this question")
    asked(moving, 3)
    give(moving, "Habit")
    assert drawn(moving, 2) == [stroke | {"stroke": 1}, stroke | {"stroke": 3}]
    finish(moving)

    assert drawn(moving, 3)[-1]["name"] == "ink"


def test_nothing_moves_where_motion_is_not_wanted(still: Page) -> None:
    for number in (1, 2, 3):
        asked(still, number)
        give(still, "Me")
        assert still.evaluate("document.getAnimations().length") == 0
    finish(still)
    assert still.evaluate("document.getAnimations().length") == 0

    assert still.evaluate("window.drawn") == []
    assert (
        still.locator(".flourish path").evaluate("path => getComputedStyle(path).strokeDasharray")
        == "none"
    )
