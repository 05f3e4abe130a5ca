"""Calls of REST routes, carried out by the tools that stand for them."""

import re
from typing import Any

from mcp_types import CallToolResult

from tests.api.mcp.conftest import Host, refused

PATHS = (
    ("POST", r"/drafts", "create_form_draft"),
    ("PATCH", r"/drafts/(?P<draftId>.+)", "update_form_draft"),
    ("GET", r"/drafts/(?P<draftId>.+)", "get_form_draft"),
    ("POST", r"/drafts/(?P<draftId>.+)/publish", "publish_form_draft"),
    ("GET", r"/forms", "list_forms"),
    ("GET", r"/forms/(?P<formId>[^/]+)", "get_form"),
    ("GET", r"/forms/(?P<formId>.+)/responses", "get_form_responses"),
    ("GET", r"/forms/(?P<formId>.+)/attachments/(?P<attachmentId>.+)", "get_attachment"),
    ("POST", r"/forms/(?P<formId>.+)/agent-tokens", "create_agent_token"),
)
QUERY = {"wait": "timeoutSeconds", "since": "since"}
TAKE_FIELDS = {"create_form_draft", "update_form_draft", "create_agent_token"}


class Refused:
    """A refusal as an answer of REST; `json` is None where the call was carried out."""

    def __init__(self, result: CallToolResult) -> None:
        self.json = refused(result) if result.is_error else None


class AgentByTools:
    """As the agent of REST, for what has a tool."""

    def __init__(self, host: Host) -> None:
        self.host = host
        self.app = host.app

    def call(self, method: str, path: str, **request: Any) -> Any:
        tool, arguments = tool_of(method, path)
        if tool in TAKE_FIELDS:
            arguments |= request.get("json", {})
        if "data" in request:  # too much of it
            arguments |= {"goal": "", "questions": [request["data"].decode()]}
        return Refused(self.host.use(tool, **arguments))

    def patch(self, path: str, **request: Any) -> Any:
        return self.call("PATCH", path, **request)

    def post(self, path: str, **request: Any) -> Any:
        return self.call("POST", path, **request)


def tool_of(method: str, path: str) -> tuple[str, dict[str, Any]]:
    """The tool of a call, and its arguments that stand in the path or the query."""
    path, _, query = path.partition("?")
    for known, pattern, tool in PATHS:
        if known == method and (found := re.fullmatch(pattern, path)):
            name, _, value = query.partition("=")
            given = {QUERY[name]: value} if query else {}
            return tool, found.groupdict() | given
    raise AssertionError(f"there is no tool for {method} {path}")
