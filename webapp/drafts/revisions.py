"""The history of a draft, the revision its creator last viewed, and what agents changed since.

A difference is left out only if no agent contributed to it, or if the creator accepted it.
"""

from collections import defaultdict
from collections.abc import Sequence
from datetime import datetime
from typing import Any, NamedTuple, cast

from sqlalchemy import ColumnElement, ForeignKey, Text, and_, bindparam, case, select
from sqlalchemy.orm import Mapped, aliased, mapped_column

from webapp.base import database, errors, vocabulary
from webapp.drafts.confirmations import list_confirmations
from webapp.records import drafts
from webapp.records.content import diff, model
from webapp.records.drafts import Draft, DraftRevision


class DraftView(database.Base):
    """The revision that the creator last viewed, and the keys of the changes accepted since."""

    __tablename__ = "draft_views"

    draft_id: Mapped[str] = mapped_column(ForeignKey("drafts.id"), primary_key=True)
    revision: Mapped[int]
    seen_at: Mapped[datetime]
    accepted: Mapped[str] = mapped_column(Text, server_default="")

    def note(self, revision: int, now: datetime) -> None:
        self.revision, self.seen_at, self.accepted = revision, now, ""


def find_view(draft_id: str) -> DraftView | None:
    """Return the creator's last view of the draft, or None."""
    return database.db.session.get(DraftView, draft_id)


@database.tried_again
def mark_seen(
    account_id: str, draft_id: str, revision: int, *, now: datetime, is_first: bool = False
) -> None:
    """Store which revision the creator has seen; ignore a number that no revision has."""
    with database.write_transaction():
        draft = drafts.lock_draft(account_id, draft_id)
        view = find_view(draft.id)
        if 0 < revision <= draft.revision and not (view and is_first):
            view = view or DraftView(draft_id=draft.id)
            view.note(revision, now)
            database.db.session.add(view)


_VIEWED = (
    select(DraftView.draft_id)
    .join(Draft, Draft.id == DraftView.draft_id)
    .where(drafts.unpublished(bindparam("account")))
)


class Revision(NamedTuple):
    """A draft at one revision; `changes` are those since the previous one, none for the first."""

    draft: Draft
    changes: Sequence[diff.Change]
    confirmations: list[drafts.DraftConfirmation]


_COLUMNS = DraftRevision.__table__.c
_NEWEST_FIRST = (
    select(*_COLUMNS)
    .where(
        DraftRevision.draft_id == bindparam("draft"),
        DraftRevision.revision <= bindparam("newest"),
    )
    .order_by(DraftRevision.revision.desc())
    .limit(bindparam("most"))
)
_LAST_BY_AGENT = (
    select(*_COLUMNS)
    .where(
        DraftRevision.draft_id == bindparam("draft"),
        DraftRevision.revision > bindparam("since"),
        DraftRevision.author.is_not(None),
    )
    .order_by(DraftRevision.revision.desc())
    .limit(1)
)


def find_superseded(draft: Draft, revision: int) -> Draft | None:
    """Return the draft at a superseded revision as a transient object, or None."""
    found = database.read_rows(_NEWEST_FIRST, draft=draft.id, newest=revision, most=1)
    return _at(draft, found[0]) if found and found[0].revision == revision else None


def find_revision(draft: Draft, revision: int) -> Draft | None:
    """Return the draft at a current or superseded revision, or None."""
    return draft if revision == draft.revision else find_superseded(draft, revision)


def find_last_by_agent(draft: Draft, since: int = 0) -> Draft | None:
    """Return the draft at the newest revision after `since` that an agent wrote, or None."""
    if draft.author:
        return draft
    found = database.read_rows(_LAST_BY_AGENT, draft=draft.id, since=since)
    return _at(draft, found[0]) if found else None


def _at(draft: Draft, kept: Any) -> Draft:
    return Draft(
        id=draft.id,
        account_id=draft.account_id,
        status=vocabulary.DraftStatus.DRAFT,
        revision=kept.revision,
        created_by=draft.created_by,
        author=kept.author,
        agent_note=kept.agent_note,
        created_at=draft.created_at,
        updated_at=kept.created_at,
        **kept.content
        | {column: enum(kept.content[column]) for column, enum in model.ENUMS.items()},
    )


