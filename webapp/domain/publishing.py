"""Publishing: the creator's word for one exact revision of a draft turns it into a form.

One conditional UPDATE decides, so a draft becomes one form however many ask at once.
"""

import secrets
from dataclasses import dataclass
from datetime import datetime
from typing import Any

from sqlalchemy import Connection, Row, and_, bindparam, exists, func, insert, select, update

from webapp.database import begin_write, db, new_id, on_sqlite, to_millis, write, writing
from webapp.domain.content import CONTENT_COLUMNS, missing_fields, missing_parts
from webapp.domain.drafts import (
    Draft,
    DraftConfirmation,
    no_draft,
    open_draft,
    owned_draft,
    unpublished,
)
from webapp.domain.errors import StateConflict
from webapp.domain.forms import Form
from webapp.domain.terms import ConfirmationMethod, DraftStatus, FormStatus


@dataclass(frozen=True, slots=True)
class Published:
    """`repeated` is True when the form was there before this call."""

    form: Row[Any]
    repeated: bool


def confirm_draft(
    account_id: str, draft_id: str, *, revision: int, shown_hash: str, now: datetime
) -> DraftConfirmation:
    """The creator's word for exactly the content that the browser showed.

    raises  NotFound; StateConflict `draft_already_published`, `draft_incomplete`,
            `confirmation_stale` when the draft is not at that revision and hash any more
    """
    begin_write()
    confirmation = _confirm_shown(account_id, draft_id, revision, shown_hash, now)
    db.session.commit()
    return confirmation


def confirm_and_publish(
    account_id: str, draft_id: str, *, revision: int, shown_hash: str, now: datetime
) -> Published:
    """`confirm_draft` and `publish_draft` in one transaction: the creator's "Publish now"."""
    begin_write()
    _confirm_shown(account_id, draft_id, revision, shown_hash, now)
    return _publish_confirmed(account_id, draft_id, now)


def publish_draft(
    account_id: str, draft_id: str, *, now: datetime, attested_by: str | None = None
) -> Published:
    """The form of a confirmed draft; a repeat returns the same form (spec, States rule 1).

    attested_by  the grant whose word counts as the creator's, recorded as `agent_attested`
    raises       NotFound; StateConflict `draft_not_confirmed`, `confirmation_stale`,
                 `draft_incomplete`
    """
    if attested_by:
        begin_write()
        _attest(account_id, draft_id, attested_by, now)
        return _publish_confirmed(account_id, draft_id, now)
    form = _publish_alone(account_id, draft_id, now)
    return _published(form, account_id, draft_id)


def find_confirmation(draft: Draft) -> DraftConfirmation | None:
    """The newest confirmation of any revision; `is_current` tells whether it still counts."""
    return db.session.scalar(
        select(DraftConfirmation)
        .where(DraftConfirmation.draft_id == draft.id)
        .order_by(DraftConfirmation.revision.desc(), DraftConfirmation.created_at.desc())
        .limit(1)
    )


def list_confirmed(account_id: str) -> set[str]:
    """Ids of the account's unpublished drafts whose current revision is confirmed."""
    query = (
        select(Draft.id)
        .join(DraftConfirmation, _current_confirmation())
        .where(unpublished(account_id))
    )
    return set(db.session.scalars(query))


def count_waiting(account_id: str) -> int:
    """How many of the account's unpublished drafts have no confirmation of what they are now."""
    query = select(func.count(Draft.id)).where(
        unpublished(account_id),
        ~exists().where(_current_confirmation()),
    )
    return db.session.scalar(query) or 0


def is_current(confirmation: DraftConfirmation | None, draft: Draft) -> bool:
    """True when the draft still stands as it was confirmed; undoing a change does not bring the
    creator's word back.
    """
    return confirmation is not None and (confirmation.revision, confirmation.content_hash) == (
        draft.revision,
        draft.content_hash,
    )


def find_published_form(draft: Draft) -> Form | None:
    """The form that the draft became."""
    return db.session.scalar(select(Form).where(Form.draft_id == draft.id))


def _confirm_shown(
    account_id: str, draft_id: str, revision: int, shown_hash: str, now: datetime
) -> DraftConfirmation:
    draft = open_draft(account_id, draft_id)
    if (draft.revision, draft.content_hash) != (revision, shown_hash):
        raise StateConflict(
            "confirmation_stale",
            "The draft changed while you were reading it.",
            "Read the change, then decide again.",
        )
    _require_complete(draft)
    return _add_confirmation(draft, ConfirmationMethod.BROWSER, None, now)


def _attest(account_id: str, draft_id: str, grant_id: str, now: datetime) -> None:
    """The agent's word for the current revision, unless the creator's is already there."""
    draft = db.session.scalar(
        owned_draft(account_id, draft_id)
        .with_for_update()
        .execution_options(populate_existing=True)
    )
    if draft is None or draft.status is DraftStatus.PUBLISHED:
        return
    _require_complete(draft)
    confirmation = find_confirmation(draft)
    if not is_current(confirmation, draft):
        _add_confirmation(draft, ConfirmationMethod.AGENT_ATTESTED, grant_id, now)


