"""A window of a real browser on our pages, and checks of the page in it."""

from collections.abc import Callable, Collection, Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import pytest
from axe_playwright_python.base import AXE_SCRIPT
from playwright.sync_api import (
    Browser,
    BrowserContext,
    ConsoleMessage,
    Dialog,
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
# without the rest of axe's results, which take longer to fetch than to find
AXE_RUN = "(options) => window.axe?.run(options).then((results) => results.violations)"
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

TURNED = """(direction) => {
  if (direction) document.documentElement.dir = direction;
  return document.documentElement.scrollHeight;
}"""
SQUEEZED = """() => [...document.body
  .querySelectorAll("h1, h2, h3, p, li, dt, dd, label, a, span, b, small")]
  .filter((part) => part.innerText?.trim().length > 12 && !part.closest(".visually-hidden"))
  .filter((part) => { const box = part.getBoundingClientRect();
    return box.width > 2 && box.width < 64 && box.height > 1.25 * box.width; })
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
    context = new_profile(browser, address, **options)
    complaints = watch(context, [address, *others], refused)
    try:
        yield context.new_page()
        if complaints:
            pytest.fail("\n".join(complaints))
    finally:
        context.close()


def new_profile(browser: Browser, address: str, **options: Any) -> BrowserContext:
    """A fresh profile; `options` as of `window`."""
    size = {"width": options.pop("width", 1280), "height": options.pop("height", HEIGHT)}
    # fading from page to page would cost as much as the rest; the journey is made with it
    options.setdefault("reduced_motion", "reduce")
    return browser.new_context(
        base_url=address,
        viewport=size,
        ignore_https_errors=True,  # certificates of tests are signed by nobody it knows
        **options,
    )


class Tab:
    """One tab that shows page after page, each without cookies or kept words of the one before.

    The browser compiles a script once for all of them and asks for each static file once, which
    is half of what a page in a profile of its own costs.
    """

    def __init__(self, browser: Browser, address: str) -> None:
        self._browser = browser
        self._address = address
        self._refused: set[int] = set()
        self._page: Page | None = None
        self._complaints: list[str] = []

    @contextmanager
    def visit(
        self, cookies: Sequence[Any], *, refused: int, width: int = 1280, height: int = HEIGHT
    ) -> Iterator[Page]:
        """As `window`; after a failure the next visit has a new profile."""
        page = self._page or self._opened()
        self._refused.clear()
        self._refused.add(refused)
        page.set_viewport_size({"width": width, "height": height})
        page.emulate_media(color_scheme="light", reduced_motion="reduce")
        page.context.clear_cookies()
        page.context.add_cookies(cookies)
        try:
            yield page
            self._leave(page)
        except BaseException:
            self.close()
            raise

    def _opened(self) -> Page:
        context = new_profile(self._browser, self._address)
        self._complaints = watch(context, [self._address], self._refused)
        self._page = context.new_page()
        self._page.on("dialog", answer_dialog)
        return self._page

    def _leave(self, page: Page) -> None:
        """End the page's scripts, then forget what they kept; fails when it was not quiet."""
        page.unroute_all()
        page.goto("/healthz")
        page.evaluate("() => { localStorage.clear(); sessionStorage.clear() }")
        if self._complaints:
            pytest.fail("\n".join(self._complaints))

    def close(self) -> None:
        if self._page:
            self._page.context.close()
        self._page = None


def answer_dialog(dialog: Dialog) -> None:
    """Unsaved words may be left behind; whatever else is asked is declined."""
    if dialog.type == "beforeunload":
        dialog.accept()
    else:
        dialog.dismiss()


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


def violations(page: Page) -> list[str]:
    """The violations of axe-core on the current page: rule, element, and why."""
    if (found := page.evaluate(AXE_RUN, AXE_OPTIONS)) is None:
        # not through `page.evaluate`, for which the browser compiles it in each page again
        devtools = page.context.new_cdp_session(page)
        devtools.send("Runtime.evaluate", {"expression": AXE_SCRIPT})
        devtools.detach()
        found = page.evaluate(AXE_RUN, AXE_OPTIONS)
    return [
        f"{rule['id']} {' '.join(map(str, node['target']))}: {node['failureSummary']}"
        for rule in found
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
    dark = "dark" if scheme == "dark" else "light"
    page.emulate_media(color_scheme=dark, reduced_motion="reduce")
    # as high as the page: what sticks to the edge covers nothing by chance of scrolling
    high = page.evaluate(TURNED, direction)
    if high > HEIGHT:
        page.set_viewport_size({"width": width, "height": high})


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