def list_revisions(draft: Draft, *, before: int | None, limit: int) -> list[Revision]:
    """Return at most `limit` revisions older than `before` (None = all), newest first."""
    newest = draft.revision if before is None else min(before - 1, draft.revision)
    # one more than requested, to compare the oldest shown with
    rows = database.read_rows(_NEWEST_FIRST, draft=draft.id, newest=newest, most=limit + 1)
    found = [draft] if newest == draft.revision else []
    found += [_at(draft, row) for row in rows]
    words = list_confirmations(draft.id)
    return [
        Revision(
            each,
            diff.differences(earlier, each) if earlier else (),
            [word for word in words if word.revision == each.revision],
        )
        for each, earlier in zip(found[:limit], [*found[1:], None], strict=False)
    ]


def back_to(draft: Draft, revision: int) -> model.DraftUpdate:
    """Return the update that restores `revision`; raises NotFound if there is none."""
    return model.snapshot(_revision(draft, revision))


# the key in a question, by the name of the part in differences
QUESTION_PARTS = {"question": "text", "hint": "context", "follow_ups": "follow_ups"}


def put_back(draft: Draft, since: int, key: str) -> model.DraftUpdate:
    """Return the update that undoes one difference since revision `since`."""
    before = _revision(draft, since)
    change = _find_change(draft, before, key)
    if change.part in QUESTION_PARTS:
        return model.DraftUpdate(questions=_questions(before.questions, draft.questions, change))
    return cast(model.DraftUpdate, {change.part: getattr(before, change.part)})


def _find_change(draft: Draft, before: model.Content, key: str) -> diff.Change:
    found = next((each for each in diff.differences(before, draft) if each.key == key), None)
    if found is None:
        raise _nothing_there()
    return found


def _questions(
    before: Sequence[model.QuestionRow], after: Sequence[model.QuestionRow], change: diff.Change
) -> list[model.QuestionRow]:
    place = (change.position or 1) - 1
    rows = [*after]
    if change.kind is diff.Kind.MOVED:
        row = rows.pop(place)
        rows.insert(_gap(before, rows, cast(int, change.was) - 1), row)
    elif change.part == "question" and change.kind is diff.Kind.REMOVED:
        rows.insert(_gap(before, after, place), before[place])
    elif change.part == "question" and change.kind is diff.Kind.ADDED:
        del rows[place]
    else:
        name = QUESTION_PARTS[change.part]
        earlier = before[diff.origins(before, after)[place] or 0]
        changed = dict(rows[place]) | {name: earlier.get(name)}  # None if absent
        rows[place] = cast(model.QuestionRow, {k: v for k, v in changed.items() if v is not None})
    if len(rows) > model.QUESTIONS_MAX:
        problem = f"at most {model.QUESTIONS_MAX} questions"
        raise errors.wrong_field("questions", problem, "Remove another question first.")
    return rows


def _gap(
    before: Sequence[model.QuestionRow], after: Sequence[model.QuestionRow], place: int
) -> int:
    """Return the index for the earlier question at `place`: after its unmoved predecessor."""
    came_from = diff.origins(before, after)
    stayed = diff.longest_rising(came_from)
    return max((came_from.index(origin) + 1 for origin in stayed if origin < place), default=0)


def _revision(draft: Draft, number: int) -> Draft:
    found = find_revision(draft, number)
    if found is None:
        raise _nothing_there()
    return found


def _nothing_there() -> errors.NotFound:
    return errors.NotFound(
        errors.PageCode.REVISION_NOT_FOUND,
        "There is no such revision or change of this draft.",
        "Open the draft again and choose from what it shows.",
    )


Part = tuple[str, str]  # a content column and "", or a question id and a part of that question


