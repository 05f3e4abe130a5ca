"""What agents say alongside a change, and which agent made a draft."""

import re
from collections.abc import Collection
from datetime import datetime
from typing import NamedTuple

from sqlalchemy import bindparam, func, select

from webapp.base.database import among, read_rows
from webapp.base.error_codes import ErrorCode
from webapp.base.errors import InvalidInput, refused_character
from webapp.base.limits import AGENT_NOTE_MAX_CHARS
from webapp.records.drafts import Draft, DraftRevision, unpublished
from webapp.records.forms import Form

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
