"""The official Python client, as a host of somebody's account."""

import json
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from dataclasses import dataclass, field
from typing import Any

import httpx2
from mcp.client.client import Client
from mcp.client.streamable_http import streamable_http_client
from mcp_types import CallToolResult, TextContent

from tests.mcp_clients.people import Creator
from tests.oauth.clients.official import Storage, official_provider

WAITS = httpx2.Timeout(40)  # longer than any tool waits
ERAS = {"auto": "2026-07-28", "legacy": "2025-11-25"}


@dataclass
class Consent:
    """The creator's browser, to which the client sends for its tokens.

    may  the boxes that stay ticked at each consent, in turn; then all that is asked for
    """

    creator: Creator
    memory: Storage = field(default_factory=Storage)
    may: list[list[str]] = field(default_factory=list)

    def allow(self, address: str) -> str:
        ticked = {"may": self.may.pop(0)} if self.may else {}
        return self.creator.allow(address, **ticked)


@asynccontextmanager
async def connected(
    mcp_url: str, credentials: str | Consent, mode: str = "auto", **options: Any
) -> AsyncIterator[Client]:
    """A connected client.

    credentials  an access token, or how to get one
    mode         `auto` is the newest protocol, `legacy` the handshake
    """
    if isinstance(credentials, str):
        request: dict[str, Any] = {"headers": {"Authorization": f"Bearer {credentials}"}}
    else:
        memory, allow = credentials.memory, credentials.allow
        request = {"auth": official_provider(mcp_url, memory, allow, method="none")}
    async with httpx2.AsyncClient(trust_env=False, timeout=WAITS, **request) as http:
        transport = streamable_http_client(mcp_url, http_client=http)
        async with Client(transport, mode=mode, **options) as client:
            assert client.protocol_version == ERAS[mode]
            yield client


async def use(client: Client, tool: str, **arguments: Any) -> dict[str, Any]:
    """The object of a tool's result, which is the same in its text and in its structure."""
    result = await client.call_tool(tool, arguments)
    assert not result.is_error, result.content
    structured: dict[str, Any] = result.structured_content or {}
    assert said(result) == structured
    return structured


async def refused(client: Client, tool: str, **arguments: Any) -> dict[str, str]:
    """The four fields of a refusal."""
    result = await client.call_tool(tool, arguments)
    assert result.is_error, result.structured_content
    assert result.structured_content is None
    fields: dict[str, str] = said(result)
    assert fields.keys() == {"error", "code", "message", "resolution"}
    return fields


def said(result: CallToolResult) -> Any:
    """The JSON in the text, which stands between two marks where it quotes respondents."""
    texts = [block.text for block in result.content if isinstance(block, TextContent)]
    assert len(texts) == len(result.content)
    assert len(texts) in {1, 3}, texts
    return json.loads(texts[len(texts) // 2])


async def read_whole(client: Client, form_id: str, response_id: str) -> dict[str, str]:
    """The answers of a completed response by question, put together from all their fragments."""
    pieces: list[dict[str, Any]] = []
    cursor: str | None = None
    while True:
        given = {"cursor": cursor} if cursor else {}
        key = {"formId": form_id, "responseId": response_id}
        page = await use(client, "get_completed_response", **key, **given)
        pieces += page["exchanges"]
        cursor = page["nextCursor"]
        if cursor is None:
            break
    order = sorted({(piece["created_at"], piece["id"]) for piece in pieces})
    return {joined(pieces, key, "question"): joined(pieces, key, "answer") for _, key in order}


def joined(pieces: list[dict[str, Any]], key: str, part: str) -> str:
    """One text of an exchange: fragments by offset, each beginning where the last one ended."""
    text = ""
    own = [piece for piece in pieces if piece["id"] == key]
    for piece in sorted(
        own, key=lambda piece: (piece[f"{part}Offset"], bool(piece[f"{part}Text"]))
    ):
        if piece[f"{part}Text"]:
            assert piece[f"{part}Offset"] == len(text)
            text += piece[f"{part}Text"]
    return text
