"""Make, list, check and revoke agent tokens."""

import re
import secrets
from collections.abc import Collection, Sequence
from datetime import datetime
from typing import Annotated, Any, NamedTuple

import sqlalchemy as sa
from pydantic import Field, StrictStr
from sqlalchemy.orm import aliased

from webapp.base import database, text
from webapp.base.errors import ErrorCode, InputModel, NotFound
from webapp.base.vocabulary import TokenEnd
from webapp.records.accounts.models import Account
from webapp.records.audit import SYSTEM, Actor, AuditKind, add_event
from webapp.records.content.draft_input import ONE_LINE, STORABLE, whole_number
from webapp.records.forms import AgentToken, Form, FormRow, get_form, lock_form

AGENT_TOKEN_LABEL_MAX_CHARS = 80
AGENT_TOKEN_MIN_SECONDS = 60
AGENT_TOKEN_MAX_SECONDS = 7 * 24 * 3600  # for a token that an agent makes
AGENT_TOKEN_DAYS = 90  # default for a token that a creator makes
AGENT_TOKEN_MAX_DAYS = 365
PREFIX = "askag_"
SHAPE = re.compile(f"{PREFIX}[0-9A-Za-z]{{43,64}}")
HINT_START, HINT_END = 9, 4  # characters that lists show


class TokenRow(NamedTuple):
    """A token in any state, with the state of its connection and its account."""

    id: str
    account_id: str
    form_id: str | None
    expires_at: datetime
    revoked_at: datetime | None
    last_used_at: datetime | None
    grant_id: str | None
    grant_expires_at: datetime | None
    grant_revoked_at: datetime | None
    account_disabled_at: datetime | None

    def ended(self, now: datetime) -> TokenEnd | None:
        if self.revoked_at or self.grant_revoked_at or self.account_disabled_at:
            return TokenEnd.REVOKED
        grant_is_over = self.grant_id and not (self.grant_expires_at or now) > now
        return TokenEnd.EXPIRED if grant_is_over or self.expires_at <= now else None


# the model of this table belongs to a higher layer
GRANTS = sa.table(
    "oauth_grants",
    sa.column("id", sa.String),
    sa.column("expires_at", database.UtcDateTime),
    sa.column("revoked_at", database.UtcDateTime),
)


_TOKENS = (
    sa.select(
        *(AgentToken.__table__.c[name] for name in TokenRow._fields[:-3]),
        GRANTS.c.expires_at.label("grant_expires_at"),
        GRANTS.c.revoked_at.label("grant_revoked_at"),
        Account.disabled_at.label("account_disabled_at"),
    )
    .join(Account, Account.id == AgentToken.account_id)
    .outerjoin(GRANTS, GRANTS.c.id == AgentToken.grant_id)
)
_BY_HASH = _TOKENS.where(AgentToken.token_hash == sa.bindparam("hash"))
_BY_ID = _TOKENS.where(database.among(AgentToken.id, "ids"))


def find_agent_token(token: str) -> TokenRow | None:
    """Return the row of a token in any state: callers must check `ended`."""
    known = SHAPE.fullmatch(token) and database.read_rows(_BY_HASH, hash=text.token_hash(token))
    return TokenRow._make(known[0]) if known else None


def ended_tokens(token_ids: Collection[str], *, now: datetime) -> dict[str, TokenEnd]:
    """Return why each ended token ended, by id; a deleted token counts as revoked."""
    found = map(TokenRow._make, database.read_rows(_BY_ID, ids=list(token_ids)))
    ends = dict.fromkeys(token_ids, TokenEnd.REVOKED) | {row.id: row.ended(now) for row in found}
    return {token_id: end for token_id, end in ends.items() if end}


def get_ask(token: TokenRow, ask_id: str) -> FormRow:
    """Return the form, which the token must be able to read. raises NotFound `form_not_found`"""
    if token.form_id not in (None, ask_id):
        raise _no_ask()
    try:
        return get_form(token.account_id, ask_id)
    except NotFound:
        raise _no_ask() from None


