"""Walks by Tab through a window of real height, and finds focused controls that are hidden.

WCAG 2.2, 2.4.11: whatever has the focus is not hidden behind what sticks to an edge.
"""

from contextlib import AbstractContextManager

from playwright.sync_api import Page

from tests.browser.conftest import ExampleSite
from tests.browser.example_steps import ALL, ExamplePage

WINDOWS = ((1280, 800), (390, 664), (640, 400))  # a laptop, a phone with its bars, zoomed to 200 %
MOST_STOPS = 400
REFUSING = [example for example in ALL if example.refused in {401, 409, 422, 429}]
# the last one is the heading of the page that a decision comes to when the draft has changed
MESSAGES = ".field__error, .note--alarm, [role=alert], .reading-column h1, #settings-context"

# Nine by five points of the part of the focused control that lies in the window: each is covered
# when something that sticks or is fixed, and does not hold the control, is drawn above it.
# On a busy machine the window may follow the focus a frame later.
STOP = """async () => {
  const control = document.activeElement;
  if (window.walked.has(control)) return null;
  window.walked.add(control);
  if (!control || control === document.body || control === document.documentElement) return "";
  const label = control.labels?.[0];
  const shown = control.matches("[type=radio], [type=checkbox]") && label ? label : control;
  const height = () => {
    const { top, bottom } = shown.getBoundingClientRect();
    return Math.min(bottom, innerHeight) - Math.max(top, 0);
  };
  const least = Math.min(shown.getBoundingClientRect().height, 24) / 2;
  const given = performance.now() + 2000;
  while (height() < least && performance.now() < given) await new Promise(requestAnimationFrame);
  const box = shown.getBoundingClientRect();
  const top = Math.max(box.top, 0), bottom = Math.min(box.bottom, innerHeight);
  const words = (control.innerText || control.name || "").trim().slice(0, 40);
  const name = `${control.tagName} ${words}`;
  if (height() < least) return `${name}: outside the window`;
  const sticks = (part) => part && part !== document.documentElement && !part.contains(control) &&
    (/sticky|fixed/.test(getComputedStyle(part).position) || sticks(part.parentElement));
  let covered = 0;
  for (let across = 1; across <= 9; across++) for (let down = 1; down <= 5; down++) {
    const x = box.left + box.width * across / 10, y = top + (bottom - top) * down / 6;
    const drawn = document.elementFromPoint(x, y);
    if (drawn && !control.contains(drawn) && sticks(drawn)) covered++;
  }
  return covered * 2 >= 45 ? `${name}: ${Math.round(covered / 0.45)} % covered` : name;
}"""
# A page that has just loaded scrolls to its autofocus a frame later, or more on a busy machine.
MESSAGE_SEEN = """async (messages) => {
  const isSeen = ({ top, bottom }) => top >= 0 && bottom <= innerHeight;
  const someAreSeen = () => [...document.querySelectorAll(messages)]
    .some((part) => part.checkVisibility() && isSeen(part.getBoundingClientRect()));
  const given = performance.now() + 2000;
  while (!someAreSeen() && performance.now() < given) await new Promise(requestAnimationFrame);
  return someAreSeen();
}"""


# Pages whose main button follows what is read before it is pressed, or that show something else:
# a list, an editor, an open menu at their end.
READ_FIRST = (
    *("check", "check-de", "check-follow-ups", "question-newer", "consent", "connections"),
    *("question-dark-chosen", "question-ar"),
    *("form-voice", "try", "try-follow-up"),  # nothing lies over a question that records
    *("join", "token-new"),  # nothing lies over the last field
)
FILLED_IN = [
    each
    for each in ALL
    if not each.refused
    and each.name not in READ_FIRST
    and not each.name.startswith(("review", "confirm"))
]
MAIN_BUTTONS = """() => [...document.querySelectorAll(".btn--main")]
  .filter((button) => button.checkVisibility()).map((button) => button.getBoundingClientRect())
  .map(({ top, bottom }) => top >= 0 && bottom <= innerHeight)"""


def size_of(example: ExamplePage) -> tuple[int, int]:
    """Neighbouring pages have different windows, so that each is seen with many."""
    return WINDOWS[ALL.index(example) % len(WINDOWS)]


def open_in(
    site: ExampleSite, example: ExamplePage, size: tuple[int, int]
) -> AbstractContextManager[Page]:
    """The example page in a window of this width and height."""
    return site.open(example, width=size[0], height=size[1])


def hidden_stops(page: Page) -> list[str]:
    """Tab through the page as it stands, from where the focus is: the controls out of sight."""
    page.evaluate("window.walked = new Set()")
    hidden = []
    for _ in range(MOST_STOPS):
        page.keyboard.press("Tab")
        stop: str | None = page.evaluate(STOP)
        if stop is None:
            return hidden
        if stop.endswith(("covered", "outside the window")):
            hidden.append(stop)
    raise AssertionError(f"{MOST_STOPS} times Tab did not come round")


def message_is_seen(page: Page) -> bool:
    """Whether one of the refusal's messages is wholly inside the window."""
    page.wait_for_load_state()
    seen: bool = page.evaluate(MESSAGE_SEEN, MESSAGES)
    return seen


def main_button_is_seen(page: Page) -> bool:
    """Whether a main button is wholly inside the window, of a page that has one."""
    seen: list[bool] = page.evaluate(MAIN_BUTTONS)
    return any(seen) or not seen
