"""Subscriptions, deliveries and attempts as they are stored, and the words of the protocol."""

from datetime import datetime
from enum import Enum

import sqlalchemy as sa
from sqlalchemy.orm import Mapped, mapped_column

from webapp.base.database import Base, enum_type
from webapp.base.vocabulary import (
    DeliveryFailure,
    DeliveryKind,
    DeliveryState,
    ErrorProfile,
    SubscriptionEnd,
)

EVENT_NAME = "response.submitted"


class EventError(Enum):
    """An error: its name, its code for most clients, and that for those with the extension."""

    NOT_FOUND = ("NotFound", -32011, -32023)
    FORBIDDEN = ("Forbidden", -32012, -32024)
    RESOURCE_EXHAUSTED = ("ResourceExhausted", -32013, -32025)
    UNSUPPORTED = ("Unsupported", -32014, -32026)
    CALLBACK_ENDPOINT_ERROR = ("CallbackEndpointError", -32015, -32027)

    @property
    def message(self) -> str:
        """The message of the code."""
        return self.value[0]

    def code(self, profile: ErrorProfile) -> int:
        """Its number for a client."""
        _, plain, extension = self.value
        return extension if profile is ErrorProfile.EXTENSION else plain


class CallbackEndpoint(Base):
    """One callback address of an account, with what is known of its health.

    id          SHA-256 of account and address
    host        host name and port, as they are shown and limited
    verified_at when a challenge was last answered correctly
    failures    failed attempts in a row; `paused_until` while the circuit breaker is open
    duration_ms how long it takes to answer: of the slowest attempt, halved by each quicker one

    Of one that its creator is to confirm, or has confirmed:
    url           whole
    answered      what came instead of the challenge
    asked_form_id the form that it was asked for
    grant_id      the connection that asked, or subscribed last
    asked_at      since when it waits; null once it is confirmed
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


# the columns of confirming, as they are for other callbacks
FORGOTTEN: dict[str, None] = dict.fromkeys(
    ("url", "answered", "asked_form_id", "grant_id", "asked_at", "confirmed_at")
)


class EventSubscription(Base):
    """An agent's subscription to the completed responses of one form.

    id           `sub_` and the digest of account, address, event and arguments
    grant_id     the connection that subscribed last
    url, secret  null once it has ended; `secret` and `previous_secret` are sealed
    suspended_at since when nothing is sent, until its next refresh
    gone_count   different events in a row that were answered 410
    dropped      whether deliveries were abandoned since the last refresh
    error_profile which numbers of MCP error codes its client understands
    """

    __tablename__ = "event_subscriptions"
    __table_args__ = (
        # of a form when a response is completed, of an account for its quota
        sa.Index("ix_event_subscriptions_of_form", "form_id", "ended_at", "expires_at"),
        sa.Index("ix_event_subscriptions_of_account", "account_id", "ended_at", "expires_at"),
        sa.Index("ix_event_subscriptions_grant_id", "grant_id"),
        # what has expired, and what ended long ago
        sa.Index("ix_event_subscriptions_ending", "ended_at", "expires_at"),
    )

    id: Mapped[str] = mapped_column(sa.String(40), primary_key=True)
    account_id: Mapped[str] = mapped_column(sa.String(40))  # that of its form
    form_id: Mapped[str] = mapped_column(sa.ForeignKey("forms.id"))
    grant_id: Mapped[str] = mapped_column(
        sa.String(40)
    )  # without a key: it outlives its connection
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
    error_profile: Mapped[ErrorProfile] = mapped_column(
        enum_type(ErrorProfile, "error_profile"), default=ErrorProfile.PLAIN
    )
    last_delivery_at: Mapped[datetime | None]
    last_failure: Mapped[DeliveryFailure | None] = mapped_column(
        enum_type(DeliveryFailure, "last_failure")
    )
    ended_at: Mapped[datetime | None]
    end_reason: Mapped[SubscriptionEnd | None] = mapped_column(
        enum_type(SubscriptionEnd, "end_reason")
    )


# of a subscription that has ended; its host stays in the log
ERASED: dict[str, None] = dict.fromkeys(("url", "secret", "previous_secret", "previous_until"))


class EventDelivery(Base):
    """One event on its way to one subscription.

    id           `dlv_`, the digits of the event and those of the subscription
    event_id     the `webhook-id`: `evt_` and the digits of the session, or that of an envelope
    position     stamp of the completion, in milliseconds; 0 in an envelope
    body         the bytes sent, as text; null until the first attempt freezes them
    next_at      when it is due
    lease_until  of earlier programs; nothing writes or reads it
    renewals     while an attempt runs: how often its process has said so
    """

    __tablename__ = "event_deliveries"
    __table_args__ = (
        sa.UniqueConstraint("event_id", "subscription_id"),
        # the oldest due ones of each subscription, however many wait behind them
        sa.Index("ix_event_deliveries_due", "state", "subscription_id", "next_at"),
        sa.Index("ix_event_deliveries_listed", "account_id", "created_at", "id"),
        sa.Index("ix_event_deliveries_of_form", "form_id"),
        sa.Index("ix_event_deliveries_positions", "subscription_id", "state", "position"),
        # on SQLite without those that wait: a completion writes a page less. To say so for
        # PostgreSQL, too, would import its dialect in every process
        sa.Index(
            "ix_event_deliveries_settled",
            "settled_at",
            sqlite_where=sa.text("settled_at IS NOT NULL"),
        ),
    )

    id: Mapped[str] = mapped_column(sa.String(80), primary_key=True)
    account_id: Mapped[str] = mapped_column(sa.String(40))  # that of its form
    form_id: Mapped[str] = mapped_column(sa.ForeignKey("forms.id"))
    subscription_id: Mapped[str] = mapped_column(sa.ForeignKey("event_subscriptions.id"))
    endpoint_id: Mapped[str] = mapped_column(sa.String(64))  # that of its subscription
    host: Mapped[str] = mapped_column(sa.String(260))
    kind: Mapped[DeliveryKind] = mapped_column(enum_type(DeliveryKind, "kind"))
    event_id: Mapped[str] = mapped_column(sa.String(64))
    answer_count: Mapped[int]
    position: Mapped[int] = mapped_column(sa.BigInteger)
    body: Mapped[str | None] = mapped_column(sa.Text)
    state: Mapped[DeliveryState] = mapped_column(enum_type(DeliveryState, "state"))
    attempts: Mapped[int] = mapped_column(default=0)
    next_at: Mapped[datetime]
    lease_until: Mapped[datetime | None]
    renewals: Mapped[int | None]
    created_at: Mapped[datetime]
    settled_at: Mapped[datetime | None]


class DeliveryAttempt(Base):
    """One attempt of a delivery: when, what was signed, what came back.

    signature  the header as sent; `reply` the start of the answer, decoded leniently
    """

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
    failure: Mapped[DeliveryFailure | None] = mapped_column(enum_type(DeliveryFailure, "failure"))
    reply: Mapped[str | None] = mapped_column(sa.Text)
