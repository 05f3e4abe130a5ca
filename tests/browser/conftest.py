"""The example installation behind a real server, once for each module."""

import threading
from collections.abc import Callable, Collection, Iterator
from contextlib import AbstractContextManager, contextmanager
from dataclasses import dataclass
from http.server import HTTPServer
from pathlib import Path
from typing import Any

import pytest
from flask import Flask
from playwright.sync_api import Browser, Page

from tests.browser.example_data import ExampleData, make_example_data, write
from tests.browser.example_steps import ExamplePage
from tests.browser.example_texts import EMAIL, PASSWORD, ROTA
from tests.browser.long.example_long import make_long_data
from tests.browser.respondent_steps import QUESTIONS, Link
from tests.browsing import Tab, window
from tests.command import DATA_KEYS
from tests.conftest import delete_rows
from tests.factories import make_account, make_form
from tests.followups.example_follow_ups import model_of_respondents
from tests.serving import new_app, serving
from tests.tls import Website
from webapp.base.config import Settings
from webapp.base.database import db, utc_now
from webapp.records.drafts import Draft

OpenWindow = Callable[..., AbstractContextManager[Page]]


@dataclass(frozen=True)
class ExampleSite:
    """The served example installation and a browser."""

    app: Flask
    data: ExampleData
    browser: Browser
    address: str
    signed_in: Any
    tab: Tab

    @contextmanager
    def open(self, example: ExamplePage, **size: int) -> Iterator[Page]:
        """Open the page in the tab, without console errors; `size` as of `Tab.visit`."""
        cookies = self.signed_in["cookies"] if example.signed_in else []
        with self.tab.visit(cookies, refused=example.refused, **size) as page:
            example.show(page, self.data)
            yield page


@pytest.fixture(scope="module")
def site(browser: Browser, tmp_path_factory: pytest.TempPathFactory) -> Iterator[ExampleSite]:
    with example_site(browser, tmp_path_factory.mktemp("example"), make_example_data) as served:
        yield served


@pytest.fixture(scope="module")
def long_site(browser: Browser, tmp_path_factory: pytest.TempPathFactory) -> Iterator[ExampleSite]:
    """Of the longest texts and lists; its own pages know its addresses."""
    with example_site(browser, tmp_path_factory.mktemp("long"), make_long_data) as served:
        yield served


@contextmanager
def served_app(folder: Path, **settings: Any) -> Iterator[Flask]:
    """An application on a database of its own in the folder, behind a real server."""
    keys = {"secret_key": "only-for-tests-" * 3, "data_keys": DATA_KEYS}
    kept = {"database_url": f"sqlite:///{folder}/data.sqlite3", "data_folder": folder}
    plain: dict[str, Any] = {"public_url": "http://127.0.0.1", "write_limits": False} | keys | kept
    app = new_app(Settings(**plain | settings))
    with app.app_context():
        db.create_all()
    with serving(app):
        yield app


@contextmanager
def example_site(browser: Browser, folder: Path, make: Callable[[], Any]) -> Iterator[ExampleSite]:
    with served_app(folder) as app, model_of_respondents(app):
        with app.app_context():
            data = make()
        address = app.config["SETTINGS"].public_url
        tab = Tab(browser, address)
        yield ExampleSite(app, data, browser, address, sign_in(browser, address), tab)
        tab.close()


def sign_in(browser: Browser, address: str) -> Any:
    """The cookies of the creator, through the page that makes them."""
    with window(browser, address) as page:
        page.goto("/login")
        fill_in(page)
        page.wait_for_url("**/drafts")
        return page.context.storage_state()


def fill_in(page: Page, email: str = EMAIL) -> None:
    """The page of signing in, sent."""
    page.get_by_label("E-mail").fill(email)
    page.get_by_label("Password").fill(PASSWORD)
    page.get_by_role("button", name="Sign in").click()


@pytest.fixture(scope="module")
def served(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Flask]:
    with served_app(tmp_path_factory.mktemp("respondents")) as app:
        yield app


@pytest.fixture
def link(request: pytest.FixtureRequest, served: Flask) -> Iterator[Link]:
    """A form of this test's own, of the questions that it may choose."""
    with served.app_context():
        form = make_form(make_account().id, questions=getattr(request, "param", QUESTIONS))
    yield Link(served, served.config["SETTINGS"].public_url, f"/r/{form.share_token}", form)
    delete_rows(served)


@pytest.fixture(scope="module")
def callback() -> Iterator[str]:
    """The address of a program on the same computer that waits for its code."""
    with HTTPServer(("127.0.0.1", 0), Website) as server:
        threading.Thread(target=server.serve_forever, args=(0.01,), daemon=True).start()
        yield f"http://127.0.0.1:{server.server_address[1]}/callback"
        server.shutdown()


@pytest.fixture
def draft(site: ExampleSite) -> Draft:
    """A draft of this test's own."""
    with site.app.app_context():
        return write(site.data.account_id, ROTA, None, utc_now())


@pytest.fixture
def open_window(site: ExampleSite) -> OpenWindow:
    """Opens a quiet window of the signed-in creator."""

    def opened(*, refused: Collection[int] = (), **options: object) -> AbstractContextManager[Page]:
        return window(
            site.browser, site.address, refused=refused, storage_state=site.signed_in, **options
        )

    return opened
