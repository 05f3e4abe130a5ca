"""Drafts: an agent writes, the creator confirms one exact revision, publishing makes a form.

States: draft -> published. Every change of content raises `revision` and keeps the superseded
content; a confirmation is bound to revision and hash, so any change of content voids it.
"""

from collections.abc import Iterable
from datetime import datetime
from typing import Any

from sqlalchemy import (
    JSON,
    BindParameter,
    ColumnElement,
    ForeignKey,
    Integer,
    Row,
    Select,
    String,
    and_,
    bindparam,
    func,
    insert,
    select,
    update,
)
from sqlalchemy.exc import IntegrityError
from sqlalchemy.orm import Mapped, mapped_column

from webapp.database import (
    Base,
    begin_write,
    db,
    look,
    new_id,
    on_sqlite,
    rows,
    write,
    writing,
)
from webapp.domain.content import (
    CONTENT_COLUMNS,
    Content,
    content_hash,
    merged,
    require_context,
    snapshot,
    words,
)
from webapp.domain.draft_input import DraftChanges
from webapp.domain.errors import NotFound, StateConflict
from webapp.domain.repeats import Repeatable, find_repeated, remember
from webapp.domain.terms import (
    ConfirmationMethod,
    DraftStatus,
    FollowUpMode,
    ResponseLimit,
    ResponseMode,
)
from webapp.prepared import run


class Draft(Content, Base):
    """A private form in the making. `author` is the OAuth grant that wrote last, None = creator."""

    __tablename__ = "drafts"

    id: Mapped[str] = mapped_column(String(40), primary_key=True)
    account_id: Mapped[str] = mapped_column(ForeignKey("accounts.id"), index=True)
    status: Mapped[DraftStatus] = mapped_column(words(DraftStatus, "status"))
    revision: Mapped[int]
    content_hash: Mapped[str] = mapped_column(String(64))
    created_by: Mapped[str | None] = mapped_column(String(40))
    author: Mapped[str | None] = mapped_column(String(40))
    created_at: Mapped[datetime]
    updated_at: Mapped[datetime]
    deleted_at: Mapped[datetime | None]


class DraftRevision(Base):
    """A superseded content of a draft."""

    __tablename__ = "draft_revisions"

    draft_id: Mapped[str] = mapped_column(ForeignKey("drafts.id"), primary_key=True)
    revision: Mapped[int] = mapped_column(primary_key=True)
    content: Mapped[dict[str, Any]] = mapped_column(JSON)
    author: Mapped[str | None] = mapped_column(String(40))
    created_at: Mapped[datetime]


class DraftConfirmation(Base):
    """The creator's word (or the agent's, `agent_attested`) for one revision. Append only."""

    __tablename__ = "draft_confirmations"

    id: Mapped[str] = mapped_column(String(40), primary_key=True)
    draft_id: Mapped[str] = mapped_column(ForeignKey("drafts.id"), index=True)
    revision: Mapped[int]
    content_hash: Mapped[str] = mapped_column(String(64))
    method: Mapped[ConfirmationMethod] = mapped_column(words(ConfirmationMethod, "method"))
    grant_id: Mapped[str | None] = mapped_column(String(40))
    created_at: Mapped[datetime]


class DraftView(Base):
    """The revision that the creator looked at last."""

    __tablename__ = "draft_views"

    draft_id: Mapped[str] = mapped_column(ForeignKey("drafts.id"), primary_key=True)
    revision: Mapped[int]
    seen_at: Mapped[datetime]


def create_draft(
    account_id: str,
    changes: DraftChanges,
    *,
    author: str | None,
    now: datetime,
    repeatable: Repeatable | None = None,
) -> Draft:
    """A private draft at revision 1; never a public link (spec, Endpoints behaviour 1).

    A repeat of `repeatable` returns the draft as it was created.
    raises  InvalidInput `context_required`, `idempotency_key_reused`
    """
    draft = Draft(
        id=new_id("drf"),
        account_id=account_id,
        status=DraftStatus.DRAFT,
        revision=1,
        created_by=author,
        author=author,
        created_at=now,
        updated_at=now,
        **_EMPTY | merged(changes, []),
    )
    require_context(draft)
    draft.content_hash = content_hash(draft)
    if repeatable:
        return _create_once(account_id, draft, repeatable, now)
    write(_INSERT, **_columns(draft, _COLUMNS))
    return draft


def get_draft(account_id: str, draft_id: str) -> Draft:
    """The account's draft; raises NotFound `draft_not_found`."""
    draft = db.session.scalar(owned_draft(account_id, draft_id))
    if draft is None:
        raise no_draft()
    return draft


