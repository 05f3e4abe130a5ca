"""What the creator says of a draft, and waits for it: by REST and by tools."""

from collections.abc import Callable
from functools import partial
from typing import Any

import pytest
from flask import Flask
from werkzeug.test import TestResponse

from tests.api.conftest import Agent, Confirm, at_once, refusal, while_waiting
from tests.api.mcp.conftest import Hosted
from tests.databases import both_databases
from webapp.answers import trash
from webapp.base.database import utc_now
from webapp.drafts import editing, reviews
from webapp.oauth.account_deletion import delete_account
from webapp.records.accounts.models import Account
from webapp.records.content.draft_input import parse_draft_input

NOTE = "Shorter,\nplease: “three” <b>at most</b>"
PATHS = ["/drafts/{}", "/drafts/{}/review"]

Says = Callable[..., None]


@pytest.fixture
def creator(app: Flask, account: Account, confirm: Confirm) -> Says:
    def says(what: str, draft_id: str, note: str | None = NOTE, **fields: Any) -> None:
        now, of = utc_now(), (account.id, draft_id)
        does: dict[str, Callable[[], object]] = {
            "returned": lambda: reviews.return_draft(
                *of, revision=fields.get("revision", 1), note=note, now=now
            ),
            "kept": lambda: reviews.keep_draft(*of, now=now),
            "discarded": lambda: trash.discard_drafts(account.id, [draft_id], note=note, now=now),
            "confirmed": lambda: confirm(draft_id),
            "changed": lambda: editing.update_draft(
                *of, parse_draft_input(fields), author=None, now=now
            ),
        }
        with app.app_context():
            does[what]()

    return says


def said(agent: Agent, draft_id: str) -> tuple[str, str | None]:
    found = agent.get(f"/drafts/{draft_id}/review").json
    return found["state"], found["note"]


def confirmation(agent: Agent, draft_id: str) -> str:
    return agent.get(f"/drafts/{draft_id}").headers["Askback-Confirmation"]


@both_databases
def test_each_state_of_a_draft(
    agent: Agent, draft_id: str, creator: Says, confirm: Confirm
) -> None:
    found = [said(agent, draft_id)]
    for step in (
        partial(confirm, draft_id),
        partial(creator, "changed", draft_id, title="Mine"),
        partial(agent.patch, f"/drafts/{draft_id}", json={"title": "Rota"}),
        partial(confirm, draft_id),
        partial(agent.post, f"/drafts/{draft_id}/publish"),
    ):
        step()
        found.append(said(agent, draft_id))

    states = ["waiting", "confirmed", "stale", "stale", "confirmed", "published"]
    assert found == [(state, None) for state in states]


@both_databases
@pytest.mark.parametrize("answer", ["the agent", "the creator"])
def test_a_draft_that_was_sent_back_says_why_until_it_is_changed_or_kept(
    agent: Agent, draft_id: str, creator: Says, confirm: Confirm, answer: str
) -> None:
    confirm(draft_id)
    creator("returned", draft_id)
    before = said(agent, draft_id), confirmation(agent, draft_id)
    if answer == "the agent":
        agent.patch(f"/drafts/{draft_id}", json={"title": "Shorter"})
    else:
        creator("kept", draft_id)

    assert before == (("returned", NOTE), "returned")
    assert (said(agent, draft_id), confirmation(agent, draft_id)) == (("waiting", None), "none")


@both_databases
@pytest.mark.parametrize("note", [NOTE, None])
def test_a_discarded_draft_is_refused_with_when_and_why(
    agent: Agent, draft_id: str, creator: Says, note: str | None
) -> None:
    creator("discarded", draft_id, note)

    assert said(agent, draft_id) == ("discarded", note)
    for method, path in (("GET", ""), ("PATCH", ""), ("POST", "/publish")):
        refused = agent.call(method, f"/drafts/{draft_id}{path}", json={"title": "x"})
        assert refusal(refused) == (404, "draft_not_found")
        begins = f"Its creator discarded this draft at {utc_now():%Y-%m-%dT%H:}"
        assert refused.json["message"].startswith(begins)
        assert refused.json["message"].endswith(f"Z, with the note “{NOTE}”." if note else "Z.")


