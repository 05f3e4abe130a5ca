"""What an agent is told of what the creator changed."""

from typing import Any

import pytest

from tests.conftest import Clock
from webapp.drafts import editing, reviews
from webapp.drafts.reviews import CreatorChange as Changed
from webapp.drafts.revisions import list_revisions
from webapp.records.accounts.models import Account
from webapp.records.content.draft_input import parse_draft_input
from webapp.records.drafts import Draft

pytestmark = pytest.mark.usefixtures("app_context")

QUESTIONS = [{"id": each, "text": f"{each}?"} for each in ("one", "two", "three")]


@pytest.fixture
def draft(account: Account, clock: Clock) -> Draft:
    given = {"title": "Rota", "goal": "Learn", "questions": QUESTIONS, "context": "Private"}
    changes = parse_draft_input(given)
    return editing.create_draft(account.id, changes, author="grn_1", now=clock.now)


def change(draft: Draft, author: str | None = None, **fields: Any) -> Draft:
    given = parse_draft_input(fields)
    now = draft.updated_at
    return editing.update_draft(draft.account_id, draft.id, given, author=author, now=now)


@pytest.mark.parametrize(
    ("fields", "changes"),
    [
        ({"title": "Mine"}, [Changed("title", None, "Rota", "Mine")]),
        ({"goal": ""}, [Changed("goal", None, "Learn", None)]),
        ({"context": "Secret"}, [Changed("context")]),
        (
            {"questions": [{"id": "one", "text": "Who?", "context": "Names"}, *QUESTIONS[1:]]},
            [
                Changed("question_text", "one", "one?", "Who?"),
                Changed("question_context", "one", None, "Names"),
            ],
        ),
        (
            {"questions": [QUESTIONS[2], *QUESTIONS[:2]]},
            [Changed("question_moved", "three", "3", "1")],
        ),
        (
            {"questions": [{"id": "new", "text": "New?"}, *QUESTIONS[1:]]},
            [
                Changed("question_added", "new", None, "New?"),
                Changed("question_removed", "one", "one?", None),
            ],
        ),
    ],
)
def test_each_part_that_the_creator_changed(
    draft: Draft, fields: dict[str, Any], changes: list[Changed]
) -> None:
    assert reviews.creator_changes(change(draft, **fields)) == changes


def test_all_that_came_after_the_last_revision_of_an_agent(draft: Draft) -> None:
    change(draft, title="Mine")
    change(draft, author="grn_2", goal="From another agent")
    change(draft, goal="Mine, too")
    changed = change(draft, title="Mine again")

    assert reviews.creator_changes(changed) == [
        Changed("title", None, "Mine", "Mine again"),
        Changed("goal", None, "From another agent", "Mine, too"),
    ]


def test_the_newest_notes_since_a_look_are_read_in_their_order(draft: Draft) -> None:
    for number in range(reviews.NOTES_SHOWN + 3):
        given: Any = {"title": f"Title {number}"}
        by: Any = {"author": "grt_1", "agent_note": str(number), "now": draft.updated_at}
        draft = editing.update_draft(draft.account_id, draft.id, given, **by)
    draft = change(draft, title="Mine")

    assert [each.agent_note for each in reviews.list_notes(draft, 0)] == [
        str(number) for number in range(3, reviews.NOTES_SHOWN + 3)
    ]
    assert reviews.list_notes(draft, draft.revision) == []
    listed = list_revisions(draft, before=None, limit=3)
    assert [each.draft.agent_note for each in listed] == [None, "12", "11"]
