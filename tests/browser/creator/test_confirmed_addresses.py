"""An automation tool's hook is confirmed in a real browser, and gets what it subscribed to."""

from collections.abc import Iterator

import pytest
from playwright.sync_api import Locator, Page, expect

from jobs.deliver import Deliverer
from tests.api.conftest import Agent
from tests.browser.conftest import ExampleSite
from tests.browsing import window
from tests.factories import make_form, make_response
from tests.jobs.test_confirmed_callbacks import TOOLS, zapier
from tests.jobs.way import Way
from tests.webhook_receiver import plain_receiver
from webapp.base.database import utc_now
from webapp.base.vocabulary import Scope
from webapp.oauth.tokens import issue_token


@pytest.fixture
def way(site: ExampleSite, monkeypatch: pytest.MonkeyPatch) -> Iterator[Way]:
    """A new form of the example creator, and a receiver on loopback."""
    with site.app.app_context(), plain_receiver() as receiver:
        config = site.app.config["SETTINGS"]
        allowed = {"mcp_events_callback_allowlist": frozenset({receiver.origin})}
        monkeypatch.setitem(site.app.config, "SETTINGS", config.model_copy(update=allowed))
        form = make_form(site.data.account_id, title="Lunch <i>on</i> Fridays")
        scopes = [Scope.RESPONSES_READ]
        token = issue_token(site.data.account_id, scopes, config.api_url, now=utc_now())
        yield Way(site.app, form, Agent(site.app, token), receiver, Deliverer(site.app, threads=2))


@pytest.mark.parametrize("scripts", [True, False])
@pytest.mark.parametrize("tool", ["Zapier, Catch Hook", "Make, custom webhook", "Power Automate"])
def test_a_hook_is_confirmed_and_removed_by_keys_alone(
    site: ExampleSite, way: Way, tool: str, *, scripts: bool
) -> None:
    zapier(way.receiver, tool)
    url = f"{way.receiver.origin}/hooks/<script>alert(1)</script>?tool=1"
    options = {"storage_state": site.signed_in, "java_script_enabled": scripts}

    refused = way.subscribe(url=url)
    with window(site.browser, site.address, **options) as page:
        page.goto("/connections#addresses-label")
        shown = address(page, url).inner_text()
        press(page, url, "Confirm this address")
        expect(page.locator("p:focus")).to_contain_text("The address is confirmed.")
        granted = way.subscribe(url=url)
        make_response(way.form)
        events = way.sent()
        press(page, url, "Remove")
        expect(page.locator("p:focus")).to_contain_text("Nothing more is sent there.")
        expect(address(page, url)).to_have_count(0)
    make_response(way.form)

    assert (refused.status_code, granted.status_code) == (400, 200)
    assert url in shown
    assert "Lunch <i>on</i> Fridays" in shown
    assert f"answered {TOOLS[tool][0]} with {len(TOOLS[tool][2])} bytes" in shown
    assert [event["name"] for event in events] == ["response.submitted"]
    assert way.sent() == []


def address(page: Page, url: str) -> Locator:
    return page.locator("section[aria-labelledby=addresses-label] li", has_text=url)


def press(page: Page, url: str, name: str) -> None:
    button = address(page, url).get_by_role("button", name=name)
    button.focus()
    page.keyboard.press("Enter")
    page.wait_for_load_state()
