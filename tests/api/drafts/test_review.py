"""getServiceDraftReview, the extension that says what the creator of a draft says of it"""

import time
from collections.abc import Callable
from contextlib import ExitStack
from functools import partial
from typing import Any

import pytest
from flask import Flask
from werkzeug.test import TestResponse

from tests.api.conftest import Agent, Confirm, refusal
from tests.api.waiting import SOON_SECONDS, at_once, while_waiting
from tests.databases import both_databases
from webapp.answers import trash
from webapp.base.database import utc_now
from webapp.drafts import editing, returns
from webapp.records.accounts.models import Account
from webapp.records.content.draft_input import parse_draft_input
from webapp.web import wakeups

NOTE = "Shorter,\nplease: “three” <b>at most</b>"

Says = Callable[..., None]


@pytest.fixture
def creator(app: Flask, account: Account) -> Says:
    """The creator of the account does something with a draft."""

    def says(what: str, draft_id: str, note: str | None = NOTE, **fields: Any) -> None:
        now, of = utc_now(), (account.id, draft_id)
        does: dict[str, Callable[[], object]] = {
            "return": lambda: returns.return_draft(
                *of, revision=1, note=note, now=now, question_notes=fields
            ),
            "keep": lambda: returns.keep_draft(*of, now=now),
            "discard": lambda: trash.discard_draft(*of, note=note, now=now),
            "change": lambda: editing.update_draft(
                *of, parse_draft_input(fields), author=None, now=now
            ),
        }
        with app.app_context():
            does[what]()

    return says


def review(agent: Agent, draft_id: str) -> Any:
    return agent.get(f"/drafts/{draft_id}/review").json


def said(agent: Agent, draft_id: str) -> tuple[str, str | None]:
    found = review(agent, draft_id)
    return found["state"], found["note"]


def test_a_review_is_returned(agent: Agent, draft_id: str) -> None:
    response = agent.get(f"/drafts/{draft_id}/review")

    assert response.json == {
        "draftId": draft_id,
        "revision": 1,
        "state": "waiting",
        "note": None,
        "reviewUrl": f"http://127.0.0.1:8000/drafts/{draft_id}",
        "changes": [],
    }
    assert response.headers["ETag"] == '"1"'
    assert f"/drafts/{draft_id}>" in response.headers["Link"]


@both_databases
def test_each_state_of_a_draft(
    agent: Agent, draft_id: str, creator: Says, confirm: Confirm
) -> None:
    found = [said(agent, draft_id)]
    for step in (
        partial(confirm, draft_id),
        partial(creator, "change", draft_id, title="Mine"),
        partial(agent.patch, f"/drafts/{draft_id}", json={"title": "Rota"}),
        partial(confirm, draft_id),
        partial(agent.post, f"/drafts/{draft_id}/publish"),
    ):
        step()
        found.append(said(agent, draft_id))

    states = ["waiting", "confirmed", "stale", "stale", "confirmed", "published"]
    assert found == [(state, None) for state in states]


@both_databases
def test_a_draft_that_was_sent_back_says_why(
    agent: Agent, draft_id: str, creator: Says, confirm: Confirm
) -> None:
    confirm(draft_id)
    creator("return", draft_id)

    assert said(agent, draft_id) == ("returned", NOTE)
    assert agent.get(f"/drafts/{draft_id}").headers["Askback-Confirmation"] == "returned"


@pytest.mark.parametrize("answer", ["the agent", "the creator"])
def test_it_waits_again_once_it_is_changed_or_kept(
    agent: Agent, draft_id: str, creator: Says, confirm: Confirm, answer: str
) -> None:
    confirm(draft_id)
    creator("return", draft_id)
    if answer == "the agent":
        agent.patch(f"/drafts/{draft_id}", json={"title": "Shorter"})
    else:
        creator("keep", draft_id)

    assert said(agent, draft_id) == ("waiting", None)
    assert agent.get(f"/drafts/{draft_id}").headers["Askback-Confirmation"] == "none"


@both_databases
def test_a_discarded_draft_says_why(agent: Agent, draft_id: str, creator: Says) -> None:
    creator("discard", draft_id)

    assert said(agent, draft_id) == ("discarded", NOTE)


@pytest.mark.parametrize("method", ["PATCH", "POST"])
@both_databases
def test_a_discarded_draft_is_refused_with_when_and_why(
    agent: Agent, draft_id: str, creator: Says, method: str
) -> None:
    creator("discard", draft_id)
    path = f"/drafts/{draft_id}" + ("/publish" if method == "POST" else "")

    refused = agent.call(method, path, json={"title": "x"})

    assert refusal(refused) == (404, "draft_not_found")
    begins = f"Its creator discarded this draft at {utc_now():%Y-%m-%dT%H:}"
    assert refused.json["message"].startswith(begins)
    assert refused.json["message"].endswith(f"Z, with the note “{NOTE}”.")


