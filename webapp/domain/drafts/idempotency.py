"""Idempotency keys of create requests: each key creates one draft."""

from dataclasses import dataclass
from datetime import datetime, timedelta

from sqlalchemy import ForeignKey, String
from sqlalchemy.orm import Mapped, mapped_column

from webapp.database import Base, db
from webapp.domain.shared.error_codes import ErrorCode
from webapp.domain.shared.errors import InvalidInput
from webapp.domain.shared.limits import IDEMPOTENCY_KEPT_SECONDS


class IdempotencyKey(Base):
    """A create request that was carried out; repeats within a day return its draft as created.

    The key outlives its draft, with the draft id cleared: a repeat creates nothing.
    """

    __tablename__ = "idempotency_keys"

    account_id: Mapped[str] = mapped_column(ForeignKey("accounts.id"), primary_key=True)
    client_id: Mapped[str] = mapped_column(String(2048), primary_key=True)
    key: Mapped[str] = mapped_column(String(255), primary_key=True)
    body_hash: Mapped[str] = mapped_column(String(64))
    draft_id: Mapped[str | None] = mapped_column(ForeignKey("drafts.id"))
    created_at: Mapped[datetime]


@dataclass(frozen=True, slots=True)
class Repeatable:
    """The idempotency key of a request: scope, key and the SHA-256 of its body."""

    client_id: str
    key: str
    body_hash: str


def find_repeated(account_id: str, repeatable: Repeatable, now: datetime) -> IdempotencyKey | None:
    """The stored key if it has created a draft; None for a new or an expired key.

    raises  InvalidInput `idempotency_key_reused` when the key came with another body
    """
    key = db.session.get(IdempotencyKey, (account_id, repeatable.client_id, repeatable.key))
    if key is None:
        return None
    if key.created_at <= kept_since(now):
        db.session.delete(key)
        db.session.flush()
        return None
    if key.body_hash != repeatable.body_hash:
        raise InvalidInput(
            ErrorCode.IDEMPOTENCY_KEY_REUSED,
            "Idempotency-Key: was used with another body.",
            "Use a new key for a new draft, or repeat the first body exactly.",
            field="Idempotency-Key",
        )
    return key


def kept_since(now: datetime) -> datetime:
    """Keys stored at this time or earlier are expired."""
    return now - timedelta(seconds=IDEMPOTENCY_KEPT_SECONDS)


def draft_discarded() -> InvalidInput:
    """The refusal of a key whose draft was discarded: a new draft would undo that."""
    return _gone("a draft that its creator discarded")


def form_deleted() -> InvalidInput:
    """The refusal of a key whose draft became a form that was deleted."""
    return _gone("a draft whose form its creator deleted")


def _gone(what: str) -> InvalidInput:
    return InvalidInput(
        ErrorCode.IDEMPOTENCY_KEY_REUSED,
        f"Idempotency-Key: was used for {what}.",
        "Ask the creator whether a new draft is wanted; if so, create it with a new key.",
        field="Idempotency-Key",
    )


def remember(account_id: str, repeatable: Repeatable, draft_id: str, now: datetime) -> None:
    """Store that the key created this draft; the flush raises IntegrityError for a used key."""
    key = IdempotencyKey(
        account_id=account_id,
        client_id=repeatable.client_id,
        key=repeatable.key,
        body_hash=repeatable.body_hash,
        draft_id=draft_id,
        created_at=now,
    )
    db.session.add(key)
