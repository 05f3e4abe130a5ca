"""A draft between its agent and its creator: how far the review has come, what the creator changed,
and what the agent says alongside a change.
"""

import re
from collections.abc import Collection, Iterator
from datetime import datetime
from typing import NamedTuple

from sqlalchemy import bindparam, func, or_, select

from webapp.base.database import among, db, read_rows
from webapp.base.errors import ErrorCode, InvalidInput, refused_character
from webapp.base.vocabulary import DraftStatus, ReviewState
from webapp.drafts.confirmations import ConfirmationRow, is_current
from webapp.drafts.returns import standing_notes
from webapp.drafts.revisions import RevisionRow, draft_of_revision
from webapp.records.content.diff import longest_rising
from webapp.records.content.model import DRAFT_SETTINGS, Content, QuestionRow
from webapp.records.drafts import (
    AGENT_NOTE_MAX_CHARS,
    Draft,
    DraftRevision,
    missing_draft,
    unpublished,
)
from webapp.records.forms import Form


class CreatorChange(NamedTuple):
    """What the creator made of a part of the draft.

    kind  the name of a field of the draft, or what happened to a question
    The private context has neither `before` nor `after`. Positions count from 1.
    """

    kind: str
    question_id: str | None = None
    before: str | None = None
    after: str | None = None


def get_reviewed(account_id: str, draft_id: str) -> Draft:
    """The account's draft, a discarded one, too; raises NotFound `draft_not_found`."""
    draft = db.session.scalar(_REVIEWED, {"account": account_id, "draft": draft_id})
    if draft is None:
        raise missing_draft(account_id, draft_id)
    return draft


def review_state(draft: Draft, confirmation: ConfirmationRow | None) -> ReviewState:
    """`confirmation` is the newest one that counts."""
    if draft.status is DraftStatus.PUBLISHED:
        return ReviewState.PUBLISHED
    if draft.deleted_at:
        return ReviewState.DISCARDED
    if draft.returned_at:
        return ReviewState.RETURNED
    if confirmation is None:
        return ReviewState.WAITING
    return ReviewState.CONFIRMED if is_current(confirmation, draft) else ReviewState.STALE


def review_note(draft: Draft, state: ReviewState) -> str | None:
    """What the creator wrote about what brought the draft into this state."""
    notes = {ReviewState.RETURNED: draft.return_note, ReviewState.DISCARDED: draft.discard_note}
    return notes.get(state)


def creator_changes(draft: Draft) -> list[CreatorChange]:
    """What the creator changed since an agent wrote last, in the order of the review page; then
    their notes on single questions, while the draft is sent back.
    """
    found = [CreatorChange("question_note", *each) for each in _question_notes(draft)]
    last = (
        [] if draft.author else read_rows(_LAST_BY_AGENT, draft=draft.id, revision=draft.revision)
    )
    if last:
        found[:0] = _changes(draft_of_revision(draft, RevisionRow._make(last[0])), draft)
    return found


def _question_notes(draft: Draft) -> Iterator[tuple[str, None, str]]:
    notes = standing_notes(draft)
    for question in draft.questions:
        if question["id"] in notes:
            yield question["id"], None, notes[question["id"]]


_REVIEWED = select(Draft).where(
    Draft.id == bindparam("draft"),
    Draft.account_id == bindparam("account"),
    or_(Draft.deleted_at.is_(None), Draft.status == DraftStatus.DRAFT),
)
_LAST_BY_AGENT = (
    select(*(DraftRevision.__table__.c[name] for name in RevisionRow._fields))
    .where(
        DraftRevision.draft_id == bindparam("draft"),
        DraftRevision.revision < bindparam("revision"),
        DraftRevision.author.is_not(None),
    )
    .order_by(DraftRevision.revision.desc())
    .limit(1)
)


def _changes(before: Content, after: Content) -> Iterator[CreatorChange]:
    yield from _if_other("title", before.title, after.title)
    yield from _if_other("reason", before.public_reason, after.public_reason)
    yield from _if_other("goal", before.goal, after.goal)
    yield from _question_changes(before.questions, after.questions)
    for setting in DRAFT_SETTINGS:
        was, now = getattr(before, setting.column), getattr(after, setting.column)
        yield from _if_other(setting.name, _as_text(was), _as_text(now))
    if before.private_context != after.private_context:
        yield CreatorChange("context")


