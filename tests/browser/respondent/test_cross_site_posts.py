"""Another website posts to a respondent's pages, in a real browser that knows both sites.

`localhost` is another site than 127.0.0.1; another port of 127.0.0.1 is another origin of our site.
"""

import threading
from collections.abc import Iterator
from dataclasses import dataclass
from html import escape
from http.server import BaseHTTPRequestHandler, HTTPServer
from urllib.parse import parse_qsl, urlencode, urlsplit

import pytest
from flask.testing import FlaskClient
from playwright.sync_api import Browser, Page, expect

from tests.browser.respondent_steps import Link, asked, give, press
from tests.browsing import look, sideways, violations, window
from tests.pages.respondent_client import session_in

HEADING = "Go on from here."
SCRIPTS = pytest.mark.parametrize("scripts", [True, False], ids=["scripts", "no scripts"])
# the posts of the second have `Origin: null`
FRAMES = ['title="Offer"', 'sandbox="allow-forms allow-scripts"']


class EvilPage(BaseHTTPRequestHandler):
    """A form with the fields that its address names; `to` says where it posts them to."""

    def do_GET(self) -> None:
        fields = dict(parse_qsl(urlsplit(self.path).query))
        action, framed = fields.pop("to"), fields.pop("framed", None)
        inputs = (
            f'<input type="hidden" name="{name}" value="{escape(value)}">'
            for name, value in fields.items()
        )
        form = f'<form method="post" action="{action}">{"".join(inputs)}<button>Win</button></form>'
        if framed is not None:
            inside = f"<!doctype html><title>Frame</title>{form}"
            form = f'<iframe {framed} srcdoc="{escape(inside)}"></iframe>'
        self.send_response(200)
        self.send_header("Content-Type", "text/html; charset=utf-8")
        self.end_headers()
        self.wfile.write(f"<!doctype html><title>Shop</title>{form}".encode())

    def log_message(self, *_arguments: object) -> None:
        """Quiet."""


@pytest.fixture(scope="module")
def evil_port() -> Iterator[int]:
    with HTTPServer(("127.0.0.1", 0), EvilPage) as server:
        threading.Thread(target=server.serve_forever, args=(0.01,), daemon=True).start()
        yield server.server_address[1]
        server.shutdown()


@dataclass(frozen=True)
class Attacker:
    """Somebody with a website, and with a session of their own that has skipped question 1."""

    site: str
    link: Link
    client: FlaskClient
    key: str

    def page(self, path: str, **fields: str) -> str:
        """The address of a page that posts to `path` behind the link."""
        to = f"{self.link.address}{self.link.path}{path}"
        return f"{self.site}/?{urlencode({'to': to, 'session': self.key} | fields)}"

    def read(self) -> str:
        """All that the attacker's session shows."""
        return self.client.post(f"{self.link.path}/check/open", data={"session": self.key}).text


@pytest.fixture(params=["localhost", "127.0.0.1"], ids=["another site", "same site"])
def attacker(request: pytest.FixtureRequest, evil_port: int, link: Link) -> Attacker:
    client = link.app.test_client(use_cookies=False)
    key = session_in(client.get(link.path).text)
    client.post(f"{link.path}/q/1/skip", data={"session": key})
    return Attacker(f"http://{request.param}:{evil_port}", link, client, key)


@pytest.fixture
def page(browser: Browser, attacker: Attacker) -> Iterator[Page]:
    with window(browser, attacker.link.address, refused=[403], others=[attacker.site]) as page:
        yield page


def press_win(page: Page, address: str) -> None:
    """The form of the attacker's page, sent: our page instead of what it asked for."""
    page.goto(address)
    press(page, "Win")
    expect(page.get_by_role("heading", level=1)).to_have_text(HEADING)


def our_cookies(page: Page, link: Link) -> list[str]:
    """The values of the cookies that name a session."""
    found = page.context.cookies(f"{link.address}{link.path}")
    return [cookie["value"] for cookie in found if cookie["name"] == "askback_r"]  # type: ignore[typeddict-item]


@SCRIPTS
def test_a_cross_site_post_sets_no_session(
    browser: Browser,
    attacker: Attacker,
    link: Link,
    scripts: bool,  # noqa: FBT001
) -> None:
    options = {"java_script_enabled": scripts, "refused": [403], "others": [attacker.site]}
    with window(browser, link.address, **options) as page:
        press_win(page, attacker.page("/resume"))
        assert page.context.cookies() == []
        assert attacker.key not in page.content()

        press(page, "Open the form")
        asked(page, 1)
        give(page, "what only I may read")
        asked(page, 2)

    assert "what only I may read" not in attacker.read()
    assert link.sessions() == 2


@pytest.mark.parametrize("framed", FRAMES, ids=["frame", "sandbox"])
def test_a_cross_site_iframe_cannot_post(
    browser: Browser, attacker: Attacker, link: Link, framed: str
) -> None:
    context = browser.new_context(base_url=link.address)
    page = context.new_page()
    page.goto(link.path)
    give(page, "mine")
    asked(page, 2)
    before = our_cookies(page, link)

    page.goto(attacker.page("/another", framed=framed))
    with page.expect_response("**/another") as answered:
        page.frame_locator("iframe").get_by_role("button", name="Win").click()

    assert answered.value.status == 403
    assert "set-cookie" not in answered.value.all_headers()
    assert our_cookies(page, link) == before != []
    page.goto(link.path)
    asked(page, 2)
    context.close()


def test_the_cross_site_page_passes_axe(page: Page, attacker: Attacker) -> None:
    press_win(page, attacker.page("/q/1", answer="A long story"))

    for width, scheme in ((1280, "light"), (390, "dark")):
        look(page, width=width, scheme=scheme)
        assert violations(page) + sideways(page) == []
