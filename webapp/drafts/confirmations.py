"""Confirmations of one exact revision, and the drafts that wait for one."""

from datetime import datetime
from typing import NamedTuple

from sqlalchemy import bindparam, select

from webapp.base.database import db, new_id, read_rows, write_transaction
from webapp.base.errors import ErrorCode, StateConflict
from webapp.base.vocabulary import ConfirmationMethod, DraftStatus
from webapp.drafts.returns import Standing, put_standing, sent_back
from webapp.drafts.terms import (
    BY_RULES,
    NOTHING_SHOWN,
    TYPED,
    FormTerms,
    Shown,
    VoiceTerms,
    asker_of,
    confirmed_terms,
)
from webapp.records import drafts
from webapp.records.accounts.models import Account
from webapp.records.audit import SYSTEM, Actor, AuditKind, add_event
from webapp.records.content.model import missing_fields, missing_parts


class ConfirmationRow(NamedTuple):
    """A confirmation of one revision; `grant_id` is that of the attesting agent."""

    revision: int
    content_hash: str
    method: ConfirmationMethod
    grant_id: str | None
    created_at: datetime
    return_count: int


def confirm_draft(
    account_id: str,
    draft_id: str,
    *,
    revision: int,
    shown_hash: str,
    now: datetime,
    terms: Shown[FormTerms] = NOTHING_SHOWN,
    by: Actor = SYSTEM,
) -> drafts.DraftConfirmation:
    """Store the creator's confirmation of exactly the content that the browser showed.

    terms   what it said of spoken answers and of follow-up questions
    raises  NotFound; StateConflict `draft_already_published`, `draft_incomplete`,
            `confirmation_stale` when the draft is at another revision or hash, or the server
            does something else with what people answer
    """
    with write_transaction():
        return confirm_shown(account_id, draft_id, revision, shown_hash, now, terms, by)


def confirm_shown(
    account_id: str,
    draft_id: str,
    revision: int,
    shown_hash: str,
    now: datetime,
    terms: Shown[FormTerms],
    by: Actor,
) -> drafts.DraftConfirmation:
    """As `confirm_draft`, in a transaction that the caller has begun and commits."""
    draft = drafts.open_draft(account_id, draft_id)
    if (draft.revision, draft.content_hash) != (revision, shown_hash):
        raise StateConflict(
            ErrorCode.CONFIRMATION_STALE,
            "The draft changed while you were reading it.",
            "Read the change, then decide again.",
        )
    require_complete(draft)
    agreed = confirmed_terms(terms, draft)
    put_standing(draft, Standing())
    add_event(AuditKind.CONFIRMED, account_id, by=by, now=now, subject=draft_id)
    return _add_confirmation(draft, ConfirmationMethod.BROWSER, None, now, agreed)


def attest(
    account_id: str, draft_id: str, grant_id: str, now: datetime, offered: VoiceTerms = TYPED
) -> bool:
    """Store the agent's confirmation of the current revision; False if it is confirmed already.

    offered  what this server does with spoken answers: no page showed it to the creator
    raises   NotFound; StateConflict `draft_incomplete`; SentBack
    """
    draft = drafts.lock_draft(account_id, draft_id)
    if draft.status is DraftStatus.PUBLISHED:
        return False
    if draft.returned_at:
        raise sent_back(draft)
    require_complete(draft)
    if is_current(find_confirmation(draft.id), draft):
        return False
    asker = asker_of(db.session.get_one(Account, account_id))
    agreed = FormTerms(offered.used_by(draft), BY_RULES, asker)  # no page named a model
    _add_confirmation(draft, ConfirmationMethod.AGENT_ATTESTED, grant_id, now, agreed)
    return True


def find_confirmation(draft_id: str) -> ConfirmationRow | None:
    """The newest confirmation, of any revision, since the draft was sent back last; see
    `is_current`.
    """
    found = read_rows(_NEWEST, draft=draft_id)
    return ConfirmationRow._make(found[0]) if found else None


def list_confirmations(draft_id: str) -> list[ConfirmationRow]:
    """Every confirmation of the draft, oldest first; also those that count no more."""
    return list(map(ConfirmationRow._make, read_rows(_ALL, draft=draft_id)))


_OF_DRAFT = select(
    *(drafts.DraftConfirmation.__table__.c[name] for name in ConfirmationRow._fields)
).where(drafts.DraftConfirmation.draft_id == bindparam("draft"))
_ALL = _OF_DRAFT.order_by(drafts.DraftConfirmation.created_at)
_NEWEST = (
    _OF_DRAFT.join(drafts.Draft, drafts.Draft.id == drafts.DraftConfirmation.draft_id)
    .where(drafts.DraftConfirmation.return_count == drafts.Draft.return_count)
    .order_by(drafts.DraftConfirmation.revision.desc(), drafts.DraftConfirmation.created_at.desc())
    .limit(1)
)


def list_confirmed(account_id: str) -> set[str]:
    """Ids of the account's unpublished drafts whose current revision is confirmed."""
    return {row.id for row in read_rows(_CONFIRMED, account=account_id)}


def is_current(confirmation: ConfirmationRow | None, draft: drafts.Draft) -> bool:
    """True if the confirmation is of the current revision; an undone change has a new revision."""
    shown = draft.revision, draft.content_hash, draft.return_count
    return confirmation is not None and shown == (
        confirmation.revision,
        confirmation.content_hash,
        confirmation.return_count,
    )


def require_complete(draft: drafts.Draft) -> None:
    """Raises StateConflict `draft_incomplete` if the draft lacks what a form needs."""
    if missing := missing_parts(draft):
        raise StateConflict(
            ErrorCode.DRAFT_INCOMPLETE,
            f"The draft lacks {' and '.join(missing)}.",
            "Add what is missing, then confirm and publish.",
            field=", ".join(missing_fields(draft)),
        )


_MINE = drafts.unpublished(bindparam("account"))
_CONFIRMED = (
    select(drafts.Draft.id)
    .join(drafts.DraftConfirmation, drafts.current_confirmation())
    .where(_MINE)
)


def _add_confirmation(
    draft: drafts.Draft,
    method: ConfirmationMethod,
    grant_id: str | None,
    now: datetime,
    agreed: FormTerms,
) -> drafts.DraftConfirmation:
    confirmation = drafts.DraftConfirmation(
        id=new_id("cnf"),
        draft_id=draft.id,
        revision=draft.revision,
        content_hash=draft.content_hash,
        return_count=draft.return_count,
        method=method,
        grant_id=grant_id,
        created_at=now,
        **agreed.columns(),
    )
    db.session.add(confirmation)
    db.session.flush()
    return confirmation


def is_by_hand(draft: drafts.DraftSummaryRow) -> bool:
    """Whether no agent made the draft, or wrote last."""
    return draft.author is None and draft.created_by is None


def is_returned(draft: drafts.DraftSummaryRow) -> bool:
    """Whether it is sent back."""
    return draft.returned_at is not None


def is_empty(draft: drafts.DraftSummaryRow) -> bool:
    """Whether it has neither title nor question."""
    return not draft.title.strip(" ") and not draft.question_count
