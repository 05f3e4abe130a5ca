"""The consent page in a real browser: its CSP must allow the redirect to the client."""

from collections.abc import Iterator
from urllib.parse import parse_qs, urlencode, urlsplit

import pytest
from playwright.sync_api import Page

from tests.browser.conftest import ExampleSite
from tests.browser.example_texts import ASKING
from tests.oauth.flow import register


@pytest.fixture
def page(site: ExampleSite, callback: str, request: pytest.FixtureRequest) -> Iterator[Page]:
    """The consent page of a loopback client of each test alone, which needs no scripts."""
    client = register(
        site.app.test_client(),
        client_name=request.node.name,
        redirect_uris=[callback],
        token_endpoint_auth_method="none",
    )
    asking = ASKING | {"client_id": client["client_id"], "redirect_uri": callback}
    context = site.browser.new_context(
        base_url=site.address, storage_state=site.signed_in, java_script_enabled=False
    )
    page = context.new_page()
    page.goto(f"/oauth/authorize?{urlencode(asking)}")
    yield page
    context.close()


def answer(page: Page, button: str, callback: str) -> dict[str, list[str]]:
    page.get_by_role("button", name=button, exact=True).click()
    page.wait_for_url(f"{callback}?*")
    return parse_qs(urlsplit(page.url).query)


def test_allow_reaches_the_client(page: Page, callback: str) -> None:
    assert answer(page, "Allow", callback).keys() == {"code", "state", "iss"}


def test_do_not_allow_reaches_the_client(page: Page, callback: str) -> None:
    assert answer(page, "Do not allow", callback)["error"] == ["access_denied"]


def test_allowing_comes_first_but_enter_in_a_tick_box_never_allows(
    page: Page, callback: str
) -> None:
    names = page.locator(".actions button").all_inner_texts()
    page.get_by_role("checkbox").first.press("Enter")
    page.wait_for_url(f"{callback}?*")

    assert names == ["Allow", "Do not allow"]
    assert parse_qs(urlsplit(page.url).query)["error"] == ["access_denied"]


def test_the_way_to_another_account_begins_where_the_other_words_do(page: Page) -> None:
    left = """(part) => {
      const range = document.createRange();
      range.selectNodeContents(part);
      return range.getBoundingClientRect().left;
    }"""
    switch = page.get_by_role("button", name="Not you?").evaluate(left)

    assert abs(switch - page.locator("form > p").first.evaluate(left)) <= 2


def test_a_refusal_reaches_the_client_by_a_link(page: Page, callback: str) -> None:
    page.goto(f"{page.url}&resource=https://other.example")
    assert urlsplit(page.url).path == "/oauth/authorize"

    page.get_by_role("link", name="Go back to 127.0.0.1").click()
    page.wait_for_url(f"{callback}?*")

    assert parse_qs(urlsplit(page.url).query)["error"] == ["invalid_target"]


def test_nothing_covers_what_an_agent_will_not_be_able_to_do(page: Page) -> None:
    page.set_viewport_size({"width": 390, "height": 664})
    bar = page.locator(".actions").last
    assert bar.evaluate("(bar) => getComputedStyle(bar).position") == "static"
