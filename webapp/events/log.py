"""What creators see: the log of deliveries, sending one again, and the subscriptions."""

from collections.abc import Iterable, Sequence
from datetime import datetime
from typing import Any, NamedTuple

import sqlalchemy as sa
from sqlalchemy.orm import aliased

from webapp.base.database import UtcDateTime, execute, read_rows, to_millis, write_transaction
from webapp.base.errors import ErrorCode, NotFound, PageCode, StateConflict
from webapp.base.vocabulary import DeliveryKind, DeliveryState
from webapp.events.delivering import GONE_SUSPENDS
from webapp.events.due import OPEN_AFTER_FAILURES
from webapp.events.outbox import UNSETTLED, alive, session_id_of
from webapp.records import events
from webapp.records.forms import Form
from webapp.records.responses.models import ResponseSession

PAGE_DELIVERIES = 50
LIVE_SHOWN, ENDED_SHOWN = 100, 20  # an account has at most 100 live subscriptions
CHOICES_SHOWN = 200  # pairs of form and host to filter by
WAITING_COUNTED = 1000  # for one endpoint

Position = tuple[int, str]  # milliseconds of the creation, id
_D, _S = events.EventDelivery, events.EventSubscription
_E, _A = events.CallbackEndpoint, events.DeliveryAttempt
_R = ResponseSession
_ACCOUNT = sa.bindparam("account_id", type_=sa.String)
_ALIVE = alive(sa.bindparam("now", type_=UtcDateTime()))

FAILED = (DeliveryState.DROPPED, DeliveryState.ABANDONED)
SENT_AGAIN = (DeliveryState.DELIVERED, *FAILED)
# groups of delivery states by which creators filter
STATES = {
    "waiting": UNSETTLED,
    "delivered": (DeliveryState.DELIVERED,),
    "failed": FAILED,
    "cancelled": (DeliveryState.CANCELLED,),
}


class DeliveryFilters(NamedTuple):
    """Filters of the log; None applies no filter. `group` is a key of STATES."""

    group: str | None = None
    form_id: str | None = None
    host: str | None = None


def _is_one_of(states: Iterable[DeliveryState]) -> sa.ColumnElement[bool]:
    return sa.or_(*(_D.state == state for state in states))


_last = aliased(_A)
_last_number = sa.select(sa.func.max(_A.number)).where(_A.delivery_id == _D.id).correlate(_D)
_session_id = sa.literal("ses_").concat(sa.func.substr(_D.event_id, len("evt_") + 1))
_next_try = sa.case((_E.paused_until > _D.next_at, _E.paused_until), else_=_D.next_at)
_is_event = _D.kind == DeliveryKind.EVENT
_DELIVERIES = (
    sa.select(
        *(_D.id, _D.kind, _D.state, _D.host, _D.form_id, _D.created_at, _D.event_id, _D.body),
        *(_D.subscription_id, _S.grant_id, _S.ended_at, _S.suspended_at),
        *(Form.title, Form.deleted_at, _last.status, _last.failure),
        sa.func.coalesce(_last.number, 0).label("tries"),
        _next_try.label("next_try"),
        _ALIVE.label("is_subscribed"),
        _is_one_of(FAILED).label("has_failed"),
        (_is_event & _R.id.is_(None)).label("is_withdrawn"),
        sa.and_(
            *(_is_event, _R.id.is_not(None), _is_one_of(SENT_AGAIN)),
            *(_ALIVE, _S.suspended_at.is_(None), Form.deleted_at.is_(None)),
        ).label("may_be_sent_again"),
    )
    .join(Form, Form.id == _D.form_id)
    .join(_S, _S.id == _D.subscription_id)
    .join(_E, _E.id == _D.endpoint_id)
    .outerjoin(_R, _R.id == _session_id)
    .outerjoin(
        _last, (_last.delivery_id == _D.id) & (_last.number == _last_number.scalar_subquery())
    )
    .where(_D.account_id == _ACCOUNT)
)
_POSITION = sa.tuple_(sa.type_coerce(_D.created_at, sa.BigInteger), _D.id)
_ONE = _DELIVERIES.where(_D.id == sa.bindparam("delivery_id"))
_ATTEMPTS = (
    sa.select(*(_A.number, _A.started_at, _A.duration_ms, _A.signature, _A.status, _A.failure))
    .add_columns(_A.reply)
    .where(_A.delivery_id == sa.bindparam("delivery_id"))
    .order_by(_A.number.desc())
)


