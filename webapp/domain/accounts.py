"""Accounts: one creator each, made through a one-time link."""

from datetime import datetime

from sqlalchemy import ForeignKey, String
from sqlalchemy.orm import Mapped, mapped_column

from webapp.database import Base


class Account(Base):
    """A creator with everything that belongs to them. `session_epoch` ends all browser sessions."""

    __tablename__ = "accounts"

    id: Mapped[str] = mapped_column(String(40), primary_key=True)
    email: Mapped[str] = mapped_column(String(320), unique=True)
    name: Mapped[str] = mapped_column(String(80))
    password_hash: Mapped[str] = mapped_column(String(255))
    session_epoch: Mapped[int] = mapped_column(default=0)
    created_at: Mapped[datetime]


class Invite(Base):
    """A one-time link that creates an account; only the SHA-256 of its token is kept."""

    __tablename__ = "invites"

    token_hash: Mapped[str] = mapped_column(String(64), primary_key=True)
    created_at: Mapped[datetime]
    expires_at: Mapped[datetime]
    account_id: Mapped[str | None] = mapped_column(ForeignKey("accounts.id"))
