"""The tables of subscriptions, deliveries and attempts, and the names of the protocol."""

from datetime import datetime
from enum import Enum

import sqlalchemy as sa
from sqlalchemy.orm import Mapped, mapped_column

from webapp.base import database, vocabulary

EVENT_NAME = "response.submitted"


class EventError(Enum):
    """An error: its name, its code for most clients, and its code for the extension profile."""

    NOT_FOUND = ("NotFound", -32011, -32023)
    FORBIDDEN = ("Forbidden", -32012, -32024)
    RESOURCE_EXHAUSTED = ("ResourceExhausted", -32013, -32025)
    UNSUPPORTED = ("Unsupported", -32014, -32026)
    CALLBACK_ENDPOINT_ERROR = ("CallbackEndpointError", -32015, -32027)

    @property
    def message(self) -> str:
        return self.value[0]

    def code(self, profile: vocabulary.ErrorProfile) -> int:
        _, plain, extension = self.value
        return extension if profile is vocabulary.ErrorProfile.EXTENSION else plain


class CallbackEndpoint(database.Base):
    """One callback address of an account, and its health.

    verified_at when it last answered a challenge correctly
    failures    failed attempts in a row; `paused_until` is set while the circuit breaker is open
    duration_ms its response time in the slowest attempt, halved by each quicker one

    Set only if the creator must confirm the address, or has confirmed it:
    answered      the response that came instead of the challenge
    asked_at      when it was requested; null once the address is confirmed
    """

    __tablename__ = "callback_endpoints"

    id: Mapped[str] = mapped_column(sa.String(64), primary_key=True)
    account_id: Mapped[str] = mapped_column(sa.ForeignKey("accounts.id"), index=True)
    host: Mapped[str] = mapped_column(sa.String(260))
    verified_at: Mapped[datetime | None]
    failures: Mapped[int] = mapped_column(default=0)
    paused_until: Mapped[datetime | None]
    duration_ms: Mapped[int | None]
    seen_at: Mapped[datetime]
    url: Mapped[str | None] = mapped_column(sa.Text)
    answered: Mapped[str | None] = mapped_column(sa.String(160))
    asked_form_id: Mapped[str | None] = mapped_column(sa.String(40))
    grant_id: Mapped[str | None] = mapped_column(sa.String(40))
    asked_at: Mapped[datetime | None]
    confirmed_at: Mapped[datetime | None]


# the columns of the confirmation, as for addresses that need none
FORGOTTEN: dict[str, None] = dict.fromkeys(
    ("url", "answered", "asked_form_id", "grant_id", "asked_at", "confirmed_at")
)


class EventSubscription(database.Base):
    """An agent's subscription to the completed responses of one form.

    url, secret  null once the subscription has ended; both secrets are sealed
    suspended_at when sending stopped; the next refresh resumes it
    gone_count   different events in a row that got the response 410
    dropped      True if deliveries were abandoned since the last refresh
    """

    __tablename__ = "event_subscriptions"
    __table_args__ = (
        # by form when a response is completed, by account for its quota
        sa.Index("ix_event_subscriptions_of_form", "form_id", "ended_at", "expires_at"),
        sa.Index("ix_event_subscriptions_of_account", "account_id", "ended_at", "expires_at"),
        sa.Index("ix_event_subscriptions_grant_id", "grant_id"),
        # for subscriptions that have expired, or ended long ago
        sa.Index("ix_event_subscriptions_ending", "ended_at", "expires_at"),
    )

    id: Mapped[str] = mapped_column(sa.String(40), primary_key=True)
    account_id: Mapped[str] = mapped_column(sa.String(40))  # the account of its form
    form_id: Mapped[str] = mapped_column(sa.ForeignKey("forms.id"))
    grant_id: Mapped[str] = mapped_column(
        sa.String(40)
    )  # no foreign key: it outlives its connection
    endpoint_id: Mapped[str] = mapped_column(sa.ForeignKey("callback_endpoints.id"), index=True)
    url: Mapped[str | None] = mapped_column(sa.Text)
    host: Mapped[str] = mapped_column(sa.String(260))
    secret: Mapped[str | None] = mapped_column(sa.Text)
    previous_secret: Mapped[str | None] = mapped_column(sa.Text)
    previous_until: Mapped[datetime | None]
    created_at: Mapped[datetime]
    refreshed_at: Mapped[datetime]
    expires_at: Mapped[datetime]
    suspended_at: Mapped[datetime | None]
    gone_count: Mapped[int] = mapped_column(default=0)
    dropped: Mapped[bool] = mapped_column(default=False)
    error_profile: Mapped[vocabulary.ErrorProfile] = mapped_column(
        default=vocabulary.ErrorProfile.PLAIN
    )
    last_delivery_at: Mapped[datetime | None]
    last_failure: Mapped[vocabulary.DeliveryFailure | None]
    ended_at: Mapped[datetime | None]
    end_reason: Mapped[vocabulary.SubscriptionEnd | None]