def unseen_changes(draft: Draft, before: Draft, accepted: str = "") -> list[diff.Change]:
    """Return the differences that agents made since `before`, the revision last seen."""
    return _by_agents(draft, before, accepted, _turns(Draft.id == draft.id)[draft.id])


@database.tried_again
def accept_change(
    account_id: str, draft_id: str, key: str, *, revision: int, since: int, now: datetime
) -> None:
    """Store that the creator accepts one change since revision `since`, the one they last saw.

    Accepting the last change marks all of `revision` as seen.
    """
    with database.write_transaction():
        draft = drafts.lock_draft(account_id, draft_id)
        drafts.require_revision(draft, revision)
        view = find_view(draft.id)
        before = find_revision(draft, since) if view and view.revision == since else None
        if view is None or before is None:
            return
        _find_change(draft, before, key)
        view.accepted = " ".join(sorted({*view.accepted.split(), key}))
        if not unseen_changes(draft, before, view.accepted):
            view.note(revision, now)


@database.tried_again
def keep_accepted(saved: Draft, revision: int) -> None:
    """Keep a change accepted when the creator has edited the same part after `revision`."""
    with database.write_transaction():
        view = find_view(saved.id)
        seen = find_revision(saved, view.revision) if view and view.accepted else None
        before = find_revision(saved, revision)
        if view is None or seen is None or before is None:
            return
        keys = set(view.accepted.split())
        changes = [each for each in diff.differences(seen, before) if each.key in keys]
        read = {(each.part, each.question_id) for each in changes}
        found = diff.differences(seen, saved)
        keys |= {each.key for each in found if (each.part, each.question_id) in read}
        view.accepted = " ".join(sorted(keys))


def count_unseen_changes(account_id: str) -> dict[str, int]:
    """Return the number of unseen changes by draft id, for viewed, unpublished drafts."""
    seen = and_(
        DraftRevision.draft_id == DraftView.draft_id, DraftRevision.revision == DraftView.revision
    )
    query = (
        select(Draft, DraftView.accepted, DraftRevision)
        .join(DraftView, DraftView.draft_id == Draft.id)
        .join(DraftRevision, seen)
        .where(drafts.unpublished(account_id))
    )
    changed = database.db.session.execute(query).all()
    turns = _turns(drafts.unpublished(account_id)) if changed else {}
    counts = {row.draft_id: 0 for row in database.read_rows(_VIEWED, account=account_id)}
    for draft, accepted, kept in changed:
        counts[draft.id] = len(_by_agents(draft, _at(draft, kept), accepted, turns[draft.id]))
    return counts


def _by_agents(
    draft: Draft, before: Draft, accepted: str, turns: Sequence[DraftRevision]
) -> list[diff.Change]:
    keys = set(accepted.split())
    found = [each for each in diff.differences(before, draft) if each.key not in keys]
    if not turns:
        return found if draft.author else []
    kept = [_at(draft, row) for row in turns]
    by_agents: set[Part] = set()
    by_creator: set[Part] = set()
    for one, other in zip([before, *kept], [*kept, draft], strict=True):
        touched = by_agents if other.author else by_creator
        touched.update(*map(_parts, diff.compare(one, other)))
    return [each for each in found if (parts := _parts(each)) & by_agents or not parts & by_creator]


def _turns(which: ColumnElement[bool]) -> defaultdict[str, list[DraftRevision]]:
    """Return the revisions after the last view whose next revision is by the other side, agent or
    creator: oldest first, by draft id.
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
        select(DraftRevision)
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
    found: defaultdict[str, list[DraftRevision]] = defaultdict(list)
    for row in database.db.session.scalars(query):
        found[row.draft_id].append(row)
    return found


def _parts(change: diff.Change) -> set[Part]:
    if change.question_id is None:
        return {(change.part, "")}
    if change.kind is diff.Kind.MOVED:
        return {("questions", "order")}
    is_whole = change.part == "question" and change.kind in {diff.Kind.ADDED, diff.Kind.REMOVED}
    return {(change.question_id, part) for part in (QUESTION_PARTS if is_whole else (change.part,))}
