"""The agent tokens of an account as its creator sees them."""

from datetime import datetime
from typing import NamedTuple

from sqlalchemy import and_, func, or_, select

from webapp.database import db
from webapp.domain.forms.agent_tokens import GRANTS, AgentToken
from webapp.domain.forms.models import Form
from webapp.domain.shared.secrets import token_hash


class ListedToken(NamedTuple):
    """A live token; without a title it is for all forms of the account."""

    token: AgentToken
    title: str | None
    in_trash: bool


class ListedTokens(NamedTuple):
    """The newest live tokens of an account, and how many there are in all."""

    newest: list[ListedToken]
    total: int


def list_agent_tokens(account_id: str, *, now: datetime, most: int) -> ListedTokens:
    """Those that have not ended, newest first, with the titles of their forms."""
    live = (
        AgentToken.account_id == account_id,
        AgentToken.revoked_at.is_(None),
        AgentToken.expires_at > now,
        or_(
            AgentToken.grant_id.is_(None),
            and_(GRANTS.c.revoked_at.is_(None), GRANTS.c.expires_at > now),
        ),
    )
    with_grant = select(AgentToken).outerjoin(GRANTS, GRANTS.c.id == AgentToken.grant_id)
    query = with_grant.where(*live).add_columns(Form.title, Form.deleted_at)
    newest_first = query.outerjoin(Form, Form.id == AgentToken.form_id).order_by(
        AgentToken.created_at.desc(), AgentToken.id.desc()
    )
    found = db.session.execute(newest_first.limit(most)).all()
    total = db.session.scalar(
        with_grant.where(*live).with_only_columns(func.count(), maintain_column_froms=True)
    )
    rows = [ListedToken(token, title, deleted is not None) for token, title, deleted in found]
    return ListedTokens(rows, total or 0)


def find_revoked_token(account_id: str, token_id: str) -> AgentToken | None:
    """A token that its creator revoked."""
    which = (AgentToken.account_id == account_id, AgentToken.revoked_at.is_not(None))
    return db.session.scalar(select(AgentToken).where(AgentToken.id == token_id, *which))


def find_agent_token_of(account_id: str, token: str) -> AgentToken | None:
    """The row of this token, if it is one of the account, in any state."""
    which = (AgentToken.account_id == account_id, AgentToken.token_hash == token_hash(token))
    return db.session.scalar(select(AgentToken).where(*which))
