"""Write limits of accounts and tokens"""

from concurrent.futures import ThreadPoolExecutor

import pytest

from tests.api.conftest import Agent, Confirm, Connect
from tests.factories import make_account
from webapp.records.accounts.models import Account
from webapp.web.limiter import limiter

limits = pytest.mark.settings


def create(agent: Agent, times: int) -> list[int]:
    return [agent.post("/drafts", json={}).status_code for _ in range(times)]


def make_draft(agent: Agent, confirm: Confirm | None = None) -> str:
    made: str = agent.post("/drafts", json={"title": "Rota", "questions": ["Who?"]}).json["draftId"]
    if confirm:
        confirm(made)
    return made


def publish(agent: Agent, draft_id: str) -> int:
    return agent.post(f"/drafts/{draft_id}/publish").status_code


@limits(limit_publish="2/minute", limit_writes="9/minute")
def test_publishing_is_limited_and_too_early_or_again_uses_no_quota(
    agent: Agent, confirm: Confirm
) -> None:
    unconfirmed = make_draft(agent)
    limiter.reset()
    too_early = [publish(agent, unconfirmed) for _ in range(9)]
    first, *others = [make_draft(agent, confirm) for _ in range(3)]
    again = [publish(agent, first) for _ in range(9)]

    assert (too_early, again) == ([409] * 9, [200] * 9)
    assert [publish(agent, draft_id) for draft_id in others] == [200, 429]


@pytest.mark.constants("api.rate_limits", UPDATES_RATE="1/minute")
@limits(limit_create_draft="2/minute", limit_writes="3/minute")
def test_refused_writes_and_repeats_use_no_quota(agent: Agent, draft_id: str) -> None:
    limiter.reset()
    path, key = f"/drafts/{draft_id}", {"Idempotency-Key": "a"}
    refused = [
        agent.post("/drafts", json={"title": 1}),
        agent.post("/drafts", data="{"),
        agent.patch(path, json={"unknown": 1}),
        agent.patch("/drafts/drf_unknown", json={}),
        agent.patch(path, json={}, headers={"If-Match": '"7"'}),
    ]
    repeats = [agent.post("/drafts", json={}, headers=key).status_code for _ in range(4)]

    assert [answer.status_code for answer in refused] == [400, 400, 400, 404, 409]
    assert repeats == [201] * 4
    assert create(agent, 2) == [201, 429]
    assert [agent.patch(path, json={}).status_code for _ in range(2)] == [200, 429]


@limits(limit_publish="2/minute", limit_writes="2/minute")
def test_all_writes_of_a_token_count_together_and_a_refused_one_in_no_limit(
    agent: Agent, connect: Connect, account: Account, confirm: Confirm
) -> None:
    drafts = [make_draft(connect(account.id), confirm) for _ in range(3)]
    agent.patch(f"/drafts/{drafts[0]}", json={"goal": ""})

    first = [publish(agent, draft_id) for draft_id in (drafts[0], drafts[1], drafts[1])]
    second = [publish(connect(account.id), draft_id) for draft_id in drafts[1:]]

    assert first == [200, 429, 429]
    assert second == [200, 429]


@limits(limit_publish="10/minute")
def test_parallel_publishes_keep_to_the_limit(agent: Agent, confirm: Confirm) -> None:
    drafts = [make_draft(agent, confirm) for _ in range(20)]

    with ThreadPoolExecutor(20) as threads:
        answers = sorted(threads.map(lambda draft_id: publish(agent, draft_id), drafts))

    assert answers == [200] * 10 + [429] * 10


@limits(limit_create_draft="1/minute")
def test_the_limit_is_one_for_the_agents_of_an_account(
    agent: Agent, connect: Connect, account: Account
) -> None:
    with agent.app.app_context():
        stranger = connect(make_account().id)
    nobody = Agent(agent.app, "askat_" + "x" * 43)
    forwarded = {"X-Forwarded-For": "203.0.113.9"}
    callers = [nobody, nobody, agent, agent, connect(account.id), stranger]

    answers = [each.post("/drafts", json={}, headers=forwarded) for each in callers]

    assert [each.status_code for each in answers] == [401, 401, 201, 429, 429, 201]


@limits(limit_create_draft="1/minute", limit_writes="1/minute")
def test_reading_is_never_limited(agent: Agent, draft_id: str) -> None:
    paths = ["/forms", "/forms/x", "/forms/x/responses", f"/drafts/{draft_id}", "/openapi"]

    assert {agent.get(path).status_code for path in paths * 5} == {200, 404}
