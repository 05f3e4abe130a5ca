"""Transfer of a response session to another device by a link that works once, within an hour.

Only hashes of session keys are stored, so the row carries the key sealed with the secret of the
link. Of the secret, too, only a hash is stored: a reader of the table cannot use it.
"""

import hashlib
import secrets
from base64 import urlsafe_b64encode
from collections.abc import Iterator
from datetime import datetime, timedelta
from typing import Any, cast

import sqlalchemy as sa
from sqlalchemy.orm import Mapped, mapped_column

from webapp.answers.session import lock_session
from webapp.base.database import Base, db, execute, new_id, write_transaction
from webapp.base.errors import ErrorCode, NotFound
from webapp.base.ownership import delete_in_batches
from webapp.base.text import token_hash
from webapp.records.forms import Form, shared_form

TRANSFER_LINK_SECONDS = 3600  # enough to find the other device and open the link there


class DeviceTransfer(Base):
    """The one transfer link of a session; `claimed_by` is the hash of the claim that used it."""

    __tablename__ = "handovers"

    id: Mapped[str] = mapped_column(sa.String(40), primary_key=True)
    form_id: Mapped[str] = mapped_column(sa.ForeignKey("forms.id"))
    session_id: Mapped[str] = mapped_column(sa.ForeignKey("response_sessions.id"), unique=True)
    secret_hash: Mapped[str] = mapped_column(sa.String(64), unique=True)
    sealed_key: Mapped[str] = mapped_column(sa.Text)
    claimed_by: Mapped[str | None] = mapped_column(sa.String(64))
    expires_at: Mapped[datetime]


_TABLE = cast(sa.Table, DeviceTransfer.__table__)


def create_transfer_link(share_token: str, session_key: str, *, now: datetime) -> str:
    """Create a link to this session and return its secret; an earlier link ends."""
    secret = secrets.token_urlsafe(24)
    with write_transaction() as connection:
        session = lock_session(connection, share_token, session_key)
        if session is None:
            raise NotFound(
                ErrorCode.NOT_FOUND, "Nothing is stored to go on with.", "Answer a question first."
            )
        execute(sa.delete(_TABLE).where(_TABLE.c.session_id == session.session_id))
        db.session.add(
            DeviceTransfer(
                id=new_id("hov"),
                form_id=session.form_id,
                session_id=session.session_id,
                secret_hash=token_hash(secret),
                sealed_key=_seal(secret).encrypt(session_key.encode()).decode(),
                expires_at=now + timedelta(seconds=TRANSFER_LINK_SECONDS),
            )
        )
    return secret


def is_link_usable(share_token: str, secret: str, *, now: datetime) -> bool:
    """Return True if this link of this form is neither used nor expired."""
    query = sa.select(DeviceTransfer.id).where(
        _live(share_token, secret, now), DeviceTransfer.claimed_by.is_(None)
    )
    return db.session.scalar(query) is not None


def claim_session_key(share_token: str, secret: str, claim: str, *, now: datetime) -> str | None:
    """Use up a link: return the session key for its first claim, None for any other.

    claim  generated for each rendered page: repeats of its POST, after a lost response or a double
           click, get the key again
    """
    with write_transaction():
        claimed_by = token_hash(claim)
        free = sa.or_(_TABLE.c.claimed_by.is_(None), _TABLE.c.claimed_by == claimed_by)
        sealed: str | None = db.session.execute(
            sa.update(_TABLE)
            .where(_live(share_token, secret, now), free)
            .values(claimed_by=claimed_by)
            .returning(_TABLE.c.sealed_key)
        ).scalar_one_or_none()
    return None if sealed is None else str(_seal(secret).decrypt(sealed.encode()), "utf-8")


def purge_expired_links(now: datetime) -> Iterator[int]:
    """Delete the expired links in short batches; yield their counts. May stop at any point."""
    yield from delete_in_batches(_TABLE, _TABLE.c.expires_at <= now)


def _live(share_token: str, secret: str, now: datetime) -> sa.ColumnElement[bool]:
    form = sa.select(Form.id).where(shared_form(share_token)).scalar_subquery()
    return sa.and_(
        _TABLE.c.secret_hash == token_hash(secret),
        _TABLE.c.form_id == form,
        _TABLE.c.expires_at > now,
    )


def _seal(secret: str) -> Any:
    """Return the Fernet cipher for this secret; its key is derived apart from the stored hash."""
    # slow to import, and few respondents change devices
    from cryptography.fernet import Fernet

    key = hashlib.blake2b(secret.encode(), digest_size=32, person=b"askback handover").digest()
    return Fernet(urlsafe_b64encode(key))