def make_agent_token(
    account_id: str,
    form_id: str | None,
    *,
    label: str,
    expires_at: datetime,
    now: datetime,
    grant_id: str | None = None,
    by: Actor = SYSTEM,
) -> AgentToken:
    """Create a token for one form, or for all forms if `form_id` is None; set its `token`."""
    token = PREFIX + secrets.token_hex(32)  # secret scanners know it by the prefix
    made = AgentToken(
        id=database.new_id("agt"),
        account_id=account_id,
        form_id=form_id,
        grant_id=grant_id,
        token_hash=text.token_hash(token),
        hint=f"{token[:HINT_START]}…{token[-HINT_END:]}",
        label=label,
        created_at=now,
        expires_at=expires_at,
    )
    made.token = token
    with database.write_transaction():
        if form_id is not None:
            lock_form(account_id, form_id)  # the form must exist until its token is stored
        database.db.session.add(made)
        add_event(AuditKind.AGENT_TOKEN_MADE, account_id, by=by, now=now, subject=form_id)
    return made


def revoke_agent_token(
    account_id: str, token_id: str, *, now: datetime, by: Actor = SYSTEM
) -> AgentToken:
    """Revoke a token; a repeat changes nothing. raises NotFound"""
    with database.write_transaction():
        found = database.db.session.scalar(
            sa.select(AgentToken)
            .where(AgentToken.id == token_id, AgentToken.account_id == account_id)
            .with_for_update()
            .execution_options(populate_existing=True)
        )
        if found is None:
            raise NotFound(
                ErrorCode.NOT_FOUND,
                "There is no such agent token.",
                "Reload the page to see the current ones.",
            )
        if found.revoked_at is None:
            found.revoked_at = now
            kind = AuditKind.AGENT_TOKEN_REVOKED
            add_event(kind, account_id, by=by, now=now, subject=found.form_id)
    return found


def revoke_agent_tokens(account_id: str, *, now: datetime, by: Actor = SYSTEM) -> None:
    """Revoke all tokens of the account, as one event in the audit trail."""
    with database.write_transaction():
        ended = database.db.session.scalars(
            sa.update(AgentToken)
            .where(AgentToken.account_id == account_id, AgentToken.revoked_at.is_(None))
            .values(revoked_at=now)
            .returning(AgentToken.id)
        )
        if ended.all():
            add_event(AuditKind.AGENT_TOKENS_REVOKED, account_id, by=by, now=now)


def store_use(token_id: str, now: datetime) -> None:
    """Store when the token was last used, in a transaction of its own."""
    database.execute_autocommit(_USED, token=token_id, now=now)


_USED = (
    sa.update(AgentToken)
    .where(AgentToken.id == sa.bindparam("token"))
    .values(last_used_at=sa.bindparam("now"))
)


def _no_ask() -> NotFound:
    return NotFound(
        ErrorCode.FORM_NOT_FOUND,
        "There is no ask with this askId for this agent token, or its creator deleted the form.",
        "Use the formId of the form that the token was made for.",
    )


def list_agent_tokens(
    account_id: str, *, now: datetime, most: int
) -> Sequence[sa.Row[*tuple[Any, ...]]]:
    """Return the newest live tokens, each with its form's title, and the total of them."""
    with_grant = sa.and_(GRANTS.c.revoked_at.is_(None), GRANTS.c.expires_at > now)
    token = aliased(AgentToken, name="token")
    query = (
        sa.select(token, Form.title, Form.deleted_at, sa.func.count().over().label("total"))
        .outerjoin(GRANTS, GRANTS.c.id == token.grant_id)
        .outerjoin(Form, Form.id == token.form_id)
        .where(
            token.account_id == account_id,
            token.revoked_at.is_(None),
            token.expires_at > now,
            sa.or_(token.grant_id.is_(None), with_grant),
        )
        .order_by(token.created_at.desc(), token.id.desc())
        .limit(most)
    )
    return database.db.session.execute(query).all()


def find_own_token(account_id: str, **columns: str) -> AgentToken | None:
    """Return the account's token with these column values, in any state."""
    query = sa.select(AgentToken).filter_by(account_id=account_id, **columns)
    return database.db.session.scalar(query)


class AgentTokenInput(InputModel):
    """What may be said of a new agent token; null is accepted nowhere."""

    label: Annotated[
        StrictStr,
        Field(
            max_length=AGENT_TOKEN_LABEL_MAX_CHARS,
            description="What its creator knows it by: one line without control characters.",
        ),
        STORABLE,
        ONE_LINE,
    ] = ""
    expires_in_seconds: Annotated[
        int,
        Field(
            ge=AGENT_TOKEN_MIN_SECONDS,
            le=AGENT_TOKEN_MAX_SECONDS,
            description=(
                "How long it lives, 7 days unless sent; never past the end of the connection."
            ),
        ),
        whole_number(AGENT_TOKEN_MAX_SECONDS, AGENT_TOKEN_MIN_SECONDS),
    ] = AGENT_TOKEN_MAX_SECONDS
