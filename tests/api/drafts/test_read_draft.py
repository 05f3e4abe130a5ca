"""getServiceDraft, the extension that returns a draft and its confirmation"""

import time
from collections.abc import Callable
from contextlib import ExitStack
from datetime import datetime
from functools import partial

import pytest
from werkzeug.test import TestResponse

from api import drafts
from tests.api.conftest import Agent, Confirm, Connect, refusal
from tests.api.waiting import (
    SOON_SECONDS,
    at_once,
    crowd_waiting,
    while_waiting,
)
from tests.databases import both_databases
from tests.factories import make_account
from webapp.answers import trash
from webapp.base.database import utc_now
from webapp.oauth import connections
from webapp.oauth.account_deletion import delete_account
from webapp.records.accounts.models import Account, disable_account
from webapp.web import wakeups


def test_a_draft_is_returned(agent: Agent, draft_id: str) -> None:
    response = agent.get(f"/drafts/{draft_id}")

    assert response.status_code == 200
    assert response.json["questions"][0]["text"] == "Who changed it?"
    assert response.headers["ETag"] == '"1"'
    assert response.headers["Askback-Confirmation"] == "none"


def test_a_confirmed_draft_has_a_current_confirmation(
    agent: Agent, draft_id: str, confirm: Confirm
) -> None:
    confirm(draft_id)

    assert agent.get(f"/drafts/{draft_id}").headers["Askback-Confirmation"] == "current"


def test_a_change_makes_the_confirmation_stale(
    agent: Agent, draft_id: str, confirm: Confirm
) -> None:
    confirm(draft_id)
    agent.patch(f"/drafts/{draft_id}", json={"title": "New"})

    assert agent.get(f"/drafts/{draft_id}").headers["Askback-Confirmation"] == "stale"


def test_a_published_draft_carries_its_form(agent: Agent, draft_id: str, confirm: Confirm) -> None:
    confirm(draft_id)
    published = agent.post(f"/drafts/{draft_id}/publish").json

    body = agent.get(f"/drafts/{draft_id}").json

    assert body["status"] == "published"
    assert (body["publishedFormId"], body["shareUrl"]) == (
        published["formId"],
        published["shareUrl"],
    )


@pytest.mark.parametrize("wait", ["-1", "26", "1.5", "x", "", "1e1", "²", "0" * 5000])
def test_a_wrong_wait_is_refused(wait: str, agent: Agent, draft_id: str) -> None:
    response = agent.get(f"/drafts/{draft_id}", query_string={"wait": wait})

    assert refusal(response) == (400, "validation_failed")
    assert response.json["message"].startswith("wait: ")


def test_a_wait_ends_after_its_time(agent: Agent, draft_id: str) -> None:
    started = time.monotonic()

    response = agent.get(f"/drafts/{draft_id}?wait=1")

    assert response.headers["Askback-Confirmation"] == "none"
    assert 0.9 < time.monotonic() - started < SOON_SECONDS


def test_a_wait_for_a_confirmed_draft_returns_at_once(
    agent: Agent, draft_id: str, confirm: Confirm
) -> None:
    confirm(draft_id)

    answer = at_once(partial(agent.get, f"/drafts/{draft_id}?wait=25"))

    assert answer.headers["Askback-Confirmation"] == "current"


def answer_to_wait(agent: Agent, draft_id: str, happens: Callable[[], object]) -> TestResponse:
    """The answer of a wait that began before the event."""
    wait = partial(agent.get, f"/drafts/{draft_id}?wait=25")
    return while_waiting(agent.app, wait, happens)


@pytest.mark.usefixtures("frequent_looks")
def test_a_confirmation_ends_a_wait(agent: Agent, draft_id: str, confirm: Confirm) -> None:
    answer = answer_to_wait(agent, draft_id, lambda: confirm(draft_id))

    assert answer.headers["Askback-Confirmation"] == "current"


