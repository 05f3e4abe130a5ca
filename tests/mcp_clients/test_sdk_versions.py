"""The official SDKs of two years: each signs in by its own OAuth, with consent in a browser."""

import json
import sys
from collections.abc import Iterator
from contextlib import AbstractContextManager
from datetime import datetime, timedelta
from pathlib import Path
from typing import Any
from urllib.parse import urlsplit

import pytest
from playwright.sync_api import Browser, Page

from tests.browsing import new_profile, window
from tests.command import environment
from tests.journey.agent import callback
from tests.journey.people import press
from tests.mcp_clients.mcp_remote import Proxied, mcp_remote
from tests.mcp_clients.node_host import NodeHost, commanded, node_host
from tests.mcp_clients.people import respond
from tests.oauth.flow import EMAIL, PASSWORD
from tests.oauth.live import installation
from tests.programs import locked_packages
from tests.services import free_port
from webapp.base import database
from webapp.base.config import Settings
from webapp.web.limiter import limiter

HERE = Path(__file__).parent
QUESTION = "Who changed the rota?"
ANSWER = "Nobody knows."
NAME = "Shift planner"
MINUTES = 70  # longer than an access token lasts
TYPESCRIPT = ["1.12.3", "1.17.5", "1.20.2", "1.24.3", "1.32.2", "2.4.0"]
PYTHON = ["1.9.4", "1.12.4", "1.16.0", "1.23.3", "2.3.0"]
LATEST = "python 2.3.0"  # is in requirements-test.lock
SDKS = [
    *(f"typescript {version}" for version in TYPESCRIPT),
    *(f"python {version}" for version in PYTHON),
    "ai 2.0.99",
]
REMEDY = "Run this test once where pip reaches an index: the folder build keeps it."
OFTEN = ("typescript 1.12.3", "typescript 2.4.0", "python 1.9.4", LATEST)
# SDKs compare what documents say with the address that they were given
OWN, ANOTHER = "http://127.0.0.1:{port}/mcp/app", "http://localhost:{port}/mcp/app/"
# of the host; without them the SDK finds its own, or none
SCOPES = "forms:read forms:write responses:read"
SELDOM = [
    *((sdk, OWN, "") for sdk in SDKS if sdk not in OFTEN),
    *((sdk, ANOTHER, "") for sdk in (*OFTEN, "typescript 1.17.5")),
    *((sdk, OWN, SCOPES) for sdk in ("typescript 1.12.3", "python 1.9.4", "python 1.16.0")),
]

Host = NodeHost | Proxied


@pytest.fixture
def origin(settings: Settings, tmp_path: Path) -> Iterator[str]:
    own = settings.model_copy(update={"database_url": f"sqlite:///{tmp_path}/sdks.sqlite3"})
    with installation(own) as running:
        limiter.reset()
        yield running.origin


@pytest.mark.parametrize(
    ("sdk", "address", "scope"),
    [
        *((sdk, OWN, "") for sdk in OFTEN),
        *(pytest.param(*case, marks=pytest.mark.slow) for case in SELDOM),
    ],
)
def test_it_signs_in_asks_and_stays_connected(
    sdk: str,
    address: str,
    scope: str,
    origin: str,
    browser: Browser,
    request: pytest.FixtureRequest,
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    url = address.format(port=urlsplit(origin).port)
    with (
        callback() as back,
        started(sdk, request, url, NAME, back, scope) as host,
        window(browser, origin, others=[back, url.partition("/mcp")[0]]) as page,
    ):
        use_all(host, page, back, monkeypatch)


@pytest.mark.slow
def test_a_proxy_does_so_for_a_host_without_oauth(
    origin: str,
    browser: Browser,
    node: Path,
    node_packages: Path,
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    page = new_profile(browser, origin).new_page()  # which the proxy's own page may complain to
    port = free_port()
    with mcp_remote(node, node_packages, tmp_path, f"{origin}/mcp/app", port, NAME) as host:
        use_all(host, page, f"http://localhost:{port}/oauth/callback", monkeypatch)


def use_all(host: Host, page: Page, back: str, monkeypatch: pytest.MonkeyPatch) -> None:
    """Sign in, get a form published, read an answer, and once more when the token has expired."""
    host.do("come_back", address=allow(page, host.do("sign_in"), back))
    assert "publish_form_draft" in host.do("tools")

    draft = use(host, "create_form_draft", title="Rota", questions=[QUESTION])
    refusal = use(host, "publish_form_draft", draftId=draft["draftId"])
    assert refusal["code"] == "draft_not_confirmed"
    page.goto(draft["reviewUrl"])
    press(page, "Approve")
    page.wait_for_url(draft["reviewUrl"])
    form = use(host, "publish_form_draft", draftId=draft["draftId"])
    respond(form["shareUrl"], ANSWER)
    assert ANSWER in json.dumps(use(host, "get_form_responses", formId=form["formId"]))

    token = host.do("token")
    monkeypatch.setattr(database, "datetime", later(MINUTES))
    host.do("later", seconds=MINUTES * 60)
    assert ANSWER in json.dumps(use(host, "get_form_responses", formId=form["formId"]))
    assert host.do("token") != token
    assert host.do("consents") == 1


def started(
    sdk: str, request: pytest.FixtureRequest, url: str, *arguments: str
) -> AbstractContextManager[NodeHost]:
    """The host, with the packages of that version installed."""
    family, version = sdk.split()
    if family != "python":
        node, packages = map(request.getfixturevalue, ("node", "node_packages"))
        return node_host(node, packages, "signing_in.mjs", url, family, version, *arguments)
    path = {}
    if sdk != LATEST:
        lock = HERE / "python_sdks" / f"mcp-{version}.lock"
        path["PYTHONPATH"] = str(locked_packages(lock, REMEDY))
    program = [sys.executable, HERE / "signing_in.py", url, version, *arguments]
    return commanded(program, env=environment(path))


def allow(page: Page, address: str, back: str) -> str:
    """Where the browser comes back to, once its creator has signed in and allowed all of it."""
    page.goto(address)
    page.get_by_label("E-mail").fill(EMAIL)
    page.get_by_label("Password").fill(PASSWORD)
    press(page, "Sign in")
    page.get_by_label("Stay connected").check()
    page.get_by_role("button", name="Allow", exact=True).click()
    page.wait_for_url(f"{back}?*")
    return page.url


def use(host: Host, tool: str, **given: object) -> dict[str, Any]:
    """What a tool says, between the two marks where it quotes respondents."""
    texts = [block["text"] for block in host.do("use", tool=tool, given=given)["content"]]
    said: dict[str, Any] = json.loads(texts[len(texts) // 2])
    return said


def later(minutes: int) -> type[datetime]:
    """A clock for the server."""

    class Later(datetime):
        @classmethod
        def now(cls, tz: Any = None) -> datetime:
            return datetime.now(tz) + timedelta(minutes=minutes)

    return Later
