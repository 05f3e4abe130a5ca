"""What answering costs: a host waits one second for discovery, then speaks the earlier era."""

from typing import Any

import pytest
from flask import Flask
from sqlalchemy.exc import OperationalError
from werkzeug.wrappers import Request

from tests.api.mcp.conftest import LEGACY, MODERN, Hosted
from tests.pages.creator_client import creator
from webapp.web.limiter import DecoratorLimiter

CHEAP = [
    (MODERN, "server/discover"),
    (MODERN, "tools/list"),
    (LEGACY, "initialize"),
    (LEGACY, "ping"),
    (LEGACY, "tools/list"),
]
cheap = pytest.mark.parametrize(("version", "method"), CHEAP)


@cheap
def test_no_cookie_is_read_and_no_limit_looked_up(
    hosted: Hosted, account: Any, monkeypatch: pytest.MonkeyPatch, version: str, method: str
) -> None:
    def never(*_given: Any, **_named: Any) -> None:
        raise AssertionError

    host = hosted(account.id, version=version)
    monkeypatch.setattr(DecoratorLimiter, "_check_request_limit", never)
    monkeypatch.setattr(Request, "cookies", property(never))

    host.result(method)


def test_a_browser_that_is_signed_in_has_no_token(app: Flask, account: Any) -> None:
    signed_in = creator(app, account)
    signed_in.page("/forms")

    answer = signed_in.client.post("/mcp/app", json={}, base_url="http://127.0.0.1:8000")

    assert answer.status_code == 401
    assert "Set-Cookie" not in answer.headers


class GivenUp(Exception):
    """PostgreSQL has ended one of two transactions that waited for each other."""

    sqlstate = "40P01"


@pytest.mark.parametrize("times", [1, 2])
def test_a_call_that_the_database_gave_up_is_run_again(
    hosted: Hosted, account: Any, version: str, times: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    host, left = hosted(account.id, version=version), [GivenUp()] * times

    def given_up(*_given: Any) -> list[Any]:
        if left:
            raise OperationalError("SELECT", {}, left.pop())
        return []

    monkeypatch.setattr("webapp.records.forms.list_forms", given_up)

    found = host.use("list_forms")

    assert not found.is_error
    assert found.structured_content == {"formCount": 0, "forms": []}
    assert not left


def test_a_call_without_the_storage_is_told_so(
    hosted: Hosted, account: Any, version: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    def away(*_given: Any) -> list[Any]:
        raise OperationalError("SELECT", {}, Exception("database is locked"))

    monkeypatch.setattr("webapp.records.forms.list_forms", away)

    answer = hosted(account.id, version=version).send("tools/call", {"name": "list_forms"})

    assert answer.status_code == 200
    assert (answer.json["id"], answer.json["error"]["code"]) == (7, -32603)
    assert answer.json["error"]["data"]["code"] == "storage_unavailable"
