"""Private agent tokens: what an agent reads the answers of one form with, without OAuth."""

from datetime import datetime

from sqlalchemy import ForeignKey, String
from sqlalchemy.orm import Mapped, mapped_column

from webapp.database import Base


class AgentToken(Base):
    """A token for one form, or for all forms of the account where `form_id` is null.

    grant_id  the connection that made it, with which it ends; null: made by the creator
    hint      its first nine and last four characters
    """

    __tablename__ = "agent_tokens"

    id: Mapped[str] = mapped_column(String(40), primary_key=True)
    account_id: Mapped[str] = mapped_column(ForeignKey("accounts.id"), index=True)
    form_id: Mapped[str | None] = mapped_column(ForeignKey("forms.id"), index=True)
    # without a key: it outlives its connection
    grant_id: Mapped[str | None] = mapped_column(String(40), index=True)
    token_hash: Mapped[str] = mapped_column(String(64), unique=True)
    hint: Mapped[str] = mapped_column(String(20))
    label: Mapped[str] = mapped_column(String(120))
    created_at: Mapped[datetime]
    expires_at: Mapped[datetime]
    last_used_at: Mapped[datetime | None]
    revoked_at: Mapped[datetime | None]