def _add_confirmation(
    draft: Draft, method: ConfirmationMethod, grant_id: str | None, now: datetime
) -> DraftConfirmation:
    confirmation = DraftConfirmation(
        id=new_id("cnf"),
        draft_id=draft.id,
        revision=draft.revision,
        content_hash=draft.content_hash,
        method=method,
        grant_id=grant_id,
        created_at=now,
    )
    db.session.add(confirmation)
    db.session.flush()
    return confirmation


def _require_complete(draft: Draft) -> None:
    if missing := missing_parts(draft):
        raise StateConflict(
            "draft_incomplete",
            f"The draft lacks {' and '.join(missing)}.",
            "Add what is missing, then confirm and publish.",
            field=", ".join(missing_fields(draft)),
        )


def _current_confirmation() -> Any:
    return and_(
        DraftConfirmation.draft_id == Draft.id,
        DraftConfirmation.revision == Draft.revision,
        DraftConfirmation.content_hash == Draft.content_hash,
    )


_TAKE_DRAFT = (
    update(Draft)
    .where(
        Draft.id == bindparam("draft"),
        Draft.account_id == bindparam("account"),
        Draft.status == DraftStatus.DRAFT,
        Draft.deleted_at.is_(None),
        exists().where(_current_confirmation()),
    )
    .values(status=DraftStatus.PUBLISHED)
    .returning(*(getattr(Draft, name) for name in CONTENT_COLUMNS))
)
_ADD_FORM = insert(Form).returning(*Form.__table__.c)
_MADE = (
    "id",
    "account_id",
    "draft_id",
    "share_token",
    "status",
    "last_stamp",
    "published_at",
    "response_count",
    "answered_count",
    "started_count",
)
_TAKEN = _TAKE_DRAFT.cte("taken")
_TURN_INTO_FORM = (
    insert(Form)
    .from_select(
        [*_MADE, *CONTENT_COLUMNS],
        select(
            *(bindparam(f"new_{name}", type_=Form.__table__.c[name].type) for name in _MADE),
            *_TAKEN.c,
        ),
        include_defaults=False,
    )
    .returning(*Form.__table__.c)
)


def _publish_confirmed(account_id: str, draft_id: str, now: datetime) -> Published:
    """Goes on in the session's transaction, and commits it."""
    form = _in_steps(db.session.connection(), account_id, draft_id, now)
    published = _published(form, account_id, draft_id)
    db.session.commit()
    return published


def _publish_alone(account_id: str, draft_id: str, now: datetime) -> Row[Any] | None:
    if on_sqlite():
        with writing() as connection:
            return _in_steps(connection, account_id, draft_id, now)
    made = {f"new_{name}": value for name, value in _made(account_id, draft_id, now).items()}
    forms = write(_TURN_INTO_FORM, draft=draft_id, account=account_id, **made)
    return forms[0] if forms else None


def _in_steps(
    connection: Connection, account_id: str, draft_id: str, now: datetime
) -> Row[Any] | None:
    """One conditional UPDATE decides; its row lock and the unique draft id leave one form."""
    keys = {"draft": draft_id, "account": account_id}
    taken = connection.execute(_TAKE_DRAFT, keys).one_or_none()
    if taken is None:
        return None
    form = {**_made(account_id, draft_id, now), **taken._mapping}
    return connection.execute(_ADD_FORM, form).one()


def _made(account_id: str, draft_id: str, now: datetime) -> dict[str, Any]:
    """What a form has that its draft has not."""
    return {
        "id": new_id("frm"),
        "account_id": account_id,
        "draft_id": draft_id,
        "share_token": secrets.token_urlsafe(16),
        "status": FormStatus.PUBLISHED,
        "last_stamp": to_millis(now),
        "published_at": now,
        "response_count": 0,
        "answered_count": 0,
        "started_count": 0,
    }


def _published(form: Row[Any] | None, account_id: str, draft_id: str) -> Published:
    if form is None:
        return Published(_published_before(account_id, draft_id), repeated=True)
    return Published(form, repeated=False)


def _published_before(account_id: str, draft_id: str) -> Row[Any]:
    draft = db.session.scalar(
        owned_draft(account_id, draft_id).execution_options(populate_existing=True)
    )
    if draft is None:
        raise no_draft()
    if draft.status is DraftStatus.PUBLISHED:
        return db.session.execute(select(*Form.__table__.c).where(Form.draft_id == draft_id)).one()
    _require_complete(draft)
    confirmation = find_confirmation(draft)
    # one that is current came in this very moment: the next try will find it
    if confirmation and not is_current(confirmation, draft):
        raise StateConflict(
            "confirmation_stale",
            "The draft changed after its creator confirmed it.",
            "Ask the creator to read and confirm the current revision, then retry.",
        )
    raise StateConflict(
        "draft_not_confirmed",
        "The creator has not confirmed this draft yet.",
        "Ask the creator to open the draft and confirm it, then retry.",
    )
