"""A window of a real browser on our pages, and checks of the page in it."""

from collections.abc import Callable, Collection, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import pytest
from axe_playwright_python.sync_playwright import Axe
from playwright.sync_api import (
    Browser,
    BrowserContext,
    ConsoleMessage,
    Page,
    Request,
    Response,
    WebError,
)

PICTURES = Path(__file__).parent.parent / "pictures"  # not in the repository
HEIGHT = 900
AXE_OPTIONS = {
    "resultTypes": ["violations"],
    "preload": False,  # no rule that we ask for reads style sheets
    "runOnly": ["wcag2a", "wcag2aa", "wcag21a", "wcag21aa", "wcag22aa", "best-practice"],
}
WITHOUT_CONTRAST = AXE_OPTIONS | {"rules": {"color-contrast": {"enabled": False}}}
# without the rest of axe's results, which take longer to fetch than to find
AXE_RUN = "(options) => axe.run(options).then((results) => results.violations)"
FADING_GIVEN_UP = (
    "ViewTransition opt-in disabled",
    "Viewport size changed",
    "Transition was skipped. Navigation aborted",
    "Transition was aborted because of invalid state. Page already revealed",
)
WIDER_THAN_THE_WINDOW = """() => {
  const limit = document.documentElement.clientWidth;
  if (document.documentElement.scrollWidth <= limit) return [];
  const beyond = (box) => box.right > limit + 1 || box.left < -1;
  return ["the page", ...[...document.body.querySelectorAll("*")]
    .filter((part) => beyond(part.getBoundingClientRect()))
    .map((part) => `${part.tagName} ${part.className}`)];
}"""


SQUEEZED = """() => [...document.body.querySelectorAll("h1, h2, h3, p, li, dt, dd, label, a")]
  .filter((part) => part.innerText?.trim().length > 12 && !part.closest(".visually-hidden"))
  .filter((part) => { const box = part.getBoundingClientRect();
    return box.width > 2 && box.width < 48 && box.height > 5 * box.width; })
  .map((part) => `${part.tagName} ${part.className}: ${part.innerText.slice(0, 40)}`)"""


@contextmanager
def window(
    browser: Browser,
    address: str,
    *,
    refused: Collection[int] = (),
    others: Collection[str] = (),
    **options: Any,
) -> Iterator[Page]:
    """A page in a fresh profile; the test fails when it was not quiet.

    refused   statuses that answers may have besides success and redirects
    others    further addresses that the page may go to
    options   of Playwright's `new_context`
    """
    size = {"width": options.pop("width", 1280), "height": options.pop("height", HEIGHT)}
    # fading from page to page would cost as much as the rest; the journey is made with it
    options.setdefault("reduced_motion", "reduce")
    context = browser.new_context(
        base_url=address,
        viewport=size,
        ignore_https_errors=True,  # certificates of tests are signed by nobody it knows
        **options,
    )
    complaints = watch(context, [address, *others], refused)
    try:
        yield context.new_page()
        if complaints:
            pytest.fail("\n".join(complaints))
    finally:
        context.close()


def watch(
    context: BrowserContext, addresses: Collection[str], refused: Collection[int] = ()
) -> list[str]:
    """A list that collects console errors, script errors, CSP reports and foreign requests."""
    complaints: list[str] = []

    def hear(message: ConsoleMessage) -> None:
        # the browser tells each refusal once more; `answered` has judged it
        is_refusal = message.text.startswith("Failed to load resource: the server responded")
        if message.type in {"error", "warning"} and not is_refusal:
            complaints.append(f"{message.type}: {message.text}")

    def asked(request: Request) -> None:
        if not request.url.startswith((*addresses, "data:", "blob:")):
            complaints.append(f"another server: {request.url}")

    def answered(response: Response) -> None:
        if response.status >= 400 and response.status not in refused:
            complaints.append(f"{response.status}: {response.url}")

    context.on("console", hear)

    def broke(error: WebError) -> None:
        # `look` resizes the window and forbids motion while the browser may still fade between two
        # pages: it gives that up and says so as if a script had failed
        if not any(why in str(error.error) for why in FADING_GIVEN_UP):
            complaints.append(f"script: {error.error}")

    context.on("weberror", broke)
    context.on("request", asked)
    context.on("response", answered)
    return complaints


def violations(page: Page, *, contrast: bool = True) -> list[str]:
    """The violations of axe-core on the current page: rule, element, and why.

    Contrast is one rule of many and takes longer than all others.
    """
    if not page.evaluate("'axe' in window"):
        page.evaluate(Axe().axe_script)
    return [
        f"{rule['id']} {' '.join(map(str, node['target']))}: {node['failureSummary']}"
        for rule in page.evaluate(AXE_RUN, AXE_OPTIONS if contrast else WITHOUT_CONTRAST)
        for node in rule["nodes"]
    ]


def sideways(page: Page) -> list[str]:
    """The elements that make the page scroll sideways; empty when it does not."""
    found: list[str] = page.evaluate(WIDER_THAN_THE_WINDOW)
    return found


def squeezed(page: Page) -> list[str]:
    """Elements too narrow for more than a word on a line."""
    found: list[str] = page.evaluate(SQUEEZED)
    return found


def look(page: Page, *, width: int, scheme: str = "light", direction: str = "") -> None:
    """Show the same page in another window size, colour scheme and direction of writing.

    Without motion, because a colour that fades into another one is neither.
    """
    page.set_viewport_size({"width": width, "height": HEIGHT})
    # as high as the page: what sticks to the edge covers nothing by chance of scrolling
    high = page.evaluate("document.documentElement.scrollHeight")
    page.set_viewport_size({"width": width, "height": max(high, HEIGHT)})
    dark = "dark" if scheme == "dark" else "light"
    page.emulate_media(color_scheme=dark, reduced_motion="reduce")
    if direction:
        page.evaluate("(direction) => { document.documentElement.dir = direction }", direction)


def photograph(page: Page, name: str, *, schemes: Collection[str] = ("light",)) -> None:
    """Write the whole page at 390 and 1280 px to `pictures/NAME-WIDTH[-dark].png`."""
    before = page.viewport_size or {"width": 1280}
    for scheme in schemes:
        for width in (390, 1280):
            look(page, width=width, scheme=scheme)
            # a window as high as the page: what sticks to its lower edge lies at the end then
            height = page.evaluate("() => document.documentElement.scrollHeight")
            page.set_viewport_size({"width": width, "height": max(height, HEIGHT)})
            tail = "-dark" if scheme == "dark" else ""
            # hiding the caret would leave a style attribute behind, which our policy refuses
            page.screenshot(
                path=PICTURES / f"{name}-{width}{tail}.png",
                full_page=True,
                animations="disabled",
                caret="initial",
            )
    look(page, width=before["width"])


def press_until(page: Page, key: str, reached: Callable[[], bool], most: int = 60) -> None:
    """Press a key until something is so; fails after `most` presses."""
    for _ in range(most):
        if reached():
            return
        page.keyboard.press(key)
    raise AssertionError(f"{most} times {key} did not get there")
