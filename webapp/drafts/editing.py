"""Create and change drafts; a repeated `Idempotency-Key` creates no second draft."""

from collections.abc import Iterable
from datetime import datetime
from typing import NamedTuple, cast

import sqlalchemy as sa

from webapp.base import database, errors, vocabulary
from webapp.base.database.prepared_statements import run
from webapp.drafts.revisions import find_revision, find_superseded
from webapp.records import drafts
from webapp.records.content import model


class Repeatable(NamedTuple):
    """The idempotency key of a request, with its scope and the SHA-256 of the body."""

    client_id: str
    key: str
    body_hash: str


def create_draft(
    account_id: str,
    changes: model.DraftUpdate,
    *,
    author: str | None,
    now: datetime,
    repeatable: Repeatable | None = None,
    agent_note: str | None = None,
) -> drafts.Draft:
    """Create a private draft at revision 1, without a public link.

    A repeat of `repeatable` returns the draft as it was created. It never creates a second one,
    even when the creator has discarded the first one, or deleted its form.
    raises  InvalidInput `context_required`, `idempotency_key_reused`
    """
    draft = drafts.Draft(
        id=database.new_id("drf"),
        account_id=account_id,
        status=vocabulary.DraftStatus.DRAFT,
        revision=1,
        created_by=author,
        author=author,
        agent_note=agent_note,
        created_at=now,
        updated_at=now,
        return_count=0,
        **_EMPTY | model.merged(changes, [], by_agent=bool(author)),
    )
    model.require_context(draft)
    draft.content_hash = model.content_hash(draft)
    if repeatable:
        return _create_once(account_id, draft, repeatable, now)
    _insert(draft)
    return draft


def update_draft(
    account_id: str,
    draft_id: str,
    changes: model.DraftUpdate,
    *,
    author: str | None,
    now: datetime,
    expected_revision: int | None = None,
    agent_note: str | None = None,
) -> drafts.Draft:
    """Replace the supplied content; equal content keeps revision, note and confirmation.

    A draft that was sent back stays so when the creator (`author` None) writes a new revision, but
    not when an agent does.

    raises  NotFound `draft_not_found`; StateConflict `draft_already_published`,
            `revision_conflict` (another revision than expected); InvalidInput `context_required`
    """
    while True:
        before = _row(account_id, draft_id)
        drafts.require_open(before)
        if expected_revision is not None:
            drafts.require_revision(before, expected_revision)
        given = model.merged(changes, before.questions, by_agent=bool(author))
        draft = drafts.Draft(**{**_columns(before, _COLUMNS), **given})
        model.require_context(draft)
        draft.content_hash = model.content_hash(draft)
        if draft.content_hash != before.content_hash:
            draft.revision, draft.author, draft.updated_at = before.revision + 1, author, now
            draft.agent_note = agent_note
            if author:
                draft.end_return()
        unchanged = all(value == getattr(before, name) for name, value in given.items())
        if unchanged or _replace(before, draft) or _is_stored(draft):
            return draft


def is_made(draft: drafts.Draft, before: drafts.Draft, changes: model.DraftUpdate) -> bool:
    """Return True if these changes, applied to an earlier revision, give the current draft."""
    asked = model.snapshot(before) | model.merged(changes, before.questions, by_agent=False)
    known = {question["id"] for question in before.questions}
    return _without_new_ids(asked, known) == _without_new_ids(model.snapshot(draft), known)


_COLUMNS = tuple(drafts.Draft.__table__.c.keys())
_STATE = ("revision", "content_hash", "author", "agent_note", "updated_at")
_CHANGING = (*model.CONTENT_COLUMNS, *_STATE)
_INSERT = sa.insert(drafts.Draft)
_REPLACE = (
    sa.update(drafts.Draft)
    .where(
        drafts.Draft.id == sa.bindparam("key"),
        drafts.Draft.status == vocabulary.DraftStatus.DRAFT,
        drafts.Draft.deleted_at.is_(None),
        drafts.Draft.revision == sa.bindparam("seen_revision"),
        # it may change within a revision, because its absence is not in the hash
        drafts.Draft.followups_given.is_not_distinct_from(
            sa.bindparam("seen_followups", type_=sa.Integer)
        ),
    )
    .values({name: sa.bindparam(name) for name in _CHANGING})
    # the statement decides: the draft may have been sent back since it was read
    .values(
        {
            name: sa.case(
                (sa.bindparam("ends_return", type_=sa.Boolean), sa.null()),
                else_=drafts.Draft.__table__.c[name],
            )
            for name in ("returned_at", "returned_revision", "return_note")
        }
    )
    .returning(drafts.Draft.id)
)
_REPLACED = _REPLACE.cte("replaced")
_KEPT = sa.select(
    drafts.Draft.id,
    drafts.Draft.revision,
    sa.bindparam("kept", type_=drafts.DraftRevision.content.type),
    drafts.Draft.author,
    drafts.Draft.agent_note,
    drafts.Draft.updated_at,
)
_KEEP = sa.insert(drafts.DraftRevision)
_REPLACE_AND_KEEP = (  # PostgreSQL reads the row as it was before the statement
    sa.insert(drafts.DraftRevision)
    .from_select(
        drafts.DraftRevision.__table__.c.keys(),
        _KEPT.join(_REPLACED, _REPLACED.c.id == drafts.Draft.id),
    )
    .returning(drafts.DraftRevision.revision)
)
_ROW = drafts.owned_draft(sa.bindparam("account"), sa.bindparam("draft")).with_only_columns(
    *(drafts.Draft.__table__.c[name] for name in _COLUMNS)
)
_EMPTY = model.DraftUpdate(title="", goal=None, private_context=None, questions=[]) | cast(
    model.DraftUpdate, {setting.column: setting.default for setting in model.DRAFT_SETTINGS}
)