def test_what_the_creator_changed_is_in_it(agent: Agent, draft_id: str, creator: Says) -> None:
    creator("changed", draft_id, title="Mine", goal="x" * 501, context="Secret")

    found = agent.get(f"/drafts/{draft_id}/review").json

    nothing = {"questionId": None, "before": None, "after": None}
    assert found["revision"] == 2
    assert found["changes"] == [
        {"kind": "title", "questionId": None, "before": "Rota", "after": "Mine"},
        nothing | {"kind": "goal", "after": "x" * 500},
        nothing | {"kind": "context"},
    ]


@pytest.mark.parametrize("path", PATHS)
def test_a_wait_ends_after_its_time_and_at_once_where_nothing_is_left_to_say(
    agent: Agent, draft_id: str, creator: Says, path: str
) -> None:
    for wait in ("-1", "26", "1.5", "x", "", "1e1", "²", "0" * 5000):
        response = agent.get(path.format(draft_id), query_string={"wait": wait})
        assert refusal(response) == (400, "validation_failed")
        assert response.json["message"].startswith("wait: ")
    assert agent.get(f"{path.format(draft_id)}?wait=1").status_code == 200
    for state in ("confirmed", "returned", "discarded") if "review" in path else ("confirmed",):
        made = agent.post("/drafts", json={"title": "T", "questions": ["Why?"]}).json["draftId"]
        creator(state, made)
        assert at_once(partial(agent.get, f"{path.format(made)}?wait=25")).status_code == 200


@pytest.fixture(params=["rest", "tool"])
def ask(
    request: pytest.FixtureRequest, agent: Agent, hosted: Hosted, draft_id: str, account: Account
) -> Callable[[], TestResponse]:
    if request.param == "rest":
        return partial(agent.get, f"/drafts/{draft_id}?wait=25")
    call = {"name": "get_form_draft", "arguments": {"draftId": draft_id, "timeoutSeconds": 25}}
    return partial(hosted(account.id).send, "tools/call", call)


@pytest.fixture
def wait(app: Flask, ask: Callable[[], TestResponse]) -> Callable[[Callable[[], object]], Any]:
    def wait(happens: Callable[[], object]) -> Any:
        answer = while_waiting(app, ask, happens)
        if "result" in answer.json:
            return answer.json["result"].get("structuredContent", {"code": "draft_not_found"})
        return answer.json | {"confirmation": answer.headers.get("Askback-Confirmation")}

    return wait


@pytest.mark.usefixtures("frequent_looks")
@pytest.mark.parametrize(
    ("before", "happens", "field", "value"),
    [
        (None, "confirmed", "confirmation", "current"),
        (None, "returned", "confirmation", "returned"),
        (None, "discarded", "code", "draft_not_found"),
        ("returned", "kept", "confirmation", "none"),
    ],
)
def test_what_the_creator_does_ends_a_wait(
    draft_id: str, creator: Says, wait: Any, before: str, happens: str, field: str, value: str
) -> None:
    if before:
        creator(before, draft_id)

    assert wait(partial(creator, happens, draft_id))[field] == value


@pytest.mark.usefixtures("frequent_looks")
@both_databases
def test_a_wait_whose_token_ends_is_answered_as_a_new_request(
    agent: Agent, account: Account, ask: Callable[[], TestResponse]
) -> None:
    def happens() -> None:
        with agent.app.app_context():
            delete_account(account.id, now=utc_now())

    answer, new = while_waiting(agent.app, ask, happens), ask()

    assert answer.status_code == new.status_code == 401
    assert answer.json | {"id": None} == new.json | {"id": None}
    assert answer.headers["WWW-Authenticate"] == new.headers["WWW-Authenticate"]
