"""Drafts that their creator sent back: a no to one revision, with a note for the agent.

A sending back voids the confirmations before it. It stands until an agent writes a new revision,
or until the creator keeps, confirms or publishes the draft after all; their own edits leave it.
"""

from datetime import datetime
from typing import NamedTuple

from webapp.database import write_transaction
from webapp.domain.audit.trail import SYSTEM, Actor, AuditKind, add_event
from webapp.domain.drafts.creator_notes import with_note
from webapp.domain.drafts.models import Draft, open_draft, require_revision
from webapp.domain.shared.error_codes import ErrorCode
from webapp.domain.shared.errors import SentBack


class Standing(NamedTuple):
    """The columns of a sending back that stands; all None for none."""

    returned_at: datetime | None = None
    returned_revision: int | None = None
    return_note: str | None = None


def return_draft(
    account_id: str,
    draft_id: str,
    *,
    revision: int,
    note: str | None,
    now: datetime,
    by: Actor = SYSTEM,
) -> None:
    """Send back the revision that the creator has read; again, with another note.

    raises  NotFound; StateConflict `draft_already_published`, `revision_conflict`
    """
    with write_transaction():
        draft = open_draft(account_id, draft_id)
        require_revision(draft, revision)
        draft.return_count += 1
        put_standing(draft, Standing(now, revision, note))
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


def standing_count(draft: Draft) -> int:
    """Which sending back stands, counted from 1; 0 for none."""
    return draft.return_count if draft.returned_at else 0


def put_standing(draft: Draft, standing: Standing) -> None:
    """Set its columns; the caller stores them."""
    for name, value in standing._asdict().items():
        setattr(draft, name, value)


def sent_back(draft: Draft) -> SentBack:
    """The refusal to publish a draft that stands sent back."""
    return SentBack(
        ErrorCode.DRAFT_NOT_CONFIRMED,
        with_note("Its creator sent this draft back", draft.return_note),
        "Change the draft as its creator asks, ask them to confirm it, then retry.",
        draft.id,
    )
