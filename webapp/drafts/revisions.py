"""The history of a draft, which revision its creator has viewed, and what agents changed since.

A difference is left out only if no agent had a hand in it, or if the creator accepted it.
"""

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from datetime import datetime
from typing import NamedTuple, cast

from sqlalchemy import ColumnElement, ForeignKey, Text, and_, bindparam, case, select, text
from sqlalchemy.orm import Mapped, aliased, mapped_column

from webapp.base import database
from webapp.base.errors import ErrorCode, InvalidInput, NotFound, PageCode
from webapp.base.vocabulary import DraftStatus
from webapp.drafts.confirmations import ConfirmationRow, list_confirmations
from webapp.records.content.diff import Change, Kind, differences, longest_rising, origins
from webapp.records.content.draft_input import QUESTIONS_MAX
from webapp.records.content.model import (
    CONTENT_COLUMNS,
    ENUMS,
    Content,
    DraftUpdate,
    QuestionRow,
    snapshot,
)
from webapp.records.drafts import Draft, DraftRevision, lock_draft, require_revision, unpublished


class DraftView(database.Base):
    """The revision that the creator viewed last."""

    __tablename__ = "draft_views"

    draft_id: Mapped[str] = mapped_column(ForeignKey("drafts.id"), primary_key=True)
    revision: Mapped[int]
    seen_at: Mapped[datetime]
    accepted: Mapped[str] = mapped_column(Text, server_default="")


class ViewRow(NamedTuple):
    """The revision and time of the creator's last view; the keys of changes accepted since."""

    revision: int
    seen_at: datetime
    accepted: str


def list_views(account_id: str) -> dict[str, int]:
    """The last revision the creator viewed, by id of each unpublished draft that was viewed."""
    return {row.draft_id: row.revision for row in database.read_rows(_VIEWS, account=account_id)}


def find_view(draft_id: str) -> ViewRow | None:
    """The creator's last view of the draft, with its revision."""
    found = database.read_rows(_VIEW, draft=draft_id)
    return ViewRow._make(found[0]) if found else None


@database.tried_again
def mark_seen(account_id: str, draft_id: str, revision: int, *, now: datetime) -> None:
    """Store which revision the creator has seen; ignores a number that no revision has.

    raises  NotFound
    """
    with database.write_transaction():
        draft = lock_draft(account_id, draft_id)
        if 0 < revision <= draft.revision:
            view = database.db.session.get(DraftView, draft.id) or DraftView(draft_id=draft.id)
            view.revision, view.seen_at, view.accepted = revision, now, ""
            database.db.session.add(view)


def note_first_look(draft_id: str, revision: int, *, now: datetime) -> None:
    """Store the revision of the creator's first view, unless a view is stored already."""
    database.execute_autocommit(
        _FIRST_LOOK, draft=draft_id, revision=revision, seen_at=database.to_millis(now)
    )


_FIRST_LOOK = text(
    "INSERT INTO draft_views (draft_id, revision, seen_at)"
    " SELECT id, :revision, :seen_at FROM drafts WHERE id = :draft"
    " ON CONFLICT (draft_id) DO NOTHING"
)
_VIEWS = (
    select(DraftView.draft_id, DraftView.revision)
    .join(Draft, Draft.id == DraftView.draft_id)
    .where(unpublished(bindparam("account")))
)
_VIEW = select(*(DraftView.__table__.c[name] for name in ViewRow._fields)).where(
    DraftView.draft_id == bindparam("draft")
)


# a part as differences name it, and its key in a question
QUESTION_PARTS = {"question": "text", "hint": "context", "follow_ups": "follow_ups"}


class RevisionRow(NamedTuple):
    """The columns of `DraftRevision` as a statement read them."""

    draft_id: str
    revision: int
    content: DraftUpdate
    author: str | None
    agent_note: str | None
    created_at: datetime


@dataclass(frozen=True, slots=True)
class Revision:
    """One revision; `changes` since the one before, none for the first. `author` is a grant."""

    number: int
    author: str | None
    agent_note: str | None
    written_at: datetime
    changes: list[Change]
    confirmations: list[ConfirmationRow]
    questions: list[QuestionRow]


