"""The notes of the revisions that a creator has not seen."""

from typing import Any

import pytest

from tests.databases import both_databases
from tests.factories import make_draft
from webapp.base.database import utc_now
from webapp.drafts import editing, revisions
from webapp.drafts.agent_notes import NOTES_SHOWN, current_note, list_notes
from webapp.records.accounts.models import Account
from webapp.records.content.draft_input import parse_draft_input
from webapp.records.drafts import Draft

pytestmark = pytest.mark.usefixtures("app_context")


def changed(draft: Draft, *, author: str | None = "grt_1", note: str | None = None) -> Draft:
    changes = parse_draft_input({"title": f"Title of revision {draft.revision + 1}"})
    by: dict[str, Any] = {"author": author, "agent_note": note, "now": utc_now()}
    return editing.update_draft(draft.account_id, draft.id, changes, **by)


@both_databases
def test_notes_since_a_revision_are_in_their_order(account: Account) -> None:
    draft = changed(make_draft(account.id), note="seen")
    for note in ("second", None, "fourth"):
        draft = changed(draft, note=note)

    assert [(each.revision, each.text) for each in list_notes(draft, 2)] == [
        (3, "second"),
        (5, "fourth"),
    ]
    assert list_notes(draft, 5) == []
    assert current_note(draft) == (5, "grt_1", "fourth")


def test_a_change_by_the_creator_takes_the_note_along(account: Account) -> None:
    draft = changed(changed(make_draft(account.id), note="why"), author=None)

    assert current_note(draft) is None
    assert [each.text for each in list_notes(draft, 0)] == ["why"]
    assert [each.agent_note for each in revisions.list_revisions(draft, before=None, limit=9)] == [
        None,
        "why",
        None,
    ]


def test_no_more_notes_are_read_than_are_shown(account: Account) -> None:
    draft = make_draft(account.id)
    for number in range(NOTES_SHOWN + 3):
        draft = changed(draft, note=str(number))

    found = [each.text for each in list_notes(draft, 0)]

    assert found == [str(number) for number in range(3, NOTES_SHOWN + 3)]
