"""The official Python client: from an address and nothing else to every tool, in both eras."""

import asyncio

import pytest
from mcp import MCPError

from tests.mcp_clients.conftest import ALL_SCOPES, Place
from tests.mcp_clients.people import Creator
from tests.mcp_clients.python_client import Consent, connected, use


def test_it_connects_with_nothing_but_the_address(
    place: Place, creator: Creator, mode: str
) -> None:
    before = creator.consents
    consent = Consent(creator)

    async def connect() -> None:
        async with connected(place.mcp_url, consent, mode) as client:
            assert client.instructions is not None
            assert client.server_info is not None
            assert client.server_info.name == "askback"
            found = await use(client, "list_forms")
            assert found["formCount"] == len(found["forms"])

    asyncio.run(connect())

    assert creator.consents == before + 1
    assert consent.memory.scopes == {*ALL_SCOPES.split(), "offline_access"}
    assert consent.memory.tokens is not None
    assert consent.memory.tokens.refresh_token is not None


def test_what_it_names_wrongly_is_an_error_of_the_protocol(
    place: Place, token: str, mode: str
) -> None:
    async def connect() -> None:
        async with connected(place.mcp_url, token, mode) as client:
            with pytest.raises(MCPError) as raised:
                await client.call_tool("order_pizza", {})
            assert raised.value.error.code == -32602
            with pytest.raises(MCPError) as raised:
                await client.list_prompts()
            assert raised.value.error.code == -32601

    asyncio.run(connect())