def find_revision(draft: Draft, revision: int) -> Draft | None:
    """The content of one revision of the draft, current or superseded; None if there is none."""
    if revision == draft.revision:
        return draft
    kept = find_superseded(draft.id, revision)
    return None if kept is None else draft_of_revision(draft, kept)


def find_superseded(draft_id: str, revision: int) -> RevisionRow | None:
    """The row of a superseded revision."""
    found = database.read_rows(_SUPERSEDED, draft=draft_id, revision=revision)
    return RevisionRow._make(found[0]) if found else None


def draft_of_revision(draft: Draft, kept: RevisionRow) -> Draft:
    """The draft at a superseded revision, transient."""
    values: dict[str, object] = {**kept.content}
    for column, enum in ENUMS.items():
        values[column] = enum(str(values[column]))
    return Draft(
        id=draft.id,
        account_id=draft.account_id,
        status=DraftStatus.DRAFT,
        revision=kept.revision,
        created_by=draft.created_by,
        author=kept.author,
        agent_note=kept.agent_note,
        created_at=draft.created_at,
        updated_at=kept.created_at,
        **values,
    )


_COLUMNS = tuple(DraftRevision.__table__.c[name] for name in RevisionRow._fields)
_NEWEST_FIRST = (
    select(*_COLUMNS)
    .where(
        DraftRevision.draft_id == bindparam("draft"),
        DraftRevision.revision <= bindparam("newest"),
    )
    .order_by(DraftRevision.revision.desc())
    .limit(bindparam("most"))
)
_SUPERSEDED = select(*_COLUMNS).where(
    DraftRevision.draft_id == bindparam("draft"), DraftRevision.revision == bindparam("revision")
)


def list_revisions(draft: Draft, *, before: int | None, limit: int) -> list[Revision]:
    """At most `limit` revisions older than `before` (None = all), newest first."""
    newest = draft.revision if before is None else min(before - 1, draft.revision)
    kept = {row.revision: row for row in _superseded(draft, newest, limit)}
    contents = {number: draft_of_revision(draft, row) for number, row in kept.items()}
    contents[draft.revision] = draft
    words = list_confirmations(draft.id)
    found = []
    for number in range(newest, max(newest - limit, 0), -1):
        row, earlier = kept.get(number), contents.get(number - 1)
        found.append(
            Revision(
                number,
                row.author if row else draft.author,
                row.agent_note if row else draft.agent_note,
                row.created_at if row else draft.updated_at,
                differences(earlier, contents[number]) if earlier else [],
                [word for word in words if word.revision == number],
                contents[number].questions,
            )
        )
    return found


def last_agent_since(draft: Draft, revision: int) -> str | None:
    """The grant that wrote last after `revision`; None if only the creator did."""
    if draft.author:
        return draft.author
    return database.db.session.scalar(
        select(DraftRevision.author)
        .where(
            DraftRevision.draft_id == draft.id,
            DraftRevision.revision > revision,
            DraftRevision.author.is_not(None),
        )
        .order_by(DraftRevision.revision.desc())
        .limit(1)
    )


def back_to(draft: Draft, revision: int) -> DraftUpdate:
    """The update that restores `revision`; raises NotFound if there is none."""
    return snapshot(_revision(draft, revision))


def put_back(draft: Draft, since: int, key: str) -> DraftUpdate:
    """One of the differences since revision `since` undone.

    raises  NotFound for a revision or a difference that does not exist; InvalidInput when the form
            would hold too many questions
    """
    before = _revision(draft, since)
    change = find_change(draft, before, key)
    if change.part in QUESTION_PARTS:
        return DraftUpdate(questions=_questions(before.questions, draft.questions, change))
    return cast(DraftUpdate, {change.part: getattr(before, change.part)})


def find_change(draft: Draft, before: Content, key: str) -> Change:
    """The difference of that key; raises NotFound."""
    found = next((each for each in differences(before, draft) if each.key == key), None)
    if found is None:
        raise _nothing_there()
    return found


