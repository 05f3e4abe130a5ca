"""A form embedded in another website, in browsers that give such an iframe no storage."""

import re
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any
from urllib.parse import parse_qs, urlsplit

import orjson
import pytest
from playwright.sync_api import Browser, BrowserContext, FrameLocator, Page, expect

from tests.browser.respondent_steps import QUESTIONS, Link, give as give_answer, press
from tests.browsing import watch
from tests.programs import CHROMIUM_ARGS
from tests.tls import Website, certified, https_server
from webapp.drafts.form_settings import allow_embedding

BLOCKED = {"default_content_setting_values": {"cookies": 2}}  # and every storage of pages
# our server of the test speaks plain http; htmx sets the focus where the browser would not
EXPECTED = re.compile("Mixed Content|Blocked autofocusing")


class Shop(Website):
    """`show` in its address names what it shows in a frame."""

    def page(self) -> str:
        shown = parse_qs(urlsplit(self.path).query).get("show", [""])[0]
        return f'<iframe src="{shown}" width="100%" height="720"></iframe>' if shown else ""


@pytest.fixture(scope="module")
def browser(whole_browser: Browser) -> Browser:
    """Frames of strangers are refused by the browser around the engine."""
    return whole_browser


@pytest.fixture(scope="module")
def port(tmp_path_factory: pytest.TempPathFactory) -> Iterator[int]:
    """Where the shop is: under two names, which are two origins."""
    authority = certified(tmp_path_factory.mktemp("shop"), "localhost")
    with https_server(authority, Shop) as port:
        yield port


@dataclass(frozen=True)
class Sites:
    """The shop, allowed to show the form, and the same pages under a name that is not."""

    allowed: str
    other: str
    link: Link

    def frame(self, path: str = "", *, site: str = "") -> str:
        shown = f"{self.link.address}{path or f'{self.link.path}?embed=1'}"
        return f"{site or self.allowed}/?show={shown}"


@pytest.fixture
def sites(port: int, link: Link) -> Sites:
    allowed = f"https://localhost:{port}"
    with link.app.app_context():
        allow_embedding(link.form.account_id, link.form.id, allowed)
    return Sites(allowed, f"https://127.0.0.1:{port}", link)


def usual(browser: Browser, **options: Any) -> BrowserContext:
    return browser.new_context(ignore_https_errors=True, **options)


def reload(page: Page) -> None:
    """The frame alone."""
    with page.frames[1].expect_navigation():
        page.frames[1].evaluate("location.reload()")


def asked(frame: FrameLocator, number: int) -> None:
    expect(frame.get_by_role("heading", level=1)).to_have_text(QUESTIONS[number - 1])


def give(frame: FrameLocator, number: int, text: str) -> None:
    asked(frame, number)
    give_answer(frame, text)


def finish(frame: FrameLocator) -> None:
    press(frame, "Send to Robin Example")
    expect(frame.get_by_role("heading", level=1)).to_contain_text("Thank you.")


def test_a_form_is_answered_in_an_iframe_without_cookies(
    browser: Browser, chromium_path: str, tmp_path: Path, sites: Sites
) -> None:
    folder = tmp_path / "profile"
    (folder / "Default").mkdir(parents=True)
    (folder / "Default" / "Preferences").write_bytes(orjson.dumps({"profile": BLOCKED}))
    with browser.browser_type.launch_persistent_context(
        folder, executable_path=chromium_path, args=CHROMIUM_ARGS, ignore_https_errors=True
    ) as context:
        complaints = watch(context, [sites.allowed, sites.link.address])
        page = context.pages[0]
        page.goto(sites.frame())
        frame = page.frame_locator("iframe")
        give(frame, 1, "Me")
        asked(frame, 2)
        expect(frame.locator("#answer")).to_be_focused()
        reload(page)
        give(frame, 2, "It")
        asked(frame, 3)
        frame.get_by_role("button", name="Back").click()
        give(frame, 2, "Habit")
        give(frame, 3, "Nothing")
        finish(frame)

        assert context.cookies() == []
        assert [messages for messages in complaints if not EXPECTED.search(messages)] == []

    assert (sites.link.sessions(), sites.link.texts()) == (1, ["Me", "Habit", "Nothing"])


@pytest.mark.parametrize("scripts", [True, False], ids=["scripts", "no scripts"])
def test_an_iframe_with_storage_stores_nothing(
    browser: Browser, sites: Sites, *, scripts: bool
) -> None:
    with usual(browser, java_script_enabled=scripts) as context:
        page = context.new_page()
        page.goto(sites.frame())
        frame = page.frame_locator("iframe")
        for number in (1, 2, 3):
            give(frame, number, f"answer {number}")
        finish(frame)

        assert context.cookies() == []

    assert (sites.link.sessions(), len(sites.link.texts())) == (1, 3)


def test_back_in_an_iframe_leaves_the_embedding_page(browser: Browser, sites: Sites) -> None:
    with usual(browser) as context:
        page = context.new_page()
        page.goto(sites.allowed)
        page.goto(sites.frame())
        frame = page.frame_locator("iframe")
        give(frame, 1, "Me")
        asked(frame, 2)

        page.go_back()

        expect(page).to_have_url(f"{sites.allowed}/")


@pytest.mark.parametrize(
    ("site", "path"),
    [("other", ""), ("allowed", "/login")],
    ids=["another website", "sign-in"],
)
def test_the_browser_refuses_iframes_of_other_origins(
    browser: Browser, sites: Sites, site: str, path: str
) -> None:
    with usual(browser) as context:
        page = context.new_page()
        messages: list[str] = []
        page.on("console", lambda message: messages.append(message.text))

        page.goto(sites.frame(path, site=getattr(sites, site)))

        assert [text for text in messages if "frame-ancestors" in text]
        expect(page.frame_locator("iframe").locator("body")).not_to_be_empty()
        expect(page.frame_locator("iframe").locator("main")).to_have_count(0)
