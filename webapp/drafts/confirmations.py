"""Confirmations of one exact revision, by the creator or by an agent that may attest."""

from collections.abc import Sequence
from datetime import datetime
from typing import cast

from sqlalchemy import bindparam, select

from webapp.base import database, errors, vocabulary
from webapp.drafts.agreement import NOTHING_SHOWN, TYPED, Agreement, Shown, VoiceAgreement, asker_of
from webapp.records import audit, drafts
from webapp.records.accounts.models import Account
from webapp.records.content.model import missing_parts


def confirm_shown(
    account_id: str,
    draft_id: str,
    revision: int,
    shown_hash: str,
    now: datetime,
    shown: Shown = NOTHING_SHOWN,
    by: audit.Actor = audit.SYSTEM,
) -> None:
    """Store the creator's confirmation of exactly what the browser showed; the caller commits.

    raises  NotFound; StateConflict `draft_already_published`, `draft_incomplete`,
            `confirmation_stale` when the draft has another revision or hash, or the server now
            treats answers differently
    """
    draft = drafts.open_draft(account_id, draft_id)
    if (draft.revision, draft.content_hash) != (revision, shown_hash):
        raise errors.StateConflict(
            errors.ErrorCode.CONFIRMATION_STALE,
            "The draft changed while you were reading it.",
            "Read the change, then decide again.",
        )
    require_complete(draft)
    agreed = shown.confirmed(draft)
    draft.end_return()
    audit.add_event(audit.AuditKind.CONFIRMED, account_id, by=by, now=now, subject=draft_id)
    _add_confirmation(draft, vocabulary.ConfirmationMethod.BROWSER, None, now, agreed)


confirm_draft = database.write_transaction()(confirm_shown)  # in a transaction of its own


def attest(
    account_id: str, draft_id: str, grant_id: str, now: datetime, offered: VoiceAgreement = TYPED
) -> bool:
    """Store the agent's confirmation of the current revision; return False if it has one."""
    draft = drafts.lock_draft(account_id, draft_id)
    if draft.status is vocabulary.DraftStatus.PUBLISHED:
        return False
    require_not_returned(draft)
    require_complete(draft)
    if is_current(find_confirmation(draft.id), draft):
        return False
    asker = asker_of(database.db.session.get_one(Account, account_id))
    agreed = Agreement(offered, asker=asker).used_by(draft)  # no page named a model
    _add_confirmation(draft, vocabulary.ConfirmationMethod.AGENT_ATTESTED, grant_id, now, agreed)
    return True


def find_confirmation(draft_id: str) -> drafts.DraftConfirmation | None:
    """Return the newest confirmation, of any revision, since the draft was last sent back."""
    found = database.read_rows(_NEWEST, draft=draft_id)
    return cast(drafts.DraftConfirmation, found[0]) if found else None


def list_confirmations(draft_id: str) -> Sequence[drafts.DraftConfirmation]:
    """Return every confirmation of the draft, including voided ones, oldest first."""
    return cast(Sequence[drafts.DraftConfirmation], database.read_rows(_ALL, draft=draft_id))


def list_confirmed(account_id: str) -> set[str]:
    """Return the ids of the account's unpublished drafts whose current revision is confirmed."""
    return {row.id for row in database.read_rows(_CONFIRMED, account=account_id)}


_OF_DRAFT = select(*drafts.DraftConfirmation.__table__.c).where(
    drafts.DraftConfirmation.draft_id == bindparam("draft")
)
_ALL = _OF_DRAFT.order_by(drafts.DraftConfirmation.created_at)
_NEWEST = (
    _OF_DRAFT.join(drafts.Draft, drafts.Draft.id == drafts.DraftConfirmation.draft_id)
    .where(drafts.DraftConfirmation.return_count == drafts.Draft.return_count)
    .order_by(drafts.DraftConfirmation.revision.desc(), drafts.DraftConfirmation.created_at.desc())
    .limit(1)
)
_CONFIRMED = (
    select(drafts.Draft.id)
    .join(drafts.DraftConfirmation, drafts.current_confirmation())
    .where(drafts.unpublished(bindparam("account")))
)


def is_current(confirmation: drafts.DraftConfirmation | None, draft: drafts.Draft) -> bool:
    """Return True if the confirmation is of this exact revision, not of an equal earlier one."""
    return confirmation is not None and all(
        getattr(confirmation, name) == getattr(draft, name) for name in drafts.CONFIRMED_COLUMNS
    )


def require_complete(draft: drafts.Draft) -> None:
    """Raise StateConflict `draft_incomplete` if the draft lacks what a form needs."""
    if missing := missing_parts(draft):
        raise errors.StateConflict(
            errors.ErrorCode.DRAFT_INCOMPLETE,
            f"The draft lacks {' and '.join(dict.fromkeys(missing.values()))}.",
            "Add what is missing, then confirm and publish.",
            field=", ".join(missing),
        )


def _add_confirmation(
    draft: drafts.Draft,
    method: vocabulary.ConfirmationMethod,
    grant_id: str | None,
    now: datetime,
    agreed: Agreement,
) -> None:
    confirmation = drafts.DraftConfirmation(
        id=database.new_id("cnf"),
        draft_id=draft.id,
        **{name: getattr(draft, name) for name in drafts.CONFIRMED_COLUMNS},
        method=method,
        grant_id=grant_id,
        created_at=now,
        **agreed.columns(),
    )
    database.db.session.add(confirmation)
    database.db.session.flush()


def require_not_returned(draft: drafts.Draft) -> None:
    """Raise SentBack if the creator has sent the draft back."""
    if draft.returned_at:
        raise errors.SentBack(
            errors.ErrorCode.DRAFT_NOT_CONFIRMED,
            drafts.with_note("Its creator sent this draft back", draft.return_note),
            "Change the draft as its creator asks, ask them to confirm it, then retry.",
            draft.id,
        )