def _questions(
    before: Sequence[QuestionRow], after: Sequence[QuestionRow], change: Change
) -> list[QuestionRow]:
    """The later list with one change of a question undone."""
    place = (change.position or 1) - 1
    rows = [*after]
    if change.part == "question" and change.kind is Kind.REMOVED:
        rows.insert(_gap(before, after, place), before[place])
    elif change.part == "question" and change.kind is Kind.ADDED:
        del rows[place]
    elif change.kind is Kind.MOVED:
        row = rows.pop(place)
        rows.insert(_gap(before, rows, cast(int, change.was) - 1), row)
    else:
        origin = origins(before, after)[place]
        rows[place] = _with_earlier(rows[place], before[origin or 0], QUESTION_PARTS[change.part])
    if len(rows) > QUESTIONS_MAX:
        raise InvalidInput(
            ErrorCode.VALIDATION_FAILED,
            f"questions: at most {QUESTIONS_MAX} questions.",
            "Remove another question first.",
            field="questions",
        )
    return rows


def _gap(before: Sequence[QuestionRow], after: Sequence[QuestionRow], place: int) -> int:
    """The index for the earlier question at `place`: behind its nearest unmoved predecessor.

    So only this move is undone.
    """
    came_from = origins(before, after)
    stayed = longest_rising([origin for origin in came_from if origin is not None])
    now_at = {origin: at for at, origin in enumerate(came_from) if origin in stayed}
    above = [now_at[earlier] for earlier in range(place) if earlier in now_at]
    return above[-1] + 1 if above else 0


def _with_earlier(row: QuestionRow, earlier: QuestionRow, name: str) -> QuestionRow:
    others = {key: value for key, value in row.items() if key != name}
    given = {key: value for key, value in earlier.items() if key == name}
    return cast(QuestionRow, others | given)


def _superseded(draft: Draft, newest: int, limit: int) -> list[RevisionRow]:
    """One more than asked for: the oldest shown is compared with it."""
    found = database.read_rows(_NEWEST_FIRST, draft=draft.id, newest=newest, most=limit + 1)
    return list(map(RevisionRow._make, found))


def _revision(draft: Draft, number: int) -> Content:
    found = find_revision(draft, number)
    if found is None:
        raise _nothing_there()
    return found


def _nothing_there() -> NotFound:
    return NotFound(
        PageCode.REVISION_NOT_FOUND,
        "There is no such revision or change of this draft.",
        "Open the draft again and choose from what it shows.",
    )


Part = tuple[str, str]  # a content column, or a question by its id and what of it
MOVED = ("questions", "order")


class Looked(NamedTuple):
    """A draft, how it was when the creator looked, and the keys of changes accepted since."""

    draft: Draft
    before: Draft
    accepted: str


def unseen_changes(draft: Draft, before: Draft, accepted: str = "") -> list[Change]:
    """The differences since `before`, the revision that was seen last, by agents.

    accepted  the keys of those that the creator has accepted one by one
    """
    (found,) = _by_agents([Looked(draft, before, accepted)], Draft.id == draft.id)
    return found


@database.tried_again
def accept_change(
    account_id: str, draft_id: str, key: str, *, revision: int, since: int, now: datetime
) -> None:
    """The creator has read one of the changes since revision `since`, which they saw last.

    With the last one, all of `revision` is seen.

    raises  NotFound; StateConflict `revision_conflict`
    """
    with database.write_transaction():
        draft = lock_draft(account_id, draft_id)
        require_revision(draft, revision)
        view = database.db.session.get(DraftView, draft.id)
        before = find_revision(draft, since) if view and view.revision == since else None
        if view is None or before is None:
            return
        find_change(draft, before, key)
        view.accepted = " ".join(sorted({*view.accepted.split(), key}))
        if not unseen_changes(draft, before, view.accepted):
            view.revision, view.seen_at, view.accepted = revision, now, ""


@database.tried_again
def keep_accepted(saved: Draft, revision: int) -> None:
    """What the creator had accepted of `revision`, and then edited themselves, stays read."""
    with database.write_transaction():
        view = database.db.session.get(DraftView, saved.id)
        seen = find_revision(saved, view.revision) if view and view.accepted else None
        before = find_revision(saved, revision)
        if view is None or seen is None or before is None:
            return
        keys = set(view.accepted.split())
        read = {
            (each.part, each.question_id) for each in differences(seen, before) if each.key in keys
        }
        found = differences(seen, saved)
        keys |= {each.key for each in found if (each.part, each.question_id) in read}
        view.accepted = " ".join(sorted(keys))


