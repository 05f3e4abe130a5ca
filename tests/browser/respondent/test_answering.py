"""Respondents in a real browser: steps, focus, double clicks, two tabs, phones, motion."""

from typing import Any

import pytest
from playwright.sync_api import Page, expect

from tests.browser.respondent_steps import (
    PHONE,
    QUESTIONS,
    WITH_AND_WITHOUT_SCRIPTS,
    Link,
    answer_all,
    asked,
    finish,
    give,
    page_with,
    press,
)

ABOVE_KEYBOARD = {"width": 390, "height": 384}
LONG_QUESTION = (
    "How would you explain to a new colleague on her first morning how the rota comes about? "
) * 3


@WITH_AND_WITHOUT_SCRIPTS
def test_a_form_is_answered_from_the_link_to_the_thank_you(page: Page, link: Link) -> None:
    asked(page, 1)
    give(page, "Me")
    asked(page, 2)
    press(page, "Skip this question")
    asked(page, 3)
    give(page, "Habit")
    expect(page.get_by_text("2 answered, 1 skipped")).to_be_visible()
    finish(page, "Sam")

    assert link.texts() == ["Me", "Habit"]


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


def test_the_second_click_does_nothing_on_the_page_that_the_first_one_brought(page: Page) -> None:
    """Else a fast server would refuse an empty answer, or send before the person has looked."""
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


@page_with(PHONE)
@pytest.mark.parametrize("link", [[*QUESTIONS[:2], LONG_QUESTION]], indirect=True)
def test_continue_stays_above_the_keyboard_while_somebody_types(page: Page) -> None:
    expect(page.get_by_role("heading", level=1)).to_be_focused()  # which opens no keyboard
    give(page, "Me")
    asked(page, 2)
    expect(page.get_by_role("heading", level=1)).to_be_focused()
    box = page.locator("#answer")
    before = page.locator(".respondent__foot").bounding_box()
    box.tap()
    assert page.locator(".respondent__foot").bounding_box() == before
    page.set_viewport_size(ABOVE_KEYBOARD)
    box.fill("A long story.\n" * 30)
    for place in (0, 400):
        page.evaluate("y => scrollTo(0, y)", place)
        expect(page.get_by_role("button", name="Continue")).to_be_in_viewport(ratio=1)
        expect(page.get_by_role("button", name="Back")).to_be_in_viewport(ratio=1)
    page.get_by_role("button", name="Continue").tap()

    expect(page.locator("h1")).to_contain_text(LONG_QUESTION.strip())


LISTEN = """() => {
  window.drawn = [];
  document.addEventListener("animationstart", ({ animationName, target }) => window.drawn.push({
    name: animationName,
    stroke: [...target.parentElement.children].indexOf(target) + 1,
    ms: Math.round(parseFloat(getComputedStyle(target).animationDuration) * 1000),
  }));
}"""


def drawn(page: Page, count: int) -> Any:
    """What was drawn since the first page, when it is that much."""
    page.wait_for_function("count => window.drawn.length >= count", arg=count)
    return page.evaluate("window.drawn")


@page_with({"reduced_motion": "reduce"})
def test_nothing_moves_where_motion_is_not_wanted(page: Page) -> None:
    page.evaluate(LISTEN)
    for number in (1, 2, 3):
        asked(page, number)
        give(page, "Me")
        assert page.evaluate("document.getAnimations().length") == 0
    finish(page)
    assert page.evaluate("document.getAnimations().length") == 0

    assert page.evaluate("window.drawn") == []
    assert (
        page.locator(".flourish path").evaluate("path => getComputedStyle(path).strokeDasharray")
        == "none"
    )
