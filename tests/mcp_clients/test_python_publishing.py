"""How a host of the official Python client gets a form published: consent, step-up, elicitation."""

import asyncio
from typing import Literal

import pytest
from mcp.client.session import ClientRequestContext
from mcp_types import ElicitRequestParams, ElicitRequestURLParams, ElicitResult

from tests.mcp_clients.conftest import Place
from tests.mcp_clients.people import Creator
from tests.mcp_clients.python_client import Consent, connected, refused, use

QUESTIONS = ["Who changed the rota?", "What went wrong?"]


def test_a_client_that_opens_addresses_publishes_in_one_call(
    place: Place, creator: Creator, token: str
) -> None:
    shown: list[ElicitRequestParams] = []
    opened: list[asyncio.Task[None]] = []

    async def open_address(
        _context: ClientRequestContext, params: ElicitRequestParams
    ) -> ElicitResult:
        shown.append(params)
        assert isinstance(params, ElicitRequestURLParams)
        reviewed = asyncio.to_thread(creator.confirm, params.url)  # the host does not wait for it
        opened.append(asyncio.create_task(reviewed))
        return ElicitResult(action="accept")

    async def work() -> None:
        async with connected(place.mcp_url, token, elicitation_callback=open_address) as client:
            draft = await use(client, "create_form_draft", title="Rota", questions=QUESTIONS)
            form = await use(client, "publish_form_draft", draftId=draft["draftId"])
            assert form["idempotent"] is False
            (asked,) = shown
            assert isinstance(asked, ElicitRequestURLParams)
            assert asked.url == draft["reviewUrl"]

    asyncio.run(work())


@pytest.mark.parametrize("action", ["decline", "cancel"])
def test_a_client_whose_creator_does_not_open_the_page_is_refused(
    place: Place, token: str, action: Literal["decline", "cancel"]
) -> None:
    async def go_on(_context: ClientRequestContext, _params: ElicitRequestParams) -> ElicitResult:
        return ElicitResult(action=action)

    async def work() -> None:
        async with connected(place.mcp_url, token, elicitation_callback=go_on) as client:
            draft = await use(client, "create_form_draft", title="Rota", questions=QUESTIONS)
            found = await refused(client, "publish_form_draft", draftId=draft["draftId"])
            assert found["code"] == "draft_not_confirmed"
            assert "do not ask again by yourself" in found["resolution"]

    asyncio.run(work())


def test_a_token_that_only_reads_forms_steps_up(place: Place, creator: Creator, mode: str) -> None:
    before = creator.consents
    consent = Consent(creator, may=[["forms:read"]])

    async def work() -> None:
        async with connected(place.mcp_url, consent, mode) as client:
            await use(client, "list_forms")
            assert "forms:write" not in consent.memory.scopes
            assert creator.consents == before + 1
            draft = await use(client, "create_form_draft", title="Rota", questions=QUESTIONS)
            assert draft["draftId"].startswith("drf_")

    asyncio.run(work())

    assert creator.consents == before + 2
    assert {"forms:read", "forms:write"} <= consent.memory.scopes