def list_drafts(account_id: str) -> list[Row[Any]]:
    """What a list shows of each unpublished draft, changed last first.

    Rows of id, title, author, created_by, revision, updated_at and question_count.
    """
    query = (
        select(
            Draft.id,
            Draft.title,
            Draft.author,
            Draft.created_by,
            Draft.revision,
            Draft.updated_at,
            func.json_array_length(Draft.questions).label("question_count"),
        )
        .where(unpublished(account_id))
        .order_by(Draft.updated_at.desc(), Draft.id)
    )
    return list(db.session.execute(query))


def update_draft(
    account_id: str,
    draft_id: str,
    changes: DraftChanges,
    *,
    author: str | None,
    now: datetime,
    expected_revision: int | None = None,
) -> Draft:
    """Replace the supplied content; a change that changes nothing keeps revision and confirmation.

    raises  NotFound `draft_not_found`; StateConflict `draft_already_published`,
            `revision_conflict` (another revision than expected); InvalidInput `context_required`
    """
    while True:
        before = _row(account_id, draft_id)
        _require_open(before)
        if expected_revision is not None:
            require_revision(before, expected_revision)
        given = merged(changes, before.questions)
        draft = Draft(**{**before._asdict(), **given})
        require_context(draft)
        draft.content_hash = content_hash(draft)
        if draft.content_hash != before.content_hash:
            draft.revision, draft.author, draft.updated_at = before.revision + 1, author, now
        unchanged = all(given[name] == getattr(before, name) for name in given)
        if unchanged or _replace(before, draft):
            return draft


def list_views(account_id: str) -> dict[str, int]:
    """Last revision the creator looked at, by id of each unpublished draft that was opened."""
    query = (
        select(DraftView.draft_id, DraftView.revision)
        .join(Draft, Draft.id == DraftView.draft_id)
        .where(unpublished(account_id))
    )
    return {row.draft_id: row.revision for row in db.session.execute(query)}


def find_view(draft: Draft) -> DraftView | None:
    """When and at which revision the creator looked last."""
    return db.session.get(DraftView, draft.id)


def mark_seen(account_id: str, draft_id: str, revision: int, *, now: datetime) -> None:
    """Remember which revision the creator has seen; one that never was is ignored.

    raises  NotFound
    """
    begin_write()
    draft = _locked(account_id, draft_id)
    if 0 < revision <= draft.revision:
        view = db.session.get(DraftView, draft.id) or DraftView(draft_id=draft.id)
        view.revision, view.seen_at = revision, now
        db.session.add(view)
    db.session.commit()


def find_revision(draft: Draft, revision: int) -> Content | None:
    """The content of one revision of the draft, current or superseded; None if there is none."""
    if revision == draft.revision:
        return draft
    kept = db.session.get(DraftRevision, (draft.id, revision))
    return None if kept is None else content_of(kept)


def content_of(kept: DraftRevision) -> Draft:
    """The content of a superseded revision, as a draft that is in no session."""
    values = dict(kept.content)
    values["follow_up_mode"] = FollowUpMode(values["follow_up_mode"])
    values["response_mode"] = ResponseMode(values["response_mode"])
    values["response_limit"] = ResponseLimit(values["response_limit"])
    return Draft(id=kept.draft_id, status=DraftStatus.DRAFT, revision=kept.revision, **values)


_TABLE = Draft.__table__
_COLUMNS = tuple(_TABLE.c.keys())
_CHANGING = (*CONTENT_COLUMNS, "revision", "content_hash", "author", "updated_at")
_KEPT = {
    f"kept_{column.key}": bindparam(f"kept_{column.key}", type_=column.type)
    for column in DraftRevision.__table__.c
}
_INSERT = insert(Draft)
# What a hash does not cover may change at one revision: whether follow-ups have a given number.
_REPLACE = (
    update(Draft)
    .where(
        Draft.id == bindparam("key"),
        Draft.status == DraftStatus.DRAFT,
        Draft.deleted_at.is_(None),
        Draft.revision == bindparam("seen_revision"),
        Draft.followups_given.is_not_distinct_from(bindparam("seen_followups", type_=Integer)),
    )
    .values({name: bindparam(name) for name in _CHANGING})
    .returning(Draft.id)
)
_KEEP = insert(DraftRevision).values(
    dict(zip(DraftRevision.__table__.c.keys(), _KEPT.values(), strict=True))
)
_REPLACED = _REPLACE.cte("replaced")
_REPLACE_AND_KEEP = (
    insert(DraftRevision)
    .from_select(DraftRevision.__table__.c.keys(), select(*_KEPT.values()).select_from(_REPLACED))
    .returning(DraftRevision.revision)
)
_EMPTY: dict[str, Any] = {
    "title": "",
    "goal": None,
    "private_context": None,
    "questions": [],
    "follow_up_mode": FollowUpMode.NONE,
    "response_mode": ResponseMode.VOICE_PREFERRED,
    "response_limit": ResponseLimit.MULTIPLE,
    "followups_given": None,
    "max_total_questions": None,
}


