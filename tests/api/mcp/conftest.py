"""A host of the account, which speaks to `/mcp/app` in either era. Its results are parsed by the
types of the official package.
"""

from collections.abc import Callable, Iterable
from typing import Any

import mcp_types
import pytest
from flask import Flask
from werkzeug.test import TestResponse

from webapp.config import Settings
from webapp.database import utc_now
from webapp.domain.shared.vocabulary import Scope
from webapp.oauth.tokens import issue_token

MODERN, LEGACY = "2026-07-28", "2025-11-25"
META = "io.modelcontextprotocol/"
ALL_SCOPES = (Scope.FORMS_READ, Scope.FORMS_WRITE, Scope.RESPONSES_READ)


class Host:
    """A connected host; `version` is the protocol it speaks."""

    def __init__(self, app: Flask, token: str, version: str = MODERN) -> None:
        self.app = app
        self.token = token
        self.version = version
        self.capabilities: dict[str, Any] = {}

    def post(self, body: Any, headers: dict[str, str] | None = None) -> TestResponse:
        """A body as it is."""
        sent = {"Authorization": f"Bearer {self.token}"} | (headers or {})
        return self.app.test_client(use_cookies=False).post("/mcp/app", json=body, headers=sent)

    def send(self, method: str, params: dict[str, Any] | None = None) -> TestResponse:
        """A request with what its era asks for."""
        params = dict(params or {})
        headers = {"MCP-Protocol-Version": self.version}
        if self.version == MODERN:
            headers |= {"Mcp-Method": method}
            if method == "tools/call":
                headers["Mcp-Name"] = str(params.get("name"))
            params["_meta"] = {
                f"{META}protocolVersion": self.version,
                f"{META}clientInfo": {"name": "test host", "version": "1"},
                f"{META}clientCapabilities": self.capabilities,
            }
        return self.post({"jsonrpc": "2.0", "id": 7, "method": method, "params": params}, headers)

    def result(self, method: str, params: dict[str, Any] | None = None) -> dict[str, Any]:
        """The result of a request that is answered."""
        answer = self.send(method, params)
        assert answer.status_code == 200, answer.text
        body: dict[str, Any] = answer.get_json()
        assert body["id"] == 7, body
        assert "result" in body, body
        result: dict[str, Any] = body["result"]
        return result

    def use(self, tool: str, **arguments: Any) -> mcp_types.CallToolResult:
        """The result of a tool, also where it is a refusal."""
        found = self.result("tools/call", {"name": tool, "arguments": arguments})
        return mcp_types.CallToolResult.model_validate(found)


Hosted = Callable[..., Host]


@pytest.fixture(params=[MODERN, LEGACY])
def version(request: pytest.FixtureRequest) -> str:
    """Both eras, one after the other."""
    found: str = request.param
    return found


@pytest.fixture
def hosted(app: Flask, settings: Settings) -> Hosted:
    """A new host of an account with these scopes."""

    def connect(
        account_id: str, scopes: Iterable[Scope] = ALL_SCOPES, version: str = MODERN
    ) -> Host:
        with app.app_context():
            token = issue_token(account_id, scopes, settings.mcp_url, now=utc_now())
        return Host(app, token, version)

    return connect
