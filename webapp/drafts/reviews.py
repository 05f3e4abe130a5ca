"""The review of an agent's draft: its state, the creator's changes, notes, and sending it back.

Sending a draft back voids its earlier confirmations. It stays sent back until an agent writes a
new revision, or the creator keeps, confirms or publishes it. The creator's own edits do not count.
"""

from collections.abc import Collection, Iterator, Mapping, Sequence
from datetime import datetime
from typing import Any, NamedTuple

from sqlalchemy import bindparam, func, or_, select

from webapp.base.database import among, db, read_rows, write_transaction
from webapp.base.errors import wrong_field
from webapp.base.vocabulary import DraftStatus, ReviewState
from webapp.drafts.confirmations import is_current
from webapp.drafts.revisions import find_last_by_agent
from webapp.records import drafts
from webapp.records.audit import SYSTEM, Actor, AuditKind, add_event
from webapp.records.content.diff import Kind, compare
from webapp.records.content.model import DRAFT_SETTINGS, QuestionRow
from webapp.records.forms import Form


class CreatorChange(NamedTuple):
    """One change that the creator made to the draft."""

    kind: str
    question_id: str | None = None
    before: str | None = None
    after: str | None = None


def get_reviewed(account_id: str, draft_id: str) -> drafts.Draft:
    """Return the account's draft, even if it is discarded; raises NotFound `draft_not_found`."""
    draft = db.session.scalar(_REVIEWED, {"account": account_id, "draft": draft_id})
    if draft is None:
        raise drafts.missing_draft(account_id, draft_id)
    return draft


def review_state(draft: drafts.Draft, confirmation: drafts.DraftConfirmation | None) -> ReviewState:
    """Return how far the review is; `confirmation` is the newest one that is not voided."""
    if draft.status is DraftStatus.PUBLISHED:
        return ReviewState.PUBLISHED
    if draft.deleted_at:
        return ReviewState.DISCARDED
    if draft.returned_at:
        return ReviewState.RETURNED
    if confirmation is None:
        return ReviewState.WAITING
    return ReviewState.CONFIRMED if is_current(confirmation, draft) else ReviewState.STALE


def creator_changes(draft: drafts.Draft) -> list[CreatorChange]:
    """Return what the creator changed since an agent last wrote, then their notes."""
    last = find_last_by_agent(draft)
    found = list(_changes(last, draft)) if last and last is not draft else []
    notes = notes_on_questions(draft)
    asked = [question["id"] for question in draft.questions if question["id"] in notes]
    return [*found, *(CreatorChange("question_note", key, None, notes[key]) for key in asked)]


_REVIEWED = select(drafts.Draft).where(
    drafts.Draft.id == bindparam("draft"),
    drafts.Draft.account_id == bindparam("account"),
    or_(drafts.Draft.deleted_at.is_(None), drafts.Draft.status == DraftStatus.DRAFT),
)
_NAMES = {setting.column: setting.name for setting in DRAFT_SETTINGS} | {
    "public_reason": "reason",
    "hint": "question_context",
}


def _changes(before: drafts.Draft, after: drafts.Draft) -> Iterator[CreatorChange]:
    """Match questions by id, which stays the same when a creator rewords one."""
    old, new = ({row["id"]: _prepared(row) for row in of.questions} for of in (before, after))
    for change in compare(before, after):
        part, key = change.part, change.question_id
        prepared = CreatorChange("question_follow_ups", key, old.get(key or ""), new.get(key or ""))
        if part == "private_context":
            yield CreatorChange("context")
        elif part == "follow_ups":
            yield prepared
        else:
            kind = "text" if change.kind is Kind.REWORDED else change.kind
            name = f"question_{kind}" if part == "question" else _NAMES.get(part, part)
            yield CreatorChange(name, key, _as_text(change.was), _as_text(change.now))
        if part == "question" and change.kind is Kind.ADDED and prepared.after:
            yield prepared