def _without_new_ids(content: model.DraftUpdate, known: set[str]) -> model.DraftUpdate:
    questions: list[model.QuestionRow] = [
        question if question["id"] in known else {**question, "id": ""}
        for question in content["questions"]
    ]
    return content | model.DraftUpdate(questions=questions)


def _row(account_id: str, draft_id: str) -> drafts.Draft:
    found = database.read_rows(_ROW, account=account_id, draft=draft_id)
    if not found:
        raise drafts.missing_draft(account_id, draft_id)
    return cast(drafts.Draft, found[0])


def _insert(draft: drafts.Draft) -> None:
    """Insert a new draft, unless an earlier attempt whose result was lost has stored it."""
    try:
        database.execute_autocommit(_INSERT, **_columns(draft, _COLUMNS))
    except sa.exc.IntegrityError:
        if not database.read_rows(_ROW, account=draft.account_id, draft=draft.id):
            raise


def _is_stored(draft: drafts.Draft) -> bool:
    """Return True if an earlier attempt has stored this revision, superseded since or not."""
    row = _row(draft.account_id, draft.id)
    stored = find_revision(row, draft.revision)
    written = {*_CHANGING} - {"content_hash"}
    return stored is not None and _columns(stored, written) == _columns(draft, written)


def _replace(before: drafts.Draft, draft: drafts.Draft) -> bool:
    """Update the row and keep its old content as a revision; return False if the row changed."""
    values = _columns(draft, _CHANGING) | {
        "key": before.id,
        "seen_revision": before.revision,
        "seen_followups": before.followups_given,
        "ends_return": draft.revision != before.revision and draft.author is not None,
    }
    if draft.revision == before.revision:
        return bool(database.execute_autocommit(_REPLACE, **values))
    content = model.snapshot(before)
    if not database.on_sqlite():
        return bool(database.execute_autocommit(_REPLACE_AND_KEEP, **values, kept=content))
    kept = _columns(before, ("revision", "author", "agent_note"))
    kept |= {"draft_id": before.id, "content": content, "created_at": before.updated_at}
    with database.sqlite_transaction() as connection:
        replaced = run(connection, _REPLACE, values).fetchall()
        if replaced:
            run(connection, _KEEP, kept)
    return bool(replaced)


def _columns(draft: drafts.Draft, names: Iterable[str]) -> dict[str, object]:
    return {name: getattr(draft, name) for name in names}


def _created_before(account_id: str, repeatable: Repeatable, now: datetime) -> drafts.Draft | None:
    """Return the draft that the key created, as it was then; None for a new or expired key."""
    key = database.db.session.get(
        drafts.IdempotencyKey, (account_id, repeatable.client_id, repeatable.key)
    )
    if key is None:
        return None
    if key.created_at <= now - drafts.IDEMPOTENCY_KEPT:
        database.db.session.delete(key)
        database.db.session.flush()
        return None
    if key.body_hash != repeatable.body_hash:
        raise _key_reused(
            "with another body",
            "Use a new key for a new draft, or repeat the first body exactly.",
        )
    draft = database.db.session.get(drafts.Draft, key.draft_id) if key.draft_id else None
    if draft is None or draft.deleted_at:
        is_draft = draft and draft.status is vocabulary.DraftStatus.DRAFT
        raise _key_reused(
            "for a draft that its creator discarded"
            if is_draft
            else "for a draft whose form its creator deleted",
            "Ask the creator whether a new draft is wanted; if so, create it with a new key.",
        )
    created = find_superseded(draft, 1) or drafts.Draft(
        id=draft.id, status=vocabulary.DraftStatus.DRAFT, revision=1, **model.snapshot(draft)
    )
    created.repeated = True
    return created


def _key_reused(how: str, resolution: str) -> errors.InvalidInput:
    code = errors.ErrorCode.IDEMPOTENCY_KEY_REUSED
    return errors.wrong_field("Idempotency-Key", f"was used {how}", resolution, code)


def _create_once(
    account_id: str, draft: drafts.Draft, repeatable: Repeatable, now: datetime
) -> drafts.Draft:
    try:
        with database.write_transaction():
            if earlier := _created_before(account_id, repeatable, now):
                return earlier
            database.execute(_INSERT, **_columns(draft, _COLUMNS))
            made = {"account_id": account_id, "draft_id": draft.id, "created_at": now}
            database.db.session.add(drafts.IdempotencyKey(**made, **repeatable._asdict()))
    except sa.exc.IntegrityError:
        earlier = _created_before(account_id, repeatable, now)
        if earlier is None:
            raise
        return earlier
    return draft
