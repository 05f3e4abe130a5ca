"""The audit trail: who did what with an account, from where, and with which outcome.

Rows are append-only; they are deleted by age, or with their account. They hold ids and client
names, never an answer, a password, a link or a token. A use case adds its row in its own
transaction, and the log line follows after the commit.
"""

import itertools
import logging
import secrets
import time
from datetime import datetime
from enum import StrEnum
from typing import NamedTuple

from sqlalchemy import Index, String, Text, and_, event, or_, select
from sqlalchemy.orm import Mapped, Session, mapped_column

from webapp.base.database import Base, db

ADDRESS_MAX_CHARS = 45  # an IPv6 address that ends in an IPv4 address
UNLOGGED = "audit_events"  # key in `session.info`: events that the transaction has added

log = logging.getLogger("askback.audit")
_NUMBERS = itertools.count()  # of the events of this process


# the kinds of events; a value is its name in lower case
AuditKind = StrEnum(
    "AuditKind",
    """
    SIGN_IN SIGN_OUT SIGN_OUT_EVERYWHERE BROWSER_ENDED BROWSERS_ENDED LINK_MADE LINK_USED
    ACCOUNT_CREATED ACCOUNT_DELETED ACCOUNT_DISABLED ACCOUNT_ENABLED PASSWORD_CHANGED PASSWORD_RESET
    CONSENT TRUST_GIVEN TRUST_ENDED
    TOKEN_ISSUED TOKEN_REFRESHED TOKEN_REVOKED TOKEN_REUSED CODE_REUSED
    AGENT_TOKEN_MADE AGENT_TOKEN_REVOKED AGENT_TOKENS_REVOKED
    SUBSCRIBED UNSUBSCRIBED CALLBACK_CONFIRMED CALLBACK_REMOVED DISCONNECTED MUTED UNMUTED
    CLIENT_CREATED CLIENT_DISABLED CLIENT_ENABLED
    CONFIRMED ATTESTED SENT_BACK KEPT DISCARDED TAKEN_BACK PUBLISHED CLOSED REOPENED
    VOICE_AGREED WRITER_AGREED DELETED RESTORED ERASED
    RESPONSE_DELETED AUTOMATED_DELETED RESPONSES_RESTORED EXPORTED
    BACKED_UP BACKUP_RESTORED MIGRATED REKEYED
    """,
)
REFUSED = (AuditKind.TOKEN_REUSED, AuditKind.CODE_REUSED)  # kinds that always fail


class AuditOutcome(StrEnum):
    """How an event ended: `denied` by the creator, `too_many_tries` for a rate limit."""

    OK = "ok"
    FAILED = "failed"
    DENIED = "denied"
    TOO_MANY_TRIES = "too_many_tries"


class ActorKind(StrEnum):
    """The kind of an actor; a `visitor` is not signed in."""

    CREATOR = "creator"
    AGENT = "agent"
    OPERATOR = "operator"
    VISITOR = "visitor"
    SYSTEM = "system"


class Actor(NamedTuple):
    """The actor of an event, with its network address; only agents have a client id and name."""

    kind: ActorKind
    address: str | None = None
    client_id: str | None = None
    client_name: str | None = None


SYSTEM = Actor(ActorKind.SYSTEM)
OPERATOR = Actor(ActorKind.OPERATOR)


class AuditEvent(Base):
    """One event; `account_id` is no foreign key, as the event of a deletion outlives it."""

    __tablename__ = "audit_events"
    __table_args__ = (
        Index("ix_audit_events_listed", "account_id", "at", "id"),
        Index("ix_audit_events_at", "at"),
    )

    id: Mapped[str] = mapped_column(String(40), primary_key=True)
    at: Mapped[datetime]
    kind: Mapped[str] = mapped_column(String(32))
    outcome: Mapped[str] = mapped_column(String(16))
    actor: Mapped[str] = mapped_column(String(16))
    account_id: Mapped[str | None] = mapped_column(String(40))
    client_id: Mapped[str | None] = mapped_column(Text)
    client_name: Mapped[str | None] = mapped_column(Text)
    address: Mapped[str | None] = mapped_column(String(ADDRESS_MAX_CHARS))
    subject: Mapped[str | None] = mapped_column(String(40))
    count: Mapped[int]


def event_values(
    kind: AuditKind,
    account_id: str | None,
    *,
    by: Actor,
    now: datetime,
    outcome: AuditOutcome = AuditOutcome.OK,
    subject: str | None = None,
) -> dict[str, object]:
    """Return the column values of a new row."""
    return {
        # orders events of the same time; some clocks have steps of many milliseconds
        "id": f"aud_{time.time_ns():016x}{next(_NUMBERS) & 0xFFFF:04x}{secrets.token_hex(2)}",
        "at": now,
        "kind": str(kind),
        "outcome": str(outcome),
        "actor": str(by.kind),
        "account_id": account_id,
        "client_id": by.client_id,
        "client_name": by.client_name,
        "address": by.address,
        "subject": subject,
        "count": 1,
    }


def add_event(
    kind: AuditKind,
    account_id: str | None,
    *,
    by: Actor,
    now: datetime,
    subject: str | None = None,
) -> None:
    """Add an event to the session's transaction; the caller commits."""
    outcome = AuditOutcome.FAILED if kind in REFUSED else AuditOutcome.OK
    values = event_values(kind, account_id, by=by, now=now, outcome=outcome, subject=subject)
    db.session.add(AuditEvent(**values))
    db.session.info.setdefault(UNLOGGED, []).append(values)


def log_event(values: dict[str, object]) -> None:
    """Write the log line of an event."""
    names = {"kind": "event", "account_id": "account", "client_id": "client"}
    names |= {name: name for name in ("outcome", "actor", "address", "subject")}
    known = {to: values[name] for name, to in names.items() if values[name] is not None}
    log.info("%s %s", values["kind"], values["outcome"], extra=known)


def list_events(
    account_id: str | None,
    *,
    limit: int,
    since: datetime | None = None,
    before: tuple[datetime, str] | None = None,
) -> list[AuditEvent]:
    """Return the events of the account, or of all accounts, newest first."""
    query = select(AuditEvent)
    if account_id is not None:
        query = query.where(AuditEvent.account_id == account_id)
    if since is not None:
        query = query.where(AuditEvent.at >= since)
    if before is not None:
        at, event_id = before
        same_moment = and_(AuditEvent.at == at, AuditEvent.id < event_id)
        query = query.where(or_(AuditEvent.at < at, same_moment))
    newest_first = query.order_by(AuditEvent.at.desc(), AuditEvent.id.desc())
    return list(db.session.scalars(newest_first.limit(limit)))


@event.listens_for(db.session, "after_commit")
def _log_committed(session: Session) -> None:
    if session.in_nested_transaction():  # the end of a savepoint stores nothing
        return
    for values in session.info.pop(UNLOGGED, []):
        log_event(values)


@event.listens_for(db.session, "after_rollback")
def _forget_rolled_back(session: Session) -> None:
    session.info.pop(UNLOGGED, None)
