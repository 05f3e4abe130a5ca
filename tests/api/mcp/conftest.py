"""A host of the account, which speaks to `/mcp/app` in either era. Its results are parsed by the
types of the official package.
"""

from collections.abc import Callable, Iterable
from typing import Any

import mcp_types
import orjson
import pytest
from flask import Flask
from jsonschema import Draft7Validator, Draft202012Validator
from mcp_types.methods import parse_server_result
from werkzeug.test import TestResponse

from api.mcp.tools.table import TOOLS
from webapp.base.config import Settings
from webapp.base.database import utc_now
from webapp.base.vocabulary import Scope
from webapp.oauth.tokens import issue_token
from webapp.records.accounts.models import Account

MODERN, LEGACY = "2026-07-28", "2025-11-25"
META = "io.modelcontextprotocol/"
ALL_SCOPES = (Scope.FORMS_READ, Scope.FORMS_WRITE, Scope.RESPONSES_READ)


class Host:
    def __init__(self, app: Flask, token: str, version: str = MODERN) -> None:
        self.app = app
        self.token = token
        self.version = version
        self.capabilities: dict[str, Any] = {}

    @property
    def is_modern(self) -> bool:
        return self.version == MODERN

    def post(self, body: Any, headers: dict[str, str] | None = None) -> TestResponse:
        sent = {"Authorization": f"Bearer {self.token}"} | (headers or {})
        return self.app.test_client(use_cookies=False).post("/mcp/app", json=body, headers=sent)

    def send(self, method: str, params: dict[str, Any] | None = None) -> TestResponse:
        params = dict(params or {})
        headers = {"MCP-Protocol-Version": self.version}
        if self.is_modern:
            headers |= {"Mcp-Method": method}
            if method == "tools/call":
                headers["Mcp-Name"] = str(params.get("name"))
            params["_meta"] = {
                f"{META}protocolVersion": self.version,
                f"{META}clientInfo": {"name": "test host", "version": "1"},
                f"{META}clientCapabilities": self.capabilities,
            }
        sent = {"jsonrpc": "2.0", "id": 7, "method": method, "params": params}
        answer = self.post(sent, headers)
        assert_readable(answer.get_json(), method, self.version)
        return answer

    def result(self, method: str, params: dict[str, Any] | None = None) -> dict[str, Any]:
        answer = self.send(method, params)
        assert answer.status_code == 200, answer.text
        assert answer.headers["Cache-Control"] == "private, no-store"
        body: dict[str, Any] = answer.get_json()
        assert body["id"] == 7, body
        assert "result" in body, body
        result: dict[str, Any] = body["result"]
        return result

    def use(self, tool: str, **arguments: Any) -> mcp_types.CallToolResult:
        found = self.result("tools/call", {"name": tool, "arguments": arguments})
        result = mcp_types.CallToolResult.model_validate(found)
        if not result.is_error:
            assert_described(tool, result)
        return result


def assert_readable(body: dict[str, Any], method: str, version: str) -> None:
    if "error" in body:
        mcp_types.JSONRPCError.model_validate(body)
        return
    mcp_types.JSONRPCResponse.model_validate(body)
    if not method.startswith("events/"):  # of an extension, which the package does not know
        parse_server_result(method, version, body["result"])


def assert_described(tool: str, result: mcp_types.CallToolResult) -> None:
    schema = closed(TOOLS[tool].listed(events=True)["outputSchema"])
    for validator in (Draft7Validator, Draft202012Validator):
        validator(schema).validate(result.structured_content)
    texts = [block.text for block in result.content if isinstance(block, mcp_types.TextContent)]
    said = texts[1] if TOOLS[tool].quotes else texts[0]
    assert len(texts) == (3 if TOOLS[tool].quotes else 1)
    assert orjson.loads(said) == result.structured_content


def closed(schema: Any) -> Any:
    if isinstance(schema, list):
        return [closed(each) for each in schema]
    if not isinstance(schema, dict):
        return schema
    inside = {name: closed(each) for name, each in schema.items()}
    return inside | ({"additionalProperties": False} if "properties" in schema else {})


def refused(result: mcp_types.CallToolResult) -> dict[str, str]:
    assert result.is_error
    assert result.structured_content is None
    (block,) = result.content
    assert isinstance(block, mcp_types.TextContent)
    fields: dict[str, str] = orjson.loads(block.text)
    assert fields.keys() == {"error", "code", "message", "resolution"}
    assert fields["error"] == fields["message"]
    return fields


Hosted = Callable[..., Host]


@pytest.fixture
def version() -> str:
    return MODERN


@pytest.fixture
def hosted(app: Flask, settings: Settings) -> Hosted:
    def connect(
        account_id: str, scopes: Iterable[Scope] = ALL_SCOPES, version: str = MODERN
    ) -> Host:
        with app.app_context():
            token = issue_token(account_id, scopes, settings.mcp_url, now=utc_now())
        return Host(app, token, version)

    return connect


@pytest.fixture
def host(hosted: Hosted, account: Account, version: str) -> Host:
    return hosted(account.id, version=version)