def _question_changes(
    before: list[QuestionRow], after: list[QuestionRow]
) -> Iterator[CreatorChange]:
    """By their ids: those stay when a creator rewords a question."""
    old = {question["id"]: place for place, question in enumerate(before)}
    stayed = longest_rising([old[each["id"]] for each in after if each["id"] in old])
    for place, question in enumerate(after):
        key = question["id"]
        if key not in old:
            yield CreatorChange("question_added", key, after=question["text"])
            yield from _if_other("question_follow_ups", None, _prepared(question), key)
            continue
        earlier = before[old[key]]
        if old[key] not in stayed:
            yield CreatorChange("question_moved", key, str(old[key] + 1), str(place + 1))
        yield from _if_other("question_text", earlier["text"], question["text"], key)
        hints = earlier.get("context"), question.get("context")
        yield from _if_other("question_context", *hints, key)
        prepared = _prepared(earlier), _prepared(question)
        yield from _if_other("question_follow_ups", *prepared, key)
    kept = {question["id"] for question in after}
    for question in before:
        if question["id"] not in kept:
            yield CreatorChange("question_removed", question["id"], before=question["text"])


def _prepared(question: QuestionRow) -> str:
    """The prepared follow-ups as lines, each behind its condition."""
    follow_ups = question.get("follow_ups", [])
    return "\n".join(f"{each['condition']}: {each['text']}" for each in follow_ups)


def _if_other(
    kind: str, before: str | None, after: str | None, question_id: str | None = None
) -> Iterator[CreatorChange]:
    was, now = before or None, after or None
    if was != now:
        yield CreatorChange(kind, question_id, was, now)


def _as_text(value: object) -> str | None:
    return None if value is None else str(value)


NOTES_SHOWN = 10  # the newest of the revisions that a creator has not seen
_REFUSED = re.compile("[\x00-\x1f\x7f-\x9f\u202a-\u202e\u2066-\u2069\ud800-\udfff]")


class AgentNote(NamedTuple):
    """What the agent of a grant said about a revision."""

    revision: int
    author: str
    text: str


def clean_note(text: str, name: str) -> str | None:
    """The note as it is stored, without space around it; None for none.

    name    of what holds it, for the message
    raises  InvalidInput `validation_failed` when it is too long or no line of text
    """
    if len(text) > AGENT_NOTE_MAX_CHARS:
        problem = f"has {len(text)} characters; at most {AGENT_NOTE_MAX_CHARS} are allowed"
        raise wrong_note(name, problem, "Say in half a sentence why, or send no note.")
    if found := _REFUSED.search(text):
        problem = refused_character(found[0], found.start() + 1)
        raise wrong_note(name, problem, "Send one line of text without that character.")
    return text.strip() or None


def wrong_note(name: str, problem: str, resolution: str) -> InvalidInput:
    """The refusal of a note."""
    message = f"{name}: {problem}."
    return InvalidInput(ErrorCode.VALIDATION_FAILED, message, resolution, field=name)


def list_notes(draft: Draft, since: int) -> list[AgentNote]:
    """The newest notes of the revisions after `since`, oldest first."""
    rows = read_rows(_SINCE, draft=draft.id, since=since) if since < draft.revision - 1 else []
    found = [AgentNote._make(row) for row in reversed(rows)]
    own = current_note(draft) if since < draft.revision else None
    return [*found, own][-NOTES_SHOWN:] if own else found


def current_note(draft: Draft) -> AgentNote | None:
    """The note of the current revision."""
    if draft.author is None or draft.agent_note is None:
        return None
    return AgentNote(draft.revision, draft.author, draft.agent_note)


_SINCE = (
    select(DraftRevision.revision, DraftRevision.author, DraftRevision.agent_note)
    .where(
        DraftRevision.draft_id == bindparam("draft"),
        DraftRevision.revision > bindparam("since"),
        DraftRevision.author.is_not(None),
        DraftRevision.agent_note.is_not(None),
    )
    .order_by(DraftRevision.revision.desc())
    .limit(NOTES_SHOWN)
)


class AgentDraft(NamedTuple):
    """A draft that an agent wrote, by its OAuth grant."""

    id: str
    title: str
    created_by: str


_AUTHORS = (
    select(Form.id, func.coalesce(Draft.author, Draft.created_by).label("grant_id"))
    .join(Draft, Draft.id == Form.draft_id)
    .where(among(Form.id, "forms"))
)
_AGENT_DRAFT = (
    select(*(Draft.__table__.c[name] for name in AgentDraft._fields))
    .where(
        unpublished(bindparam("account")),
        Draft.created_by.is_not(None),
        Draft.created_at >= bindparam("since", type_=Draft.created_at.type),
    )
    .order_by(Draft.created_at)
    .limit(1)
)


def find_form_authors(form_ids: Collection[str]) -> dict[str, str | None]:
    """The OAuth grant that wrote each form, None for its creator, by form id."""
    return {row.id: row.grant_id for row in read_rows(_AUTHORS, forms=list(form_ids))}


def find_agent_draft(account_id: str, since: datetime) -> AgentDraft | None:
    """The first unpublished draft that an agent began at or after `since`."""
    found = read_rows(_AGENT_DRAFT, account=account_id, since=since)
    return AgentDraft._make(found[0]) if found else None
