"""As in production: https from a proxy in front, strict cookies, strict policy, another machine.

The browser trusts the one certificate and resolves our invented names to this machine only.
"""

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any
from urllib.parse import parse_qs, quote, urlencode, urlsplit

import pytest
from playwright.sync_api import Browser, Error as PlaywrightError, expect, sync_playwright
from urllib3 import BaseHTTPResponse, HTTPSConnectionPool

from tests.browser.conftest import sign_in
from tests.browser.example_data import ExampleData, make_example_data
from tests.browser.example_texts import EMAIL, PASSWORD
from tests.browsing import window
from tests.programs import CHROMIUM_ARGS
from tests.services import free_port
from tests.serving import serving
from tests.tls import Website, certified, ending_tls, https_server
from webapp.app.factory import create_app
from webapp.base.config import Settings
from webapp.base.database import db
from webapp.web.limiter import limiter

HOST = "ask.fernhill.example"
AGENT = "agent.example"
COOKIE = "__Host-askback_session"
FORM = {"Content-Type": "application/x-www-form-urlencoded"}


@dataclass(frozen=True)
class Front:
    """The installation behind the proxy, another site beside it, and a browser."""

    data: ExampleData
    browser: Browser
    address: str
    elsewhere: str
    connections: HTTPSConnectionPool
    signed_in: Any

    def ask(self, method: str, path: str, body: Any = None, **headers: str) -> BaseHTTPResponse:
        """A request of a program that checks the certificate."""
        names = {"Host": urlsplit(self.address).netloc} | headers
        return self.connections.request(
            method, path, body=body, headers=names, redirect=False, retries=False
        )

    def window(self, **options: Any) -> Any:
        return window(self.browser, self.address, **options)


class Elsewhere(Website):
    """The site of an agent; at /attack, a page that posts to whatever its address names."""

    def page(self) -> str:
        asked = urlsplit(self.path)
        target = parse_qs(asked.query).get("to", [""])[0]
        attack = f'<form method="post" action="{target}"><button>Win a prize</button></form>'
        return attack if asked.path == "/attack" else super().page()


@pytest.fixture(scope="module")
def front(chromium_path: str, tmp_path_factory: pytest.TempPathFactory) -> Iterator[Front]:
    folder = tmp_path_factory.mktemp("tls")
    authority = certified(folder, HOST, AGENT)
    backend, port = free_port(), free_port()
    app = create_app(
        Settings(
            public_url=f"https://{HOST}:{port}",
            port=backend,
            trusted_proxy="127.0.0.1",
            database_url=f"sqlite:///{folder}/data.sqlite3",
            secret_key="only-for-tests-only-for-tests-only-for-tests",
            data_folder=folder,
        )
    )
    with app.app_context():
        db.create_all()
        data = make_example_data()
    connections = HTTPSConnectionPool(
        "127.0.0.1", port, server_hostname=HOST, assert_hostname=HOST, ca_certs=authority.ca_file
    )
    arguments = [
        f"--host-resolver-rules=MAP {HOST} 127.0.0.1,MAP {AGENT} 127.0.0.1",
        f"--ignore-certificate-errors-spki-list={authority.fingerprint}",
    ]
    with (
        serving(app),
        ending_tls(authority, backend, port),
        https_server(authority, Elsewhere) as elsewhere,
        sync_playwright() as playwright,
    ):
        options = {"executable_path": chromium_path, "args": [*CHROMIUM_ARGS, *arguments]}
        browser = playwright.chromium.launch(**options)
        address, other = app.config["SETTINGS"].public_url, f"https://{AGENT}:{elsewhere}"
        signed_in = sign_in(browser, address)
        yield Front(data, browser, address, other, connections, signed_in)
        browser.close()
        connections.close()


@pytest.fixture(autouse=True)
def _fresh_limits(front: Front) -> None:
    limiter.reset()


def test_a_creator_confirms_and_people_answer(front: Front) -> None:
    with front.window(storage_state=front.signed_in) as page:
        page.goto(f"{front.data.german}/confirm")
        page.get_by_role("button", name="Publish now").click()
        expect(page.locator("h1")).to_have_text("It’s live. Share it with someone.")
        shared = page.locator("input[readonly]").first.input_value()
    with front.window() as page:
        page.goto(shared)
        page.locator("#answer").fill("Nichts.")
        page.get_by_role("button", name="Continue", exact=True).click()
        expect(page.locator(".count")).to_contain_text("Question 2 of 6")
        cookies = {cookie["name"]: cookie for cookie in page.context.cookies()}

    assert shared.startswith(f"{front.address}/r/")
    kept = cookies["__Secure-askback_r"]
    assert (kept["secure"], kept["httpOnly"], kept["sameSite"]) == (True, True, "Lax")
    assert f"{front.address}{kept['path']}" == shared


def test_the_session_cookie_is_bound_to_this_host_and_to_https(front: Front) -> None:
    found = [cookie for cookie in front.signed_in["cookies"] if cookie["name"] == COOKIE]

    names = ("domain", "path", "secure", "httpOnly", "sameSite")
    assert [[cookie[name] for name in names] for cookie in found] == [
        [HOST, "/", True, True, "Lax"]
    ]


def test_hsts_keeps_browsers_on_https(front: Front) -> None:
    plain = front.address.replace("https:", "http:")
    with front.window(others=[plain]) as page, pytest.raises(PlaywrightError):
        page.goto(f"{plain}/login")  # nobody listens there for http

    with front.window(others=[plain]) as page:
        page.goto("/login")
        page.goto(f"{plain}/login")

        assert page.url == f"{front.address}/login"


def test_another_site_cannot_use_the_session(front: Front) -> None:
    target = f"{front.address}/account/delete"
    with front.window(
        storage_state=front.signed_in, others=[front.elsewhere], refused=[400]
    ) as page:
        page.goto(f"{front.elsewhere}/attack?to={quote(target)}")
        page.get_by_role("button", name="Win a prize").click()
        expect(page.locator("h1")).to_have_text("This page was open for too long.")
        page.goto("/account")

        expect(page.locator("h1")).to_have_text("Your account")


@pytest.mark.parametrize(
    ("referer", "status"), [("", 400), ("{elsewhere}/attack", 400), ("{address}/login", 303)]
)
def test_a_posted_form_is_accepted_from_our_own_page_only(
    referer: str, status: int, front: Front
) -> None:
    page = front.ask("GET", "/login")
    token = page.data.decode().partition('name="csrf_token" value="')[2].partition('"')[0]
    form = {"email": EMAIL, "password": PASSWORD, "csrf_token": token}
    sent = {"Referer": referer.format(address=front.address, elsewhere=front.elsewhere)}
    cookie = page.headers["Set-Cookie"].partition(";")[0]

    headers = FORM | {"Cookie": cookie} | (sent if referer else {})
    answer = front.ask("POST", "/login", urlencode(form), **headers)

    assert answer.status == status
