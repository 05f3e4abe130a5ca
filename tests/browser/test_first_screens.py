"""What people see before they scroll, in real windows; one tab that shows page after page."""

from playwright.sync_api import Browser, expect

from tests.browser.conftest import ExampleSite, OpenWindow
from tests.browsing import window
from tests.factories import make_draft
from tests.voice.factories import make_voice_form

# of the buttons in the window, those with the colour of the main one
GREEN = """() => {
  const probe = document.body.appendChild(document.createElement("a"));
  probe.className = "btn btn--main";
  const green = getComputedStyle(probe).backgroundColor;
  probe.remove();
  return [...document.querySelectorAll("button, .btn")]
    .filter((part) => part.checkVisibility() && getComputedStyle(part).backgroundColor === green)
    .filter((part) => part.getBoundingClientRect().bottom <= innerHeight)
    .map((part) => part.textContent.trim());
}"""


def test_a_voice_question_on_a_phone_shows_both_ways_and_no_main_button(
    site: ExampleSite, browser: Browser
) -> None:
    with site.app.app_context():
        form = make_voice_form(questions=["Who changed this week’s rota, and why?"])
    for width, height in ((390, 664), (664, 390)):
        with window(browser, site.address, width=width, height=height) as page:
            page.goto(f"/r/{form.share_token}")
            record = page.get_by_role("button", name="Record your answer")
            expect(record).to_be_in_viewport(ratio=1)
            expect(page.locator("#answer")).to_be_in_viewport(ratio=1)
            assert page.evaluate(GREEN) == []
            page.locator("#answer").fill("Me")
            page.locator(".actions--main .btn--main").scroll_into_view_if_needed()
            assert page.evaluate(GREEN) == ["Continue"]
            sheet = page.locator(".sheet").bounding_box()
            bar = page.locator(".actions--main").bounding_box()
            assert sheet
            assert bar
            assert sheet["y"] + sheet["height"] <= bar["y"]  # no bar lies over it


def test_a_draft_is_decided_on_its_first_screen(site: ExampleSite, open_window: OpenWindow) -> None:
    with site.app.app_context():
        draft = make_draft(site.data.account_id, questions=["What nearly stopped you?"] * 5)
    with open_window(width=1280, height=800) as page:
        page.goto(f"/drafts/{draft.id}")
        assert page.evaluate(GREEN) == ["Publish now"]
        for _ in range(12):
            page.keyboard.press("Tab")
            focused = page.evaluate("document.activeElement.textContent.trim()")
            if focused == "Skip to the decision":
                page.keyboard.press("Enter")
            if focused == "Publish now":
                break
        else:
            raise AssertionError("more than twelve presses")