def list_deliveries(
    account_id: str, filters: DeliveryFilters, *, before: Position | None = None, now: datetime
) -> tuple[Sequence[Any], Position | None]:
    """List at most PAGE_DELIVERIES older than `before`, newest first, each with its last attempt.

    Also returns `before` of the next page, None on the last one. `tries` is the number of the last
    finished attempt, or 0. `ended_at` and `suspended_at` belong to the subscription, `deleted_at`
    to the form.
    """
    query = _DELIVERIES.order_by(_D.created_at.desc(), _D.id.desc()).limit(PAGE_DELIVERIES + 1)
    if before:
        query = query.where(sa.tuple_(*map(sa.literal, before)) > _POSITION)
    if filters.group:
        query = query.where(_is_one_of(STATES[filters.group]))
    if filters.form_id:
        query = query.where(_D.form_id == filters.form_id)
    if filters.host:
        query = query.where(_D.host == filters.host)
    rows = execute(query, account_id=account_id, now=now).all()
    if len(rows) <= PAGE_DELIVERIES:
        return rows, None
    return rows[:-1], (to_millis(rows[-2].created_at), rows[-2].id)


def get_delivery(account_id: str, delivery_id: str, *, now: datetime) -> tuple[Any, Sequence[Any]]:
    """Return a row as `list_deliveries` has it, and its attempts, newest first; raises NotFound"""
    found = read_rows(_ONE, account_id=account_id, delivery_id=delivery_id, now=now)
    if not found:
        raise NotFound(
            ErrorCode.NOT_FOUND,
            "There is no such delivery.",
            "What is settled is kept for 30 days.",
        )
    return found[0], read_rows(_ATTEMPTS, delivery_id=delivery_id)


def send_again(account_id: str, delivery_id: str, *, now: datetime) -> str:
    """Queue a settled event once more, with the same bytes and the same event id; commits.

    Returns the delivery id. Raises NotFound, and StateConflict `delivery_unsettled` if the delivery
    is unsettled or was cancelled, `subscription_ended` if the subscription ended or expired,
    `response_withdrawn` if the response is gone.
    """
    with write_transaction():
        found = execute(_SENT_BEFORE, row=delivery_id, account=account_id).first()
        if found is None:
            raise NotFound(ErrorCode.NOT_FOUND, "No such delivery.", "Open one of the list.")
        if found.state not in SENT_AGAIN:
            raise StateConflict(
                PageCode.DELIVERY_UNSETTLED,
                "This delivery is still under way, or it was cancelled.",
                "Only what was delivered, dropped or given up can be sent again.",
            )
        if found.ended_at is not None or found.expires_at <= now:
            raise StateConflict(
                PageCode.SUBSCRIPTION_ENDED,
                "The agent has no longer subscribed.",
                "It can be sent again once the agent has renewed its subscription.",
            )
        # locked, so that a concurrent withdrawal comes first or cancels this delivery
        response = sa.select(_R.id).where(_R.id == session_id_of(found.event_id))
        if not execute(response.with_for_update(read=True, key_share=True)).first():
            raise StateConflict(
                PageCode.RESPONSE_WITHDRAWN,
                "The response was withdrawn or deleted.",
                "There is nothing left to tell of it.",
            )
        queued = {"state": DeliveryState.PENDING, "next_at": now, "attempts": 0, "settled_at": None}
        execute(sa.update(_D).where(_D.id == delivery_id).values(queued))
    return delivery_id


_SENT_BEFORE = (
    sa.select(_D.state, _D.event_id, _S.ended_at, _S.expires_at)
    .join(_S, _S.id == _D.subscription_id)
    .join(Form, Form.id == _D.form_id)
    .where(
        _D.id == sa.bindparam("row"),
        _D.account_id == sa.bindparam("account"),
        _D.kind == DeliveryKind.EVENT,
        Form.deleted_at.is_(None),
    )
    .with_for_update(key_share=True, of=(_S, _D))
)