def test_a_change_by_an_agent_ends_a_wait_at_once(
    agent: Agent, draft_id: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(wakeups, "LOOK_SECONDS", 60)  # so that only the wake-up can end it in time

    def change() -> None:
        agent.patch(f"/drafts/{draft_id}", json={"title": "New"})

    assert answer_to_wait(agent, draft_id, change).json["title"] == "New"


@pytest.mark.settings(publish_confirmation="agent")
def test_a_publish_by_an_agent_ends_a_wait_at_once(
    agent: Agent, draft_id: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(wakeups, "LOOK_SECONDS", 60)  # so that only the wake-up can end it in time

    def publish() -> None:
        agent.post(f"/drafts/{draft_id}/publish")

    assert answer_to_wait(agent, draft_id, publish).json["status"] == "published"


@pytest.mark.usefixtures("frequent_looks")
def test_a_discarded_draft_ends_a_wait(agent: Agent, draft_id: str, account: Account) -> None:
    def discard() -> None:
        with agent.app.app_context():
            trash.discard_draft(account.id, draft_id, now=utc_now())

    assert refusal(answer_to_wait(agent, draft_id, discard)) == (404, "draft_not_found")


@pytest.mark.usefixtures("frequent_looks")
@pytest.mark.parametrize(
    "end",
    [
        lambda account, now: disable_account(account.id, now=now),
        lambda account, now: connections.disconnect_all(account.id, now=now),
        lambda account, now: delete_account(account.id, now=now),
    ],
    ids=["switched off", "disconnected", "deleted"],
)
@both_databases
def test_a_wait_whose_token_ends_is_answered_as_a_new_request(
    agent: Agent, draft_id: str, account: Account, end: Callable[[Account, datetime], None]
) -> None:
    def happens() -> None:
        with agent.app.app_context():
            end(account, utc_now())

    answer = answer_to_wait(agent, draft_id, happens)
    new = agent.get(f"/drafts/{draft_id}")

    assert refusal(answer) == refusal(new) == (401, "authentication_required")
    assert answer.headers["WWW-Authenticate"] == new.headers["WWW-Authenticate"]


def test_a_token_that_ends_during_the_last_look_is_told_nothing(
    agent: Agent, draft_id: str, account: Account, monkeypatch: pytest.MonkeyPatch
) -> None:
    release = drafts.release_connections

    def ends() -> None:
        release()
        with agent.app.app_context():
            connections.disconnect_all(account.id, now=utc_now())

    def change() -> None:
        monkeypatch.setattr(drafts, "release_connections", ends)
        agent.patch(f"/drafts/{draft_id}", json={"title": "New"})

    assert refusal(answer_to_wait(agent, draft_id, change)) == (401, "authentication_required")


def test_waits_hold_no_database_connection(
    agent: Agent, draft_id: str, confirm: Confirm, monkeypatch: pytest.MonkeyPatch
) -> None:
    answers = crowd_waiting(
        agent.app,
        lambda _number: agent.get(f"/drafts/{draft_id}?wait=25"),
        lambda: confirm(draft_id),
        monkeypatch,
    )

    assert {answer.headers["Askback-Confirmation"] for answer in answers} == {"current"}


def test_a_wait_beyond_those_of_its_account_is_answered_at_once(
    agent: Agent, connect: Connect, draft_id: str, account: Account
) -> None:
    with agent.app.app_context():
        other = connect(make_account().id)
    others_draft = other.post("/drafts", json={}).json["draftId"]
    with ExitStack() as taken:
        for _ in range(wakeups.OF_ACCOUNT):
            taken.enter_context(agent.app.extensions["wakeups"].slot(account.id))
        refused = at_once(partial(agent.get, f"/drafts/{draft_id}?wait=25"))
        taken_by_other = other.get(f"/drafts/{others_draft}?wait=1")

    assert (refused.status_code, refused.headers["Retry-After"]) == (200, "2")
    assert refused.json["draftId"] == draft_id
    assert "Retry-After" not in taken_by_other.headers
