"""Publishing turns a draft whose current revision is confirmed into a form.

One conditional UPDATE decides, so concurrent requests publish a draft once.
"""

import secrets
from datetime import datetime
from typing import Any, NamedTuple

import sqlalchemy as sa

from webapp.base import database, errors, vocabulary
from webapp.base.database.prepared_statements import all_rows, run
from webapp.drafts import confirmations
from webapp.drafts.agreement import NOTHING_SHOWN, TYPED, Agreement, Shown, VoiceAgreement
from webapp.records import audit, drafts
from webapp.records.content.model import CONTENT_COLUMNS
from webapp.records.forms import FORM_COLUMNS, Form, FormRow, form_of


class Published(NamedTuple):
    """A published form; `repeated` is True if it existed before this call."""

    form: FormRow
    repeated: bool


def confirm_and_publish(
    account_id: str,
    draft_id: str,
    *,
    revision: int,
    shown_hash: str,
    now: datetime,
    shown: Shown = NOTHING_SHOWN,
    by: audit.Actor = audit.SYSTEM,
) -> Published:
    """Confirm and publish a draft in one transaction, for the creator's "Publish now"."""
    with database.write_transaction() as connection:
        confirmations.confirm_shown(account_id, draft_id, revision, shown_hash, now, shown, by)
        made, event = _made(account_id, draft_id, now, by)  # its id follows the confirmation's
        form = _in_several(connection, made, event)
    return _published(form, account_id, draft_id, event)


def publish_draft(
    account_id: str,
    draft_id: str,
    *,
    now: datetime,
    attested_by: str | None = None,
    offered: VoiceAgreement = TYPED,
    by: audit.Actor = audit.SYSTEM,
) -> Published:
    """Publish a confirmed draft and return its form; a repeat returns the same form.

    raises       NotFound; NotConfirmed `draft_not_confirmed`, `confirmation_stale`; SentBack;
                 StateConflict `draft_incomplete`
    """
    if not attested_by:
        made, event = _made(account_id, draft_id, now, by)
        return _published(_in_one_statement(made, event), account_id, draft_id, event)
    with database.write_transaction() as connection:
        if confirmations.attest(account_id, draft_id, attested_by, now, offered):
            audit.add_event(audit.AuditKind.ATTESTED, account_id, by=by, now=now, subject=draft_id)
        made, event = _made(account_id, draft_id, now, by)
        form = _in_several(connection, made, event)
    return _published(form, account_id, draft_id, event)


def find_published_form(draft_id: str) -> FormRow | None:
    """Return the form that the draft became, or None."""
    found = database.read_rows(_FORM_OF_DRAFT, draft=draft_id)
    return form_of(found[0]) if found else None


_FROM_DRAFT = ("account_id", *CONTENT_COLUMNS)
_MADE = ("id", "share_token", "status", "last_stamp", "published_at")
_COUNTERS = ("response_count", "answered_count", "started_count", "answer_bytes")
_DRAFT = drafts.Draft.__table__.c
_TAKE_DRAFT = (
    sa.update(drafts.Draft)
    .where(
        drafts.unpublished(sa.bindparam("account")),
        drafts.Draft.id == sa.bindparam("draft"),
        sa.exists().where(drafts.current_confirmation()),
    )
    .values(status=vocabulary.DraftStatus.PUBLISHED)
    .returning(*(_DRAFT[name] for name in ("id", *_FROM_DRAFT, *drafts.CONFIRMED_COLUMNS)))
)


def _add_form(draft: Any) -> Any:
    """Return the INSERT of a form with the columns of a draft and of its newest confirmation."""
    confirmed = drafts.DraftConfirmation.__table__.c
    columns = Form.__table__.c
    values: dict[str, Any] = {"draft_id": draft.id} | {name: draft[name] for name in _FROM_DRAFT}
    values |= {name: sa.bindparam(f"new_{name}", type_=columns[name].type) for name in _MADE}
    values |= dict.fromkeys(_COUNTERS, sa.literal_column("0"))
    values |= {name: confirmed[name] for name in Agreement().columns()}
    rows = (
        sa.select(*values.values())
        .where(draft.id == sa.bindparam("draft"), confirmed.draft_id == draft.id)
        .where(*(confirmed[name] == draft[name] for name in drafts.CONFIRMED_COLUMNS))
        .order_by(confirmed.created_at.desc(), confirmed.id.desc())
        .limit(1)
    )
    return sa.insert(Form).from_select(list(values), rows).returning(*FORM_COLUMNS)