def count_unseen_changes(account_id: str) -> dict[str, int]:
    """Their number by id of each unpublished draft of the account that was viewed.

    The contents of all changed drafts are read by one statement, the turns between agents and the
    creator by another one.
    """
    looked = _looked(account_id)
    found = _by_agents(looked, unpublished(account_id))
    counts = {each.draft.id: len(changes) for each, changes in zip(looked, found, strict=True)}
    return dict.fromkeys(list_views(account_id), 0) | counts


def _looked(account_id: str) -> list[Looked]:
    """The drafts of the account that changed since they were looked at."""
    seen = and_(
        DraftRevision.draft_id == DraftView.draft_id, DraftRevision.revision == DraftView.revision
    )
    query = (
        select(Draft, DraftView.accepted, *_COLUMNS)
        .join(DraftView, DraftView.draft_id == Draft.id)
        .join(DraftRevision, seen)
        .where(unpublished(account_id))
    )
    return [
        Looked(draft, draft_of_revision(draft, RevisionRow._make(kept)), accepted)
        for draft, accepted, *kept in database.db.session.execute(query)
    ]


def _by_agents(looked: Sequence[Looked], which: ColumnElement[bool]) -> list[list[Change]]:
    turns = _turns(which) if looked else {}
    return [_unseen(each, turns.get(each.draft.id, [])) for each in looked]


def _unseen(looked: Looked, turns: Sequence[RevisionRow]) -> list[Change]:
    draft, before, accepted = looked
    keys = set(accepted.split())
    found = [each for each in differences(before, draft) if each.key not in keys]
    if not turns:
        return found if draft.author else []
    kept = [draft_of_revision(draft, row) for row in turns]
    by_agents: set[Part] = set()
    by_creator: set[Part] = set()
    for one, other in zip([before, *kept], [*kept, draft], strict=True):
        (by_agents if other.author else by_creator).update(_touched(one, other))
    return [each for each in found if (parts := _parts(each)) & by_agents or not parts & by_creator]


def _turns(which: ColumnElement[bool]) -> dict[str, list[RevisionRow]]:
    """Revisions after the last look at which an agent had written and the creator wrote next, or
    the other way round, oldest first by draft.
    """
    following = aliased(DraftRevision)
    is_next = and_(
        following.draft_id == DraftRevision.draft_id,
        following.revision == DraftRevision.revision + 1,
    )
    next_by_creator = case(
        (following.draft_id.is_(None), Draft.author.is_(None)), else_=following.author.is_(None)
    )
    query = (
        select(*_COLUMNS)
        .join(Draft, Draft.id == DraftRevision.draft_id)
        .join(DraftView, DraftView.draft_id == Draft.id)
        .outerjoin(following, is_next)
        .where(
            which,
            DraftRevision.revision > DraftView.revision,
            DraftRevision.author.is_(None) != next_by_creator,
        )
        .order_by(DraftRevision.draft_id, DraftRevision.revision)
    )
    found: dict[str, list[RevisionRow]] = {}
    for row in map(RevisionRow._make, database.db.session.execute(query)):
        found.setdefault(row.draft_id, []).append(row)
    return found


def _touched(before: Content, after: Content) -> Iterable[Part]:
    """The parts in which two contents differ."""
    for column in CONTENT_COLUMNS:
        if column != "questions" and getattr(before, column) != getattr(after, column):
            yield column, ""
    old, new = _by_id(before.questions), _by_id(after.questions)
    for key in old.keys() | new.keys():
        one, other = old.get(key, QuestionRow()), new.get(key, QuestionRow())
        for part, name in QUESTION_PARTS.items():
            if one.get(name) != other.get(name):
                yield key, part
    if [key for key in old if key in new] != [key for key in new if key in old]:
        yield MOVED


def _by_id(questions: Iterable[QuestionRow]) -> dict[str, QuestionRow]:
    return {question["id"]: question for question in questions}


def _parts(change: Change) -> set[Part]:
    """What the change shows: of a question that was added or removed, all of it."""
    if change.question_id is None:
        return {(change.part, "")}
    if change.kind is Kind.MOVED:
        return {MOVED}
    is_whole = change.part == "question" and change.kind in {Kind.ADDED, Kind.REMOVED}
    return {(change.question_id, part) for part in (QUESTION_PARTS if is_whole else (change.part,))}
