"""The whole job by tools alone, with two hosts on one account and one of somebody else."""

import asyncio
from collections import Counter
from collections.abc import AsyncIterator
from contextlib import AsyncExitStack, asynccontextmanager
from typing import Any, NamedTuple

import pytest
from mcp.client.client import Client

from tests.mcp_clients.conftest import Place
from tests.mcp_clients.people import Creator, respond
from tests.mcp_clients.python_client import Consent, connected, refused, use

BOB = "bob@example.com"
PEOPLE = 12


class Hosts(NamedTuple):
    """Two of Ann's in different eras, one of Bob's."""

    first: Client
    second: Client
    foreign: Client


@pytest.fixture(scope="module")
def bob(place: Place) -> Creator:
    place.join(BOB)
    return place.creator(BOB)


@asynccontextmanager
async def hosts(place: Place, ann: Creator, bob: Creator) -> AsyncIterator[Hosts]:
    async with AsyncExitStack() as stack:
        enter = stack.enter_async_context
        yield Hosts(
            await enter(connected(place.mcp_url, Consent(ann), "auto")),
            await enter(connected(place.mcp_url, Consent(ann), "legacy")),
            await enter(connected(place.mcp_url, Consent(bob))),
        )


def test_each_sees_each_answer_once_and_strangers_nothing(
    place: Place, creator: Creator, bob: Creator
) -> None:
    async def work() -> None:
        async with hosts(place, creator, bob) as connections:
            first, second, foreign = connections
            draft = await use(first, "create_form_draft", title="Rota", questions=["Who?", "Why?"])
            await asyncio.to_thread(creator.confirm, draft["reviewUrl"])
            form = await use(second, "publish_form_draft", draftId=draft["draftId"])
            following = [asyncio.create_task(follow(host, form)) for host in (first, second)]
            await everybody_answers(form)
            for host in following:
                answers, completed = await host
                assert answers == Counter(words())
                assert completed == set(range(PEOPLE))
            await assert_hidden(foreign, draft, form)

    asyncio.run(work())


def words() -> list[str]:
    return [f"{question} of {number}" for number in range(PEOPLE) for question in ("who", "why")]


async def everybody_answers(form: dict[str, Any]) -> None:
    """Four at a time."""
    numbers = iter(range(PEOPLE))

    async def some() -> None:
        for number in numbers:
            given = (f"who of {number}", f"why of {number}")
            await asyncio.to_thread(respond, form["shareUrl"], *given, name=str(number))

    await asyncio.gather(*(some() for _ in range(4)))


async def follow(host: Client, form: dict[str, Any]) -> tuple[Counter[str], set[int]]:
    """Wait, read what is new, go on from there; how often each answer came, and who completed.

    Who completes between an answer and its reading is completed there already, and once more later.
    """
    key = {"formId": form["formId"]}
    answers: Counter[str] = Counter()
    completed: set[int] = set()
    since: dict[str, str] = {}
    while len(completed) < PEOPLE:
        await use(host, "wait_for_form_responses", **key, **since, timeoutSeconds=20)
        page = await use(host, "get_form_responses", **key, **since)
        for session in page["responses"]:
            answers.update(answer["answerText"] for answer in session["answers"])
            if session["status"] == "completed":
                completed.add(int(session["responderName"]))
        since = {"since": page["nextSince"]} if page["nextSince"] else {}
    return answers, completed


async def assert_hidden(foreign: Client, draft: dict[str, Any], form: dict[str, Any]) -> None:
    """Whatever the other account asks of them, neither draft nor form is there."""
    assert await use(foreign, "list_forms") == {"formCount": 0, "forms": []}
    key = {"formId": form["formId"]}
    for tool in ("get_form", "get_form_responses", "wait_for_form_responses", "watch_ask"):
        assert (await refused(foreign, tool, **key))["code"] == "form_not_found"
    response = {**key, "responseId": "ses_1"}
    assert (await refused(foreign, "get_completed_response", **response))["code"] in {
        "form_not_found",
        "not_found",
    }
    assert (await refused(foreign, "create_agent_token", **key))["code"] == "form_not_found"
    for tool in ("get_form_draft", "publish_form_draft", "update_form_draft"):
        found = await refused(foreign, tool, draftId=draft["draftId"])
        assert found["code"] == "draft_not_found"
