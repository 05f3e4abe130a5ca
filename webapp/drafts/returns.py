"""Drafts that their creator sent back: a no to one revision, with a note for the agent.

A sending back voids the confirmations before it. It holds until an agent writes a new revision,
or until the creator keeps, confirms or publishes the draft after all; their own edits leave it.
"""

from collections.abc import Mapping
from datetime import datetime
from typing import NamedTuple

from sqlalchemy import bindparam, select

from webapp.base.database import db, read_rows, write_transaction
from webapp.base.errors import ErrorCode, InvalidInput, SentBack
from webapp.records.audit import SYSTEM, Actor, AuditKind, add_event
from webapp.records.drafts import Draft, DraftReturn, open_draft, require_revision, with_note


class Standing(NamedTuple):
    """The columns of the current sending back; all None for none."""

    returned_at: datetime | None = None
    returned_revision: int | None = None
    return_note: str | None = None


class ReturnRow(NamedTuple):
    """A sending back: which of the draft, of which revision, and the notes."""

    number: int
    revision: int
    returned_at: datetime
    note: str | None
    question_notes: dict[str, str]


def return_draft(
    account_id: str,
    draft_id: str,
    *,
    revision: int,
    note: str | None,
    now: datetime,
    question_notes: Mapping[str, str] | None = None,
    by: Actor = SYSTEM,
) -> None:
    """Send back the revision that the creator has read; again, with another note.

    question_notes  on single questions, by id
    raises  NotFound; StateConflict `draft_already_published`, `revision_conflict`;
            InvalidInput `validation_failed` for a note on a question that is not there
    """
    with write_transaction():
        draft = open_draft(account_id, draft_id)
        require_revision(draft, revision)
        notes = dict(question_notes or {})
        if notes.keys() - {question["id"] for question in draft.questions}:
            raise _no_question()
        draft.return_count += 1
        put_standing(draft, Standing(now, revision, note))
        db.session.add(
            DraftReturn(
                draft_id=draft.id,
                number=draft.return_count,
                revision=revision,
                returned_at=now,
                note=note,
                question_notes=notes,
            )
        )
        add_event(AuditKind.SENT_BACK, account_id, by=by, now=now, subject=draft_id)


def keep_draft(account_id: str, draft_id: str, *, now: datetime, by: Actor = SYSTEM) -> None:
    """The draft waits again, unconfirmed; nothing happens to one that was not sent back.

    raises  NotFound; StateConflict `draft_already_published`
    """
    with write_transaction():
        draft = open_draft(account_id, draft_id)
        if draft.returned_at:
            put_standing(draft, Standing())
            add_event(AuditKind.KEPT, account_id, by=by, now=now, subject=draft_id)


def list_returns(draft_id: str) -> list[ReturnRow]:
    """Every sending back of the draft, oldest first."""
    return list(map(ReturnRow._make, read_rows(_RETURNS, draft=draft_id)))


def standing_notes(draft: Draft) -> dict[str, str]:
    """The notes on single questions of the current sending back, by question id."""
    if not draft.returned_at:
        return {}
    found = list_returns(draft.id)
    return found[-1].question_notes if found else {}


_RETURNS = (
    select(*(DraftReturn.__table__.c[name] for name in ReturnRow._fields))
    .where(DraftReturn.draft_id == bindparam("draft"))
    .order_by(DraftReturn.number)
)


def standing_count(draft: Draft) -> int:
    """The number of the current sending back, from 1; 0 for none."""
    return draft.return_count if draft.returned_at else 0


def put_standing(draft: Draft, standing: Standing) -> None:
    """Set its columns; the caller stores them."""
    for name, value in standing._asdict().items():
        setattr(draft, name, value)


def _no_question() -> InvalidInput:
    return InvalidInput(
        ErrorCode.VALIDATION_FAILED,
        "note: one is on a question that is not there any more.",
        "Write it in the note on the whole draft.",
        field="note",
    )


def sent_back(draft: Draft) -> SentBack:
    """The refusal to publish a draft that is sent back."""
    return SentBack(
        ErrorCode.DRAFT_NOT_CONFIRMED,
        with_note("Its creator sent this draft back", draft.return_note),
        "Change the draft as its creator asks, ask them to confirm it, then retry.",
        draft.id,
    )