def _prepared(question: QuestionRow) -> str | None:
    """Return the prepared follow-ups as lines, each after its condition."""
    follow_ups = question.get("follow_ups", [])
    return "\n".join(f"{each['condition']}: {each['text']}" for each in follow_ups) or None


def _as_text(value: object) -> str | None:
    return None if value is None else str(value)


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
    """Send back the revision that the creator has read; a repeat may bring another note.

    raises  NotFound; StateConflict `draft_already_published`, `revision_conflict`;
            InvalidInput `validation_failed` for a note on an unknown question
    """
    with write_transaction():
        draft = drafts.open_draft(account_id, draft_id)
        drafts.require_revision(draft, revision)
        notes = dict(question_notes or {})
        if notes.keys() - {question["id"] for question in draft.questions}:
            problem = "one is on a question that is not there any more"
            raise wrong_field("note", problem, "Write it in the note on the whole draft.")
        draft.return_count += 1
        draft.returned_at, draft.returned_revision, draft.return_note = now, revision, note
        db.session.add(
            drafts.DraftReturn(
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
    """Let a draft that was sent back wait for confirmation again; leave any other as it is."""
    with write_transaction():
        draft = drafts.open_draft(account_id, draft_id)
        if draft.returned_at:
            draft.end_return()
            add_event(AuditKind.KEPT, account_id, by=by, now=now, subject=draft_id)


def list_returns(draft_id: str) -> Sequence[drafts.DraftReturn]:
    """List each time that the draft was sent back, oldest first."""
    returns = select(drafts.DraftReturn).where(drafts.DraftReturn.draft_id == draft_id)
    return db.session.scalars(returns.order_by(drafts.DraftReturn.number)).all()


def notes_on_questions(draft: drafts.Draft) -> dict[str, str]:
    """Return the notes on single questions, by id, while the draft is sent back."""
    return list_returns(draft.id)[-1].question_notes if draft.returned_at else {}


NOTES_SHOWN = 10  # the newest notes on revisions that the creator has not seen


def list_notes(draft: drafts.Draft, since: int) -> list[Any]:
    """Return the newest revisions after `since` with an agent's note, oldest first; the current
    one, if it has a note, even when it is not after `since`.
    """
    rows = read_rows(_SINCE, draft=draft.id, since=since) if since < draft.revision - 1 else []
    current = [draft] if draft.author and draft.agent_note else []
    return [*reversed(rows), *current][-NOTES_SHOWN:]


_SINCE = (
    select(drafts.DraftRevision.author, drafts.DraftRevision.agent_note)
    .where(
        drafts.DraftRevision.draft_id == bindparam("draft"),
        drafts.DraftRevision.revision > bindparam("since"),
        drafts.DraftRevision.author.is_not(None),
        drafts.DraftRevision.agent_note.is_not(None),
    )
    .order_by(drafts.DraftRevision.revision.desc())
    .limit(NOTES_SHOWN)
)


_AUTHORS = (
    select(Form.id, func.coalesce(drafts.Draft.author, drafts.Draft.created_by).label("grant_id"))
    .join(drafts.Draft, drafts.Draft.id == Form.draft_id)
    .where(among(Form.id, "forms"))
)


def find_form_authors(form_ids: Collection[str]) -> dict[str, str | None]:
    """Return the OAuth grant that wrote each form, by form id; None if its creator did."""
    return {row.id: row.grant_id for row in read_rows(_AUTHORS, forms=list(form_ids))}


def find_agent_draft(account_id: str, since: datetime) -> drafts.Draft | None:
    """Return the first unpublished draft that an agent created at or after `since`."""
    created = drafts.Draft.created_at
    by_agent = drafts.unpublished(account_id), drafts.Draft.created_by.is_not(None)
    query = select(drafts.Draft).where(*by_agent, created >= since).order_by(created).limit(1)
    return db.session.scalar(query)
