"""Who is subscribed: what creators are shown of subscriptions and of the hosts they lead to."""

from datetime import datetime
from typing import NamedTuple

from sqlalchemy import and_, bindparam, func, select
from sqlalchemy.orm import aliased

from webapp.base.database import UtcDateTime, read_rows
from webapp.base.errors import ErrorCode, NotFound, PageCode, StateConflict
from webapp.base.vocabulary import SubscriptionEnd
from webapp.events.delivering import GONE_SUSPENDS
from webapp.events.delivery_log import StateGroup, is_in
from webapp.events.due import OPEN_AFTER_FAILURES
from webapp.events.outbox import alive
from webapp.records import events
from webapp.records.forms import Form

LIVE_SHOWN, ENDED_SHOWN = 100, 20  # an account has no more live ones
CHOICES_SHOWN = 200  # forms with hosts to filter by
WAITING_COUNTED = 1000  # of one endpoint
_S, _E = events.EventSubscription, events.CallbackEndpoint


class LoggedSubscription(NamedTuple):
    """A subscription without its address and secret; `paused_until` is that of its endpoint."""

    id: str
    form_id: str
    title: str
    deleted_at: datetime | None
    host: str
    grant_id: str
    created_at: datetime
    expires_at: datetime
    suspended_at: datetime | None
    gone_count: int
    last_delivery_at: datetime | None
    ended_at: datetime | None
    end_reason: SubscriptionEnd | None
    paused_until: datetime | None

    @property
    def is_gone(self) -> bool:
        """Whether it is suspended because its address said so of several events."""
        return self.gone_count >= GONE_SUSPENDS

    def is_live(self, now: datetime) -> bool:
        """Whether it gets what is completed, if it is not suspended."""
        return self.ended_at is None and self.expires_at > now


class SilentHost(NamedTuple):
    """An endpoint whose circuit breaker is open.

    answered_at  the last delivery that arrived there; None without one
    waiting      unsettled deliveries, at most WAITING_COUNTED
    """

    host: str
    paused_until: datetime
    answered_at: datetime | None
    waiting: int


class SealedCallback(NamedTuple):
    """Where the events of a subscription go, and its sealed secret; `confirmed` by its creator."""

    url: str
    host: str
    secret: str
    confirmed: bool


class FilterChoice(NamedTuple):
    """A form and a host that it has a subscription of."""

    form_id: str
    title: str
    host: str


_SUBSCRIPTIONS = (
    select(*events.columns_of(LoggedSubscription, _S, Form, _E))
    .join(Form, Form.id == _S.form_id)
    .join(_E, _E.id == _S.endpoint_id)
    .where(_S.account_id == bindparam("account_id"))
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
    select(events.EventDelivery.id)
    .join(_there, _there.id == events.EventDelivery.subscription_id)
    .where(_there.endpoint_id == _E.id, is_in(StateGroup.WAITING))
    .correlate(_E)
    .limit(WAITING_COUNTED)
    .subquery()
)
_SILENT = (
    select(
        _E.host,
        _E.paused_until,
        func.max(_S.last_delivery_at).label("answered_at"),
        select(func.count()).select_from(_waiting_there).scalar_subquery().label("waiting"),
    )
    .join(_S, _S.endpoint_id == _E.id)
    .where(
        _E.account_id == bindparam("account_id"),
        _E.failures >= OPEN_AFTER_FAILURES,
        _E.paused_until.is_not(None),
        alive(bindparam("now", type_=UtcDateTime)),
    )
    .group_by(_E.id, _E.host, _E.paused_until)
    .order_by(_E.paused_until)
)
_CALLBACK = (
    select(
        _S.url,
        _S.host,
        _S.secret,
        _E.confirmed_at.is_not(None),
        and_(
            alive(bindparam("now", type_=UtcDateTime)),
            _S.url.is_not(None),
            _S.secret.is_not(None),
        ).label("is_live"),
    )
    .join(_E, _E.id == _S.endpoint_id)
    .where(
        _S.id == bindparam("subscription_id"),
        _S.account_id == bindparam("account_id"),
    )
)
_CHOICES = (
    select(_S.form_id, Form.title, _S.host)
    .join(Form, Form.id == _S.form_id)
    .where(_S.account_id == bindparam("account_id"))
    .group_by(_S.form_id, Form.title, _S.host)
    .order_by(func.max(_S.created_at).desc())
    .limit(CHOICES_SHOWN)
)


def list_live_subscriptions(account_id: str) -> list[LoggedSubscription]:
    """Those that have not ended, newest first; some may have expired a moment ago."""
    found = read_rows(_LIVE, account_id=account_id)
    return [LoggedSubscription._make(row) for row in found]


def list_ended_subscriptions(account_id: str) -> list[LoggedSubscription]:
    """The ENDED_SHOWN that ended last."""
    found = read_rows(_ENDED, account_id=account_id)
    return [LoggedSubscription._make(row) for row in found]


def list_silent_hosts(account_id: str, *, now: datetime) -> list[SilentHost]:
    """Paused endpoints that are still subscribed, the one that is tried next first."""
    found = read_rows(_SILENT, account_id=account_id, now=now)
    return [SilentHost._make(row) for row in found]


def get_callback(account_id: str, subscription_id: str, *, now: datetime) -> SealedCallback:
    """That of a live subscription. Raises NotFound, and StateConflict `subscription_ended`."""
    ids = {"account_id": account_id, "subscription_id": subscription_id}
    found = read_rows(_CALLBACK, **ids, now=now)
    if not found:
        raise NotFound(
            ErrorCode.NOT_FOUND, "There is no such subscription.", "Open the list again."
        )
    *callback, is_live = found[0]
    if not is_live:
        raise StateConflict(
            PageCode.SUBSCRIPTION_ENDED,
            "This agent is not signed up any more.",
            "It can be tested when it has signed up again.",
        )
    return SealedCallback(*callback)


def list_choices(account_id: str) -> list[FilterChoice]:
    """Forms with the hosts of their subscriptions, the newest CHOICES_SHOWN of them."""
    found = read_rows(_CHOICES, account_id=account_id)
    return [FilterChoice._make(row) for row in found]
