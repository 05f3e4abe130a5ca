"""What agents changed since the creator looked last: what the creator did meanwhile is no news.

A difference is left out only if no agent had a hand in it, or if the creator accepted it.
"""

from collections.abc import Iterable, Sequence
from datetime import datetime
from typing import NamedTuple

from sqlalchemy import ColumnElement, and_, case, select
from sqlalchemy.orm import aliased

from webapp.base.database import db, tried_again, write_transaction
from webapp.drafts.revisions import (
    QUESTION_PARTS,
    DraftView,
    RevisionRow,
    draft_of_revision,
    find_change,
    find_revision,
    list_views,
)
from webapp.records.content.diff import Change, Kind, differences
from webapp.records.content.model import CONTENT_COLUMNS, Content, QuestionRow
from webapp.records.drafts import Draft, DraftRevision, lock_draft, require_revision, unpublished

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


@tried_again
def accept_change(
    account_id: str, draft_id: str, key: str, *, revision: int, since: int, now: datetime
) -> None:
    """The creator has read one of the changes since revision `since`, which they saw last.

    With the last one, all of `revision` is seen.

    raises  NotFound; StateConflict `revision_conflict`
    """
    with write_transaction():
        draft = lock_draft(account_id, draft_id)
        require_revision(draft, revision)
        view = db.session.get(DraftView, draft.id)
        before = find_revision(draft, since) if view and view.revision == since else None
        if view is None or before is None:
            return
        find_change(draft, before, key)
        view.accepted = " ".join(sorted({*view.accepted.split(), key}))
        if not unseen_changes(draft, before, view.accepted):
            view.revision, view.seen_at, view.accepted = revision, now, ""


@tried_again
def keep_accepted(saved: Draft, revision: int) -> None:
    """What the creator had accepted of `revision`, and then edited themselves, stays read."""
    with write_transaction():
        view = db.session.get(DraftView, saved.id)
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
        for draft, accepted, *kept in db.session.execute(query)
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
    for row in map(RevisionRow._make, db.session.execute(query)):
        found.setdefault(row.draft_id, []).append(row)
    return found


_COLUMNS = tuple(DraftRevision.__table__.c[name] for name in RevisionRow._fields)


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
