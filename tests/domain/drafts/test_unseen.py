"""What agents changed since the last look; what the creator did themselves is no news."""

from typing import Any

import pytest
from sqlalchemy import update

from tests.databases import both_databases
from tests.factories import make_draft, prepare
from tests.query_plans import statements_of
from webapp.database import db, utc_now
from webapp.domain.accounts.models import Account
from webapp.domain.content.draft_input import parse_draft_input
from webapp.domain.drafts import editing, revisions, views
from webapp.domain.drafts import models as drafts
from webapp.domain.drafts.models import Draft
from webapp.domain.drafts.unseen import count_unseen_changes, unseen_changes

pytestmark = pytest.mark.usefixtures("app_context")
A, B, C = ({"id": name, "text": f"What about {name}, then?"} for name in "abc")
AGENT, CREATOR = "grt_1", None
Edit = tuple[str | None, dict[str, Any]]


def after(account: Account, *edits: Edit) -> Draft:
    """A draft that was looked at before these edits."""
    draft = make_draft(account.id, title="Rota", goal="Learn", questions=[A, B, C])
    views.mark_seen(account.id, draft.id, 1, now=utc_now())
    for author, fields in edits:
        changes = parse_draft_input(fields)
        by: dict[str, Any] = {"author": author, "now": utc_now()}
        draft = editing.update_draft(account.id, draft.id, changes, **by)
    return draft


def preparing(draft: Draft, author: str | None, question: int = -1) -> Draft:
    """With one more follow-up to a question."""
    given: list[list[tuple[str, str]]] = [[] for _ in draft.questions]
    given[question] = [(f"And then, {draft.revision}?", "always")]
    draft = prepare(draft, *given)
    db.session.execute(update(Draft).where(Draft.id == draft.id).values(author=author))
    db.session.commit()
    return drafts.get_draft(draft.account_id, draft.id)


def unseen(draft: Draft) -> list[tuple[int, str, str, int | None]]:
    before = revisions.find_revision(draft, 1)
    assert before is not None
    found = [
        (number, change.part, str(change.kind), change.position)
        for number, change in unseen_changes(draft, before)
    ]
    assert count_unseen_changes(draft.account_id) == {draft.id: len(found)}
    return found


def reworded(question: dict[str, str], **fields: str) -> dict[str, str]:
    return question | {"text": question["text"] + " Really?"} | fields


EDITS: dict[str, tuple[list[Edit], list[Any]]] = {
    "one of each": (
        [(AGENT, {"title": "New"}), (CREATOR, {"goal": "Mine"})],
        [(1, "title", "reworded", None)],
    ),
    "the creator first, then an agent": (
        [(AGENT, {"title": "New"}), (CREATOR, {"goal": "Mine"}), (AGENT, {"responseLimit": "one"})],
        [(1, "title", "reworded", None), (3, "response_limit", "changed", None)],
    ),
    "both at one text": (
        [(AGENT, {"title": "New"}), (CREATOR, {"title": "Newer"})],
        [(1, "title", "reworded", None)],
    ),
    "what the creator took back": (
        [(AGENT, {"title": "New", "goal": "New"}), (CREATOR, {"title": "Rota"})],
        [(1, "goal", "reworded", None)],
    ),
    "a question each": (
        [
            (AGENT, {"questions": [reworded(A), B, C]}),
            (CREATOR, {"questions": [reworded(A), B, reworded(C, context="Short")]}),
        ],
        [(1, "question", "reworded", 1)],
    ),
    "a question that the creator added and removed": (
        [
            (AGENT, {"title": "New"}),
            (CREATOR, {"questions": [B, C, {"id": "d", "text": "Quite another one?"}]}),
        ],
        [(1, "title", "reworded", None)],
    ),
    "a question that an agent removed": (
        [(AGENT, {"questions": [A, B]}), (CREATOR, {"goal": "Mine"})],
        [(2, "question", "removed", 3)],
    ),
    "the order of the creator": (
        [(AGENT, {"title": "New"}), (CREATOR, {"questions": [C, A, B]})],
        [(1, "title", "reworded", None)],
    ),
    "the order of an agent": (
        [(AGENT, {"questions": [C, A, B]}), (CREATOR, {"goal": "Mine"})],
        [(2, "question", "moved", 1)],
    ),
    "nothing but the creator's": ([(CREATOR, {"goal": "Mine", "title": "Mine"})], []),
    "many turns": (
        [
            (author, {"goal": f"Goal {turn}", "title": "Last" if turn == 9 else f"Title {turn}"})
            if author
            else (author, {"context": f"Mine {turn}"})
            for turn in range(10)
            for author in (AGENT, CREATOR)
        ],
        [(1, "title", "reworded", None), (2, "goal", "reworded", None)],
    ),
}


@both_databases
@pytest.mark.parametrize("case", EDITS)
def test_only_what_an_agent_had_a_hand_in_is_listed(account: Account, case: str) -> None:
    edits, expected = EDITS[case]

    assert unseen(after(account, *edits)) == expected


def test_follow_ups_of_an_agent_are_news(account: Account) -> None:
    draft = preparing(preparing(after(account), AGENT, question=0), CREATOR, question=1)

    assert unseen(draft) == [(1, "follow_ups", "changed", 1)]


def test_a_question_of_the_creator_is_news_once_an_agent_prepares_follow_ups(
    account: Account,
) -> None:
    added = {"id": "d", "text": "Quite another one?"}
    draft = after(account, (CREATOR, {"questions": [A, B, C, added]}))

    assert unseen(preparing(draft, AGENT)) == [(1, "question", "added", 4)]


def test_a_change_is_undone_by_its_number(account: Account) -> None:
    edits, _ = EDITS["the creator first, then an agent"]
    draft = after(account, *edits)
    number = unseen(draft)[1][0]

    assert revisions.put_back(draft, 1, number) == {"response_limit": "multiple"}


def test_however_many_edits_the_same_statements_read_all(account: Account) -> None:
    def counted() -> int:
        return len(statements_of(lambda: count_unseen_changes(account.id)))

    after(account, *EDITS["one of each"][0])
    few = counted()
    for _ in range(3):
        after(account, *EDITS["many turns"][0])

    assert counted() == few == 3