_ADD_FORM = _add_form(_DRAFT)
_ADD_EVENT = sa.insert(audit.AuditEvent)
_EVENT = audit.AuditEvent.__table__.c
_MADE_FORM = _add_form(_TAKE_DRAFT.cte("taken").c).cte("made")
_MADE_EVENT = (
    sa.insert(audit.AuditEvent)
    .from_select(
        _EVENT.keys(),
        sa.select(
            *(sa.bindparam(f"event_{column.name}", type_=column.type) for column in _EVENT),
        ).select_from(_MADE_FORM),
    )
    .cte("logged")
)
_TURN_INTO_FORM = sa.select(*_MADE_FORM.c).add_cte(_MADE_EVENT)
_FORM_OF_DRAFT = sa.select(*FORM_COLUMNS).where(Form.draft_id == sa.bindparam("draft"))


def _in_one_statement(made: dict[str, object], event: dict[str, object]) -> FormRow | None:
    """Do what `_in_several` does, in a transaction of its own."""
    if database.on_sqlite():
        with database.sqlite_transaction() as connection:
            return _in_several(connection, made, event)
    values = made | {f"event_{name}": value for name, value in event.items()}
    database.note_change(str(made["new_id"]))
    forms = database.execute_autocommit(_TURN_INTO_FORM, **values)
    return form_of(forms[0]) if forms else None


def _in_several(
    connection: sa.Connection, made: dict[str, object], event: dict[str, object]
) -> FormRow | None:
    """Publish if the conditional UPDATE succeeds; its row lock and the draft id allow one form."""
    if not all_rows(connection, _TAKE_DRAFT, made):
        return None
    form = all_rows(connection, _ADD_FORM, made)[0]
    run(connection, _ADD_EVENT, event)
    database.note_change(str(made["new_id"]))
    return form_of(form)


def _made(
    account_id: str, draft_id: str, now: datetime, by: audit.Actor
) -> tuple[dict[str, object], dict[str, object]]:
    form_id = database.new_id("frm")
    form: dict[str, object] = {
        "draft": draft_id,
        "account": account_id,
        "new_id": form_id,
        "new_share_token": secrets.token_urlsafe(16),
        "new_status": vocabulary.FormStatus.PUBLISHED,
        "new_last_stamp": database.to_millis(now),
        "new_published_at": now,
    }
    kind = audit.AuditKind.PUBLISHED
    return form, audit.event_values(kind, account_id, by=by, now=now, subject=form_id)


def _published(
    form: FormRow | None, account_id: str, draft_id: str, event: dict[str, object]
) -> Published:
    """Log a new form after the commit; without one, return the earlier form or say why not."""
    if form is None:
        return Published(_published_before(account_id, draft_id), repeated=True)
    audit.log_event(event)
    return Published(form, repeated=False)


def _published_before(account_id: str, draft_id: str) -> FormRow:
    draft = database.db.session.scalar(
        drafts.owned_draft(account_id, draft_id).execution_options(populate_existing=True)
    )
    if draft is None:
        raise drafts.missing_draft(account_id, draft_id)
    if draft.status is vocabulary.DraftStatus.PUBLISHED:
        return form_of(database.execute(_FORM_OF_DRAFT, draft=draft_id).one())
    confirmations.require_not_returned(draft)
    confirmations.require_complete(draft)
    confirmation = confirmations.find_confirmation(draft.id)
    # a current one was stored just now, and a retry will find it
    if confirmation and not confirmations.is_current(confirmation, draft):
        raise errors.NotConfirmed(
            errors.ErrorCode.CONFIRMATION_STALE,
            "The draft changed after its creator confirmed it.",
            "Ask the creator to read and confirm the current revision, then retry.",
            draft_id,
        )
    raise errors.NotConfirmed(
        errors.ErrorCode.DRAFT_NOT_CONFIRMED,
        "The creator has not confirmed this draft yet.",
        "Ask the creator to open the draft and confirm it, then retry.",
        draft_id,
    )
