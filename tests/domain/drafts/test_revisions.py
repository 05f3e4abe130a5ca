"""Restoring one difference or a whole revision, and the list of revisions."""

import random
from typing import Any

import pytest

from tests.factories import make_draft, prepare
from webapp.base.database import utc_now
from webapp.drafts import confirmations, editing, revisions
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
    changes = parse_draft_input(fields)
    return editing.update_draft(draft.account_id, draft.id, changes, author=author, now=utc_now())


def apply(draft: Draft, changes: Any) -> Draft:
    return editing.update_draft(draft.account_id, draft.id, changes, author=None, now=utc_now())


def asked(draft: Draft) -> list[str]:
    return [question["id"] for question in draft.questions]


def questions(order: str, **words: str) -> list[dict[str, str]]:
    rows = {row["id"]: row for row in FIRST["questions"]}
    return [
        rows.get(name, {"id": name, "text": f"Something new, {name}?"})
        | ({"text": words[name]} if name in words else {})
        for name in order
    ]


@pytest.mark.parametrize(
    "fields",
    [
        {"title": "Another"},
        {"goal": "Another"},
        {"context": "Another"},
        {"followUpMode": "smart"},
        {"responseLimit": "one"},
        {"questions": questions("acb")},
        {"questions": questions("cab")},
        {"questions": questions("ab")},
        {"questions": questions("bc")},
        {"questions": questions("abxc")},
        {"questions": questions("abc", b="Whatever else went wrong?")},
        {"questions": [{"id": "a", "text": FIRST["questions"][0]["text"]}, *questions("bc")]},
    ],
    ids=str,
)
def test_putting_back_the_only_change_restores_the_content(
    account: Account, fields: dict[str, Any]
) -> None:
    draft = written(account)
    before = snapshot(draft)
    draft = changed(draft, **fields)
    (change,) = differences(revisions.find_revision(draft, 1), draft)

    draft = apply(draft, revisions.put_back(draft, 1, change.key))

    assert snapshot(draft) == before
    assert draft.revision == 3


def test_follow_ups_come_back_without_the_words_of_their_question(account: Account) -> None:
    draft = prepare(written(account), [("What then?", "always")])
    first, *others = before = draft.questions
    draft = apply(draft, {"questions": [{"id": "a", "text": "Who changed it?"}, *others]})
    changes = differences(revisions.find_revision(draft, 2), draft)
    (key,) = (change.key for change in changes if change.part == "follow_ups")

    draft = apply(draft, revisions.put_back(draft, 2, key))

    reworded = {"id": "a", "text": "Who changed it?", "follow_ups": first["follow_ups"]}
    assert draft.questions == [reworded, *before[1:]]


def test_a_removed_question_comes_back_with_its_follow_ups(account: Account) -> None:
    draft = prepare(written(account), [("What then?", "always")])
    before = draft.questions
    draft = changed(draft, questions=FIRST["questions"][1:])

    (change,) = differences(revisions.find_revision(draft, 2), draft)
    draft = apply(draft, revisions.put_back(draft, 2, change.key))

    assert draft.questions == before


@pytest.mark.parametrize("seed", range(40))
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


def test_a_removed_question_comes_back_behind_its_neighbour(account: Account) -> None:
    draft = written(account)
    draft = changed(draft, questions=questions("xac"))
    removed = differences(revisions.find_revision(draft, 1), draft)[-1]

    draft = apply(draft, revisions.put_back(draft, 1, removed.key))

    assert asked(draft) == ["x", "a", "b", "c"]


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


def test_the_last_agent_is_found_before_later_changes_of_the_creator(account: Account) -> None:
    draft = changed(changed(written(account), title="By agent"), author=None, title="Mine")

    assert revisions.last_agent_since(draft, 1) == "grt_1"
    assert revisions.last_agent_since(draft, 2) is None
