"""Which tokens open the endpoint, for every method and every tool, and how the others are asked."""

from collections.abc import Callable
from itertools import product
from typing import Any

import pytest
from werkzeug.test import TestResponse

from api.mcp.endpoint import METHODS
from api.mcp.tools.table import TOOLS
from tests.api.mcp.conftest import ALL_SCOPES, LEGACY, MODERN, Host, Hosted
from tests.oauth.test_token_use import every_end
from webapp.base.config import Settings
from webapp.base.database import db, utc_now
from webapp.base.vocabulary import Scope
from webapp.oauth.tokens import issue_token

METADATA = 'resource_metadata="http://127.0.0.1:8000/.well-known/oauth-protected-resource/mcp/app"'
ALL = 'scope="forms:read forms:write responses:read"'
EVERYTHING = [
    *((method, {}) for method in sorted(METHODS) if method != "tools/call"),
    *(("tools/call", {"name": name, "arguments": {}}) for name in sorted(TOOLS)),
    ("nothing", {}),
]


def challenges(host: Host) -> set[str]:
    """The challenges of every method and every tool, which are refused."""
    return {challenge(host.send(method, params)) for method, params in EVERYTHING}


def challenge(answer: TestResponse, status: int = 401) -> str:
    assert answer.status_code == status, answer.text
    assert answer.json["error"]["code"] == -32600
    assert answer.json["id"] == (None if status == 401 else 7)
    found: str = answer.headers["WWW-Authenticate"]
    assert "offline_access" not in found
    return found


def test_without_a_token_the_challenge_names_all_scopes(host: Host) -> None:
    answer = host.app.test_client().post("/mcp/app", json={})

    assert challenge(answer) == f"Bearer {METADATA}, {ALL}"


def test_a_token_in_the_address_is_never_accepted(host: Host) -> None:
    headers = {"Authorization": f"Bearer {host.token}"}
    for sent, name in product(({}, headers), ("access_token", "token")):
        answer = host.app.test_client().post(f"/mcp/app?{name}={host.token}", headers=sent)
        assert "invalid_request" in challenge(answer)


@every_end
def test_a_dead_token_opens_nothing(host: Host, statement: Callable[..., Any]) -> None:
    with host.app.app_context():
        db.session.execute(statement(utc_now()))
        db.session.commit()

    (found,) = challenges(host)

    assert found.startswith('Bearer error="invalid_token", error_description="')
    assert found.endswith(f"{METADATA}, {ALL}")


UNKNOWN = ["garbage", "askat_" + "x" * 43, "askag_" + "x" * 43, "", "\xff"]


def test_an_unknown_token_or_one_for_the_api_opens_nothing(
    settings: Settings, host: Host, account: Any
) -> None:
    of_mcp = host.token
    with host.app.app_context():
        of_api = issue_token(account.id, list(Scope), settings.api_url, now=utc_now())
    for host.token in (*UNKNOWN, of_api):
        (found,) = challenges(host)
        assert 'error="invalid_token"' in found

    headers = {"Authorization": f"Bearer {of_mcp}"}
    assert host.app.test_client().get("/api/forms", headers=headers).status_code == 401


@pytest.mark.parametrize("name", sorted(TOOLS))
def test_a_tool_asks_for_its_scope_and_those_held_before_it_reads_arguments(
    hosted: Hosted, account: Any, version: str, name: str
) -> None:
    needed = TOOLS[name].scope
    host = hosted(account.id, {*ALL_SCOPES} - {needed}, version)

    found = challenge(host.send("tools/call", {"name": name, "arguments": {"a": 1}}), 403)

    assert found == (
        'Bearer error="insufficient_scope", '
        f'error_description="This access token lacks the permission {needed}.", '
        f"{METADATA}, {ALL}"
    )
    assert hosted(account.id, [needed], version).use(name, a=1).is_error


def test_an_unknown_tool_is_no_matter_of_scopes(hosted: Hosted, account: Any, version: str) -> None:
    answer = hosted(account.id, [], version).send("tools/call", {"name": "nothing"})

    assert answer.status_code == (400 if version == MODERN else 200)
    assert answer.json["error"]["code"] == -32602


@pytest.mark.parametrize("method", sorted(METHODS.keys() - {"tools/call"}))
def test_events_need_a_scope_and_other_methods_a_token_only(
    hosted: Hosted, account: Any, version: str, method: str
) -> None:
    answer = hosted(account.id, [], version).send(method)

    if method.startswith("events/"):
        assert challenge(answer, 403).endswith('scope="responses:read"')
    else:
        known = METHODS[method].modern in (None, version == MODERN)
        assert answer.status_code == (200 if known or version == LEGACY else 404)
