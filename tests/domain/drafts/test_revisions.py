"""The history of a draft: restoring a difference or a revision, and what agents changed since the
last look.
"""

import random
from typing import Any

import pytest

from tests.databases import both_databases
from tests.factories import make_draft, prepare
from webapp.base.database import utc_now
from webapp.base.errors import InvalidInput
from webapp.drafts import confirmations, editing, revisions
from webapp.drafts.revisions import accept_change, count_unseen_changes, unseen_changes
from webapp.records.accounts.models import Account
from webapp.records.content.diff import differences
from webapp.records.content.draft_input import parse_draft_input
from webapp.records.content.model import snapshot
from webapp.records.drafts import Draft

pytestmark = pytest.mark.usefixtures("app_context")
FIRST = {
    "title": "Rota",
    "goal": "Learn why",
    "context": "Two cafés left",
    "questions": [
        {"id": "a", "text": "Who changed the rota last week?", "context": "A name will do."},
        {"id": "b", "text": "What went wrong with it then?"},
        {"id": "c", "text": "What would you rather have?"},
    ],
}


def written(account: Account, **fields: Any) -> Draft:
    return make_draft(account.id, **FIRST | fields)


def changed(draft: Draft, *, author: str | None = "grt_1", **fields: Any) -> Draft:
    return apply(draft, parse_draft_input(fields), author)


def apply(draft: Draft, changes: Any, author: str | None = None) -> Draft:
    return editing.update_draft(draft.account_id, draft.id, changes, author=author, now=utc_now())


def put_back(draft: Draft, since: int, part: str = "") -> Draft:
    """With the only change since then undone, or the last one of that part."""
    changes = differences(revisions.find_revision(draft, since), draft)
    (*_, change) = (each for each in changes if part in {"", each.part})
    return apply(draft, revisions.put_back(draft, since, change.key))


def questions(order: str, **words: str) -> list[dict[str, str]]:
    rows = {row["id"]: row for row in FIRST["questions"]}
    return [
        rows.get(name, {"id": name, "text": f"Something new, {name}?"})
        | ({"text": words[name]} if name in words else {})
        for name in order
    ]


def test_a_removed_question_comes_back_with_its_follow_ups(account: Account) -> None:
    draft = prepare(written(account), [("What then?", "always")])
    before = draft.questions
    draft = changed(draft, questions=FIRST["questions"][1:])

    assert put_back(draft, 2).questions == before


@pytest.mark.parametrize("seed", range(8))
def test_putting_back_a_change_removes_one_difference(account: Account, seed: int) -> None:
    chance = random.Random(seed)  # noqa: S311  # repeatable, not secret
    draft = written(account)
    names = chance.sample("abcxyz", chance.randint(1, 6))
    reworded = {name: f"Worded anew for {name}?" for name in names if chance.random() < 0.4}
    draft = changed(draft, title="New", goal="New", questions=questions("".join(names), **reworded))
    first = revisions.find_revision(draft, 1)

    while left := differences(first, draft):
        draft = apply(draft, revisions.put_back(draft, 1, chance.choice(left).key))
        assert len(differences(first, draft)) < len(left)

    assert snapshot(draft) == snapshot(first)


def test_putting_back_cannot_exceed_the_limit_of_questions(account: Account) -> None:
    draft = changed(written(account), questions=[f"Number {number}?" for number in range(20)])

    with pytest.raises(InvalidInput) as refused:
        put_back(draft, 1)

    assert refused.value.field == "questions"


def test_restoring_a_revision_is_a_new_unconfirmed_revision(account: Account) -> None:
    draft = written(account)
    first = snapshot(draft)
    confirmations.confirm_draft(
        account.id, draft.id, revision=1, shown_hash=draft.content_hash, now=utc_now()
    )
    draft = changed(draft, title="Second", followUpMode="smart")

    draft = apply(draft, revisions.back_to(draft, 1))

    assert snapshot(draft) == first
    assert draft.revision == 3
    assert not confirmations.is_current(confirmations.find_confirmation(draft.id), draft)


A, B, C = ({"id": name, "text": f"What about {name}, then?"} for name in "abc")
AGENT, CREATOR = "grt_1", None
Edit = tuple[str | None, dict[str, Any]]


def after(account: Account, *edits: Edit) -> Draft:
    """A draft that was looked at before these edits."""
    draft = make_draft(account.id, title="Rota", goal="Learn", questions=[A, B, C])
    revisions.mark_seen(account.id, draft.id, 1, now=utc_now())
    return edited(draft, *edits)


def edited(draft: Draft, *edits: Edit) -> Draft:
    for author, fields in edits:
        draft = changed(draft, author=author, **fields)
    return draft


def accept(draft: Draft, part: str) -> None:
    """The creator accepts the change of that part, or has accepted it."""
    before = revisions.find_revision(draft, 1)
    assert before is not None
    (key,) = (each.key for each in differences(before, draft) if each.part == part)
    accept_change(draft.account_id, draft.id, key, revision=draft.revision, since=1, now=utc_now())


def unseen(draft: Draft) -> list[tuple[str, str, int | None]]:
    before = revisions.find_revision(draft, 1)
    assert before is not None
    view = revisions.find_view(draft.id)
    found = [
        (change.part, str(change.kind), change.position)
        for change in unseen_changes(draft, before, view.accepted if view else "")
    ]
    assert count_unseen_changes(draft.account_id) == {draft.id: len(found)}
    return found


def reworded(question: dict[str, str], **fields: str) -> dict[str, str]:
    return question | {"text": question["text"] + " Really?"} | fields


EDITS: dict[str, tuple[list[Edit], list[Any]]] = {
    "the creator first, then an agent": (
        [(AGENT, {"title": "New"}), (CREATOR, {"goal": "Mine"}), (AGENT, {"responseLimit": "one"})],
        [("title", "reworded", None), ("response_limit", "changed", None)],
    ),
    "what the creator took back": (
        [(AGENT, {"title": "New", "goal": "New"}), (CREATOR, {"title": "Rota"})],
        [("goal", "reworded", None)],
    ),
    "a question each": (
        [
            (AGENT, {"questions": [reworded(A), B, C]}),
            (CREATOR, {"questions": [reworded(A), B, reworded(C, context="Short")]}),
        ],
        [("question", "reworded", 1)],
    ),
    "the order of an agent": (
        [(AGENT, {"questions": [C, A, B]}), (CREATOR, {"goal": "Mine"})],
        [("question", "moved", 1)],
    ),
}


@both_databases
@pytest.mark.parametrize("case", EDITS)
def test_only_what_an_agent_had_a_hand_in_is_listed(account: Account, case: str) -> None:
    edits, expected = EDITS[case]

    assert unseen(after(account, *edits)) == expected


@both_databases
def test_what_was_accepted_is_a_change_only_if_an_agent_changes_it_again(account: Account) -> None:
    draft = after(account, (AGENT, {"title": "New", "questions": [reworded(A), B, C]}))
    accept(draft, "question")
    accept(draft, "question")
    assert unseen(draft) == [("title", "reworded", None)]

    draft = edited(draft, (AGENT, {"questions": [B, reworded(A), C]}))
    accept(draft, "title")
    assert unseen(draft) == [("question", "moved", 1)]

    draft = edited(draft, (AGENT, {"questions": [B, A | {"text": "When, then?"}, C]}))
    assert ("question", "reworded", 2) in unseen(draft)
