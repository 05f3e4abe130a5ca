"""The line of the confirm page is signed as the button is pressed, and the next page shows it."""

import re
from datetime import UTC, datetime

import pytest
from playwright.sync_api import Page, expect

from tests.browser.conftest import OpenWindow
from webapp.records.drafts import Draft

SHOWN = """line => {
  const { clipPath, transitionDuration } = getComputedStyle(line);
  return [!clipPath.includes("100%"), transitionDuration];
}"""


def shown(page: Page) -> list[object]:
    """Whether the written part is seen at its end, and how long writing it takes."""
    found: list[object] = page.locator(".signature__written").evaluate(SHOWN)
    return found


@pytest.mark.parametrize(
    ("motion", "takes"), [("reduce", "0s"), ("no-preference", "0.36s")], ids=["still", "drawn"]
)
def test_the_name_is_written_while_the_form_is_on_its_way(
    open_window: OpenWindow, draft: Draft, motion: str, takes: str
) -> None:
    posted = []
    with open_window(reduced_motion=motion, timezone_id="UTC") as page:
        page.goto(f"/drafts/{draft.id}/confirm")

        def keep(route: object) -> None:
            posted.append(route.request.post_data)  # type: ignore[attr-defined]
            route.fulfill(status=204)  # type: ignore[attr-defined]

        page.route("**/confirm", keep)
        assert shown(page) == [False, "0s"]
        page.locator(".signature").scroll_into_view_if_needed()
        place = page.locator(".signature").bounding_box()
        page.get_by_role("button", name="Publish now").press("Enter")

        expect(page.locator(".signature time")).to_have_text(re.compile(r"^\d+ \w+, \d\d:\d\d$"))
        page.wait_for_timeout(400 if takes != "0s" else 0)
        assert shown(page) == [True, takes]
        assert "then=publish" in posted[0]
        assert page.locator(".signature").bounding_box() == place
        expect(page.locator(".signature")).to_contain_text(f"{datetime.now(UTC).day} ")

        page.evaluate("dispatchEvent(new Event('pageshow'))")
        assert shown(page)[0] is False


def test_without_scripts_the_next_page_shows_the_signed_line(
    open_window: OpenWindow, draft: Draft
) -> None:
    with open_window(java_script_enabled=False) as page:
        page.goto(f"/drafts/{draft.id}/confirm")
        button = page.get_by_role("button", name="Publish now")
        button.hover()
        page.mouse.down()
        assert shown(page)[0] is True
        page.mouse.up()

        expect(page.locator(".signature")).to_be_in_viewport(ratio=1)
        expect(page.locator(".signature")).to_have_text(
            re.compile(r"Ann Lindqvist\s+revision 1, \d+ \w+, \d\d:\d\d UTC")
        )