_SUBSCRIPTIONS = (
    sa.select(
        *(_S.id, _S.host, _S.grant_id, _S.expires_at, _S.suspended_at, _S.last_delivery_at),
        *(_S.ended_at, _S.end_reason, Form.title, Form.deleted_at, _E.paused_until),
        (_S.gone_count >= GONE_SUSPENDS).label("is_gone"),
        _ALIVE.label("is_live"),
    )
    .join(Form, Form.id == _S.form_id)
    .join(_E, _E.id == _S.endpoint_id)
    .where(_S.account_id == _ACCOUNT)
)
_LIVE = (
    _SUBSCRIPTIONS.where(_S.ended_at.is_(None))
    .order_by(_S.created_at.desc(), _S.id)
    .limit(LIVE_SHOWN)
)
_ENDED = (
    _SUBSCRIPTIONS.where(_S.ended_at.is_not(None))
    .order_by(_S.ended_at.desc(), _S.id)
    .limit(ENDED_SHOWN)
)
_there = aliased(_S)
_waiting_there = (
    sa.select(_D.id)
    .join(_there, _there.id == _D.subscription_id)
    .where(_there.endpoint_id == _E.id, _is_one_of(UNSETTLED))
    .correlate(_E)
    .limit(WAITING_COUNTED)
    .subquery()
)
_SILENT = (
    sa.select(
        *(_E.host, _E.paused_until, sa.func.max(_S.last_delivery_at).label("answered_at")),
        sa.select(sa.func.count()).select_from(_waiting_there).scalar_subquery().label("waiting"),
    )
    .join(_S, _S.endpoint_id == _E.id)
    .where(
        _E.account_id == _ACCOUNT,
        _E.failures >= OPEN_AFTER_FAILURES,
        _E.paused_until.is_not(None),
        _ALIVE,
    )
    .group_by(_E.id, _E.host, _E.paused_until)
    .order_by(_E.paused_until)
)
_CALLBACK = (
    sa.select(
        *(_S.url, _S.host, _S.secret, _E.confirmed_at.is_not(None).label("confirmed")),
        sa.and_(_ALIVE, _S.url.is_not(None), _S.secret.is_not(None)).label("is_live"),
    )
    .join(_E, _E.id == _S.endpoint_id)
    .where(_S.id == sa.bindparam("subscription_id"), _S.account_id == _ACCOUNT)
)
_CHOICES = (
    sa.select(_S.form_id, Form.title, _S.host)
    .join(Form, Form.id == _S.form_id)
    .where(_S.account_id == _ACCOUNT)
    .group_by(_S.form_id, Form.title, _S.host)
    .order_by(sa.func.max(_S.created_at).desc())
    .limit(CHOICES_SHOWN)
)


def list_subscriptions(account_id: str, *, now: datetime) -> tuple[Sequence[Any], Sequence[Any]]:
    """List subscriptions that have not ended, newest first, and the ENDED_SHOWN that ended last.

    is_live  it receives events unless it is suspended
    is_gone  it is suspended because its address answered several events with 410
    """
    values = {"account_id": account_id, "now": now}
    return read_rows(_LIVE, **values), read_rows(_ENDED, **values)


def list_silent_hosts(account_id: str, *, now: datetime) -> Sequence[Any]:
    """List endpoints of live subscriptions whose circuit breaker is open, by the next attempt.

    answered_at  the time of the last successful delivery; None without one
    waiting      number of unsettled deliveries, counted up to WAITING_COUNTED
    """
    return read_rows(_SILENT, account_id=account_id, now=now)


def get_callback(account_id: str, subscription_id: str, *, now: datetime) -> Any:
    """Return the address and sealed secret of a live subscription; `confirmed`: by the creator.

    Raises NotFound, and StateConflict `subscription_ended`.
    """
    found = read_rows(_CALLBACK, account_id=account_id, subscription_id=subscription_id, now=now)
    if not found:
        raise NotFound(
            ErrorCode.NOT_FOUND, "There is no such subscription.", "Open the list again."
        )
    if not found[0].is_live:
        raise StateConflict(
            PageCode.SUBSCRIPTION_ENDED,
            "This agent is not signed up any more.",
            "It can be tested when it has signed up again.",
        )
    return found[0]


def list_choices(account_id: str) -> Sequence[Any]:
    """List the newest CHOICES_SHOWN pairs of a form and a host of its subscriptions."""
    return read_rows(_CHOICES, account_id=account_id)
