"""Figures of the MCP endpoint: tools against the same by REST, discovery against a look-up."""

from collections.abc import Callable
from typing import Any

import orjson
import pytest
from flask import Flask

from api.wire.types import wire_time
from tests.api.mcp.conftest import META, MODERN
from tests.bench.conftest import Bench
from tests.bench.figures import Requests, Side, compare
from tests.bench.load import request
from tests.bench.test_reads import new_since, stored_form
from tests.bench.work import Work
from tests.databases import both_databases
from webapp.base.config import Settings
from webapp.base.database import utc_now
from webapp.base.vocabulary import Scope
from webapp.oauth.tokens import issue_token
from webapp.records.forms import get_form

pytestmark = [pytest.mark.bench, both_databases]


def test_tools_and_discovery(app: Flask, bench: Bench, settings: Settings) -> None:
    work = bench.work
    with app.app_context():
        scopes = [Scope.FORMS_READ, Scope.RESPONSES_READ]
        token = issue_token(work.account_id, scopes, settings.mcp_url, now=utc_now())
    host = Work(app, work.account_id, token)
    form_id = stored_form(app, work, 10_000)
    with app.app_context():
        since = wire_time(get_form(work.account_id, form_id).last_stamp - 11)
    ten = new_since(app, work, form_id, 11)
    for tool, goal, path, by_tool in (
        (
            "get_form",
            "≥ 75 %",
            f"/api/forms/{form_id}",
            called(host, "get_form", formId=form_id),
        ),
        (
            "get_form_responses, 10 new",
            "≥ 65 %",
            ten,
            called(host, "get_form_responses", formId=form_id, since=since),
        ),
    ):
        pair = compare(Side(bench.askback, work.get(path)), Side(bench.askback, by_tool))
        bench.table.add_pair(f"tools/call {tool}", pair, f"{goal} of REST")
    discovered = host.repeated(sent(host, "server/discover"), 60)
    bench.add("server/discover", "≥ 70 %", work.look_ups(), discovered)


def called(host: Work, tool: str, **arguments: Any) -> Callable[[], Requests]:
    one = sent(host, "tools/call", {"name": tool, "arguments": arguments}, f"Mcp-Name: {tool}")
    return host.repeated(one, 60)


def sent(host: Work, method: str, params: dict[str, Any] | None = None, *headers: str) -> bytes:
    """A request as a host of the modern era sends it."""
    meta = {
        f"{META}protocolVersion": MODERN,
        f"{META}clientInfo": {"name": "bench", "version": "1"},
        f"{META}clientCapabilities": {},
    }
    message = {"jsonrpc": "2.0", "id": 7, "method": method, "params": {"_meta": meta}}
    message["params"] |= params or {}  # type: ignore[operator]
    headers += (
        host.bearer,
        "Content-Type: application/json",
        "Accept: application/json, text/event-stream",
        f"MCP-Protocol-Version: {MODERN}",
        f"Mcp-Method: {method}",
    )
    return request("POST", "/mcp/app", *headers, body=orjson.dumps(message))