# cleared when a subscription ends; its host stays in the log
ERASED: dict[str, None] = dict.fromkeys(("url", "secret", "previous_secret", "previous_until"))


class EventDelivery(database.Base):
    """One event on its way to one subscription.

    body         the bytes sent, as text; null until the first attempt fixes them
    lease_until  left from earlier versions; nothing writes or reads it
    renewals     how often the process of a running attempt has reported that it runs
    """

    __tablename__ = "event_deliveries"
    __table_args__ = (
        sa.UniqueConstraint("event_id", "subscription_id"),
        # for the oldest due deliveries of each subscription, however many wait behind them
        sa.Index("ix_event_deliveries_due", "state", "subscription_id", "next_at"),
        sa.Index("ix_event_deliveries_listed", "account_id", "created_at", "id"),
        sa.Index("ix_event_deliveries_of_form", "form_id"),
        sa.Index("ix_event_deliveries_positions", "subscription_id", "state", "position"),
        # on SQLite without waiting deliveries, so that a completion writes a page less. The same
        # on PostgreSQL would import its dialect in every process
        sa.Index(
            "ix_event_deliveries_settled",
            "settled_at",
            sqlite_where=sa.text("settled_at IS NOT NULL"),
        ),
    )

    id: Mapped[str] = mapped_column(sa.String(80), primary_key=True)
    account_id: Mapped[str] = mapped_column(sa.String(40))  # the account of its form
    form_id: Mapped[str] = mapped_column(sa.ForeignKey("forms.id"))
    subscription_id: Mapped[str] = mapped_column(sa.ForeignKey("event_subscriptions.id"))
    endpoint_id: Mapped[str] = mapped_column(sa.String(64))  # the endpoint of its subscription
    host: Mapped[str] = mapped_column(sa.String(260))
    kind: Mapped[vocabulary.DeliveryKind]
    event_id: Mapped[str] = mapped_column(sa.String(64))
    answer_count: Mapped[int]
    position: Mapped[int] = mapped_column(sa.BigInteger)
    body: Mapped[str | None] = mapped_column(sa.Text)
    state: Mapped[vocabulary.DeliveryState]
    attempts: Mapped[int] = mapped_column(default=0)
    next_at: Mapped[datetime]
    lease_until: Mapped[datetime | None]
    renewals: Mapped[int | None]
    created_at: Mapped[datetime]
    settled_at: Mapped[datetime | None]


class DeliveryAttempt(database.Base):
    """One attempt to deliver an event: its time, its signature and the response."""

    __tablename__ = "delivery_attempts"
    __table_args__ = (
        sa.UniqueConstraint("delivery_id", "number"),
        sa.Index("ix_delivery_attempts_of_form", "form_id"),
    )

    id: Mapped[int] = mapped_column(
        sa.BigInteger().with_variant(sa.Integer, "sqlite"), primary_key=True
    )
    delivery_id: Mapped[str] = mapped_column(sa.ForeignKey("event_deliveries.id"))
    form_id: Mapped[str] = mapped_column(sa.ForeignKey("forms.id"))
    number: Mapped[int]
    started_at: Mapped[datetime]
    duration_ms: Mapped[int]
    signature: Mapped[str] = mapped_column(sa.Text)
    status: Mapped[int | None]
    failure: Mapped[vocabulary.DeliveryFailure | None]
    reply: Mapped[str | None] = mapped_column(sa.Text)