def test_without_a_note_a_discard_says_when(agent: Agent, draft_id: str, creator: Says) -> None:
    creator("discard", draft_id, None)

    message = agent.get(f"/drafts/{draft_id}").json["message"]

    assert message.endswith("Z.")
    assert "note" not in message


def test_a_restored_draft_has_forgotten_why_it_was_discarded(
    agent: Agent, draft_id: str, creator: Says, app: Flask, account: Account
) -> None:
    now = utc_now()
    with app.app_context():
        trash.discard_draft(account.id, draft_id, note=NOTE, now=now)
        trash.restore(account.id, now, now=now)
    creator("discard", draft_id, None)

    assert said(agent, draft_id) == ("discarded", None)


def test_the_draft_of_a_deleted_form_was_not_discarded(
    agent: Agent, draft_id: str, confirm: Confirm, account: Account
) -> None:
    confirm(draft_id)
    form_id = agent.post(f"/drafts/{draft_id}/publish").json["formId"]
    with agent.app.app_context():
        trash.delete_form(account.id, form_id, now=utc_now())

    refused = agent.get(f"/drafts/{draft_id}/review")

    assert refusal(refused) == (404, "draft_not_found")
    assert refused.json["message"].startswith("There is no draft with this draftId")


def test_what_the_creator_changed_is_told(agent: Agent, draft_id: str, creator: Says) -> None:
    creator("change", draft_id, title="Mine", goal="x" * 501, context="Secret")

    found = review(agent, draft_id)

    nothing = {"questionId": None, "before": None, "after": None}
    assert found["revision"] == 2
    assert found["changes"] == [
        {"kind": "title", "questionId": None, "before": "Rota", "after": "Mine"},
        nothing | {"kind": "goal", "after": "x" * 500},
        nothing | {"kind": "context"},
    ]


@pytest.mark.parametrize("wait", ["-1", "26", "x", ""])
def test_a_wrong_wait_is_refused(wait: str, agent: Agent, draft_id: str) -> None:
    response = agent.get(f"/drafts/{draft_id}/review", query_string={"wait": wait})

    assert refusal(response) == (400, "validation_failed")


def test_a_wait_ends_after_its_time(agent: Agent, draft_id: str) -> None:
    started = time.monotonic()

    found = agent.get(f"/drafts/{draft_id}/review?wait=1").json

    assert found["state"] == "waiting"
    assert 0.9 < time.monotonic() - started < SOON_SECONDS


@pytest.mark.parametrize("state", ["returned", "discarded", "confirmed"])
def test_nothing_is_waited_for_in_other_states(
    agent: Agent, draft_id: str, creator: Says, confirm: Confirm, state: str
) -> None:
    if state == "confirmed":
        confirm(draft_id)
    else:
        creator({"returned": "return", "discarded": "discard"}[state], draft_id)

    answer = at_once(partial(agent.get, f"/drafts/{draft_id}/review?wait=25"))

    assert answer.json["state"] == state


def answer_to_wait(agent: Agent, path: str, happens: Callable[[], object]) -> TestResponse:
    """The answer of a wait that began before the event; `path` is below /drafts."""
    wait = partial(agent.get, f"/drafts/{path}?wait=25")
    return while_waiting(agent.app, wait, happens)


@pytest.mark.usefixtures("frequent_looks")
@both_databases
@pytest.mark.parametrize(
    ("happens", "state"),
    [("return", "returned"), ("discard", "discarded"), ("confirm", "confirmed")],
)
def test_a_change_of_state_ends_a_wait(
    agent: Agent, draft_id: str, creator: Says, confirm: Confirm, happens: str, state: str
) -> None:
    does = partial(creator, happens) if happens != "confirm" else confirm

    answer = answer_to_wait(agent, f"{draft_id}/review", partial(does, draft_id))

    assert answer.json["state"] == state


@pytest.mark.usefixtures("frequent_looks")
def test_a_wait_for_the_draft_hears_that_it_was_sent_back(
    agent: Agent, draft_id: str, creator: Says
) -> None:
    answer = answer_to_wait(agent, draft_id, partial(creator, "return", draft_id))

    assert answer.headers["Askback-Confirmation"] == "returned"


@pytest.mark.usefixtures("frequent_looks")
def test_a_wait_for_the_draft_goes_on_while_it_stands_sent_back(
    agent: Agent, draft_id: str, creator: Says
) -> None:
    creator("return", draft_id)

    answer = answer_to_wait(agent, draft_id, partial(creator, "keep", draft_id))

    assert answer.headers["Askback-Confirmation"] == "none"


def test_a_wait_beyond_those_of_its_account_is_answered_at_once(
    agent: Agent, draft_id: str, account: Account
) -> None:
    with ExitStack() as taken:
        for _ in range(wakeups.OF_ACCOUNT):
            taken.enter_context(agent.app.extensions["wakeups"].slot(account.id))
        refused = at_once(partial(agent.get, f"/drafts/{draft_id}/review?wait=25"))

    assert (refused.status_code, refused.headers["Retry-After"]) == (200, "2")
    assert refused.json["state"] == "waiting"