def owned_draft(
    account_id: str | BindParameter[str], draft_id: str | BindParameter[str]
) -> Select[Draft]:
    """The select of one draft of the account; a deleted form has taken its draft with it."""
    return select(Draft).where(
        Draft.id == draft_id, Draft.account_id == account_id, Draft.deleted_at.is_(None)
    )


def unpublished(account_id: str) -> ColumnElement[bool]:
    """The condition for the drafts of an account that are neither published nor discarded."""
    return and_(
        Draft.account_id == account_id,
        Draft.status == DraftStatus.DRAFT,
        Draft.deleted_at.is_(None),
    )


def no_draft() -> NotFound:
    """The outcome for an unknown draft and for another account's."""
    return NotFound(
        "draft_not_found",
        "There is no such draft in this account.",
        "Use the draftId that creating the draft returned, with the same connected account.",
    )


def require_revision(draft: Draft | Row[Any], expected: int) -> None:
    """Raises StateConflict `revision_conflict` unless the draft is at that revision."""
    if draft.revision != expected:
        raise StateConflict(
            "revision_conflict",
            f"The draft is at revision {draft.revision}, not {expected}.",
            "Read the draft again, then repeat the request on its current revision.",
        )


def open_draft(account_id: str, draft_id: str) -> Draft:
    """The draft under a row lock, still changeable; raises NotFound, StateConflict."""
    draft = _locked(account_id, draft_id)
    _require_open(draft)
    return draft


def _require_open(draft: Draft | Row[Any]) -> None:
    if draft.status is DraftStatus.PUBLISHED:
        raise StateConflict(
            "draft_already_published",
            "The draft is published and cannot change any more.",
            "Create a new draft for a changed form.",
        )


_LOCKED = (
    owned_draft(bindparam("account"), bindparam("draft"))
    .with_for_update()
    .execution_options(populate_existing=True)
)
_ROW = owned_draft(bindparam("account"), bindparam("draft")).with_only_columns(*_TABLE.c)


def _locked(account_id: str, draft_id: str) -> Draft:
    draft = db.session.scalar(_LOCKED, {"draft": draft_id, "account": account_id})
    if draft is None:
        raise no_draft()
    return draft


def _row(account_id: str, draft_id: str) -> Row[Any]:
    found = look(_ROW, account=account_id, draft=draft_id)
    if not found:
        raise no_draft()
    return found[0]


def _replace(before: Row[Any], draft: Draft) -> bool:
    """Write the draft over the row, which is kept as history; False when it is another by now."""
    values = _columns(draft, _CHANGING) | {
        "key": before.id,
        "seen_revision": before.revision,
        "seen_followups": before.followups_given,
    }
    if draft.revision == before.revision:
        return bool(write(_REPLACE, **values))
    kept = _superseded(before)
    if not on_sqlite():
        return bool(write(_REPLACE_AND_KEEP, **values, **kept))
    with writing() as connection:
        replaced = run(connection, _REPLACE, values).fetchall()
        if replaced:
            run(connection, _KEEP, kept)
    return bool(replaced)


def _columns(draft: Draft, names: Iterable[str]) -> dict[str, Any]:
    return {name: getattr(draft, name) for name in names}


def _superseded(row: Row[Any]) -> dict[str, Any]:
    """The history row of a draft that is about to change."""
    return {
        "kept_draft_id": row.id,
        "kept_revision": row.revision,
        "kept_content": snapshot(row),
        "kept_author": row.author,
        "kept_created_at": row.updated_at,
    }


def _created_before(account_id: str, repeatable: Repeatable, now: datetime) -> Draft | None:
    draft_id = find_repeated(account_id, repeatable, now)
    if draft_id is None:
        return None
    kept = db.session.get(DraftRevision, (draft_id, 1))
    if kept is not None:
        return content_of(kept)
    draft = db.session.get_one(Draft, draft_id)
    return Draft(id=draft_id, status=DraftStatus.DRAFT, revision=1, **snapshot(draft))


def _create_once(account_id: str, draft: Draft, repeatable: Repeatable, now: datetime) -> Draft:
    """On PostgreSQL two requests with one key meet at its primary key: the later one repeats."""
    begin_write()
    if earlier := _created_before(account_id, repeatable, now):
        return earlier
    rows(_INSERT, **_columns(draft, _COLUMNS))
    try:
        remember(account_id, repeatable, draft.id, now)
        db.session.commit()
    except IntegrityError:
        db.session.rollback()
        earlier = _created_before(account_id, repeatable, now)
        if earlier is None:
            raise
        return earlier
    return draft
