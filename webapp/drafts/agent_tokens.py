"""Agent tokens: making, listing, checking and revoking them."""

import re
import secrets
import string
import zlib
from collections.abc import Collection
from datetime import datetime
from typing import Annotated, NamedTuple

import sqlalchemy as sa
from pydantic import Field, StrictStr

from webapp.base import database
from webapp.base.errors import ErrorCode, InputModel, NotFound
from webapp.base.text import token_hash
from webapp.base.vocabulary import TokenEnd
from webapp.records.accounts.models import Account
from webapp.records.audit import SYSTEM, Actor, AuditKind, add_event
from webapp.records.content.draft_input import ONE_LINE, STORABLE, whole_number
from webapp.records.forms import AgentToken, Form, FormRow, get_form, lock_form

AGENT_TOKEN_LABEL_MAX_CHARS = 80
AGENT_TOKEN_MIN_SECONDS = 60
AGENT_TOKEN_MAX_SECONDS = 7 * 24 * 3600  # of one that an agent makes
AGENT_TOKEN_DAYS = 90  # of one that a creator makes, unless they say otherwise
AGENT_TOKEN_MAX_DAYS = 365
PREFIX = "askag_"
RANDOM_BYTES = 32
RANDOM_CHARS = 43  # of base 62
SUM_CHARS = 6  # of base 62
DIGITS = string.digits + string.ascii_uppercase + string.ascii_lowercase
SHAPE = re.compile(f"{PREFIX}[0-9A-Za-z]{{{RANDOM_CHARS + SUM_CHARS}}}")
HINT_START, HINT_END = 9, 4  # characters


def new_token() -> str:
    """A new random token; the prefix tells secret scanners what it is."""
    number = int.from_bytes(secrets.token_bytes(RANDOM_BYTES))
    text = PREFIX + _base_62(number, RANDOM_CHARS)
    return text + _sum_of(text)


def is_well_formed(token: str) -> bool:
    """Whether it has the shape of a token and its sum is right."""
    known = SHAPE.fullmatch(token)
    return bool(known) and token[-SUM_CHARS:] == _sum_of(token[:-SUM_CHARS])


def hint_of(token: str) -> str:
    """What lists show of a token."""
    return f"{token[:HINT_START]}…{token[-HINT_END:]}"


def _sum_of(text: str) -> str:
    return _base_62(zlib.crc32(text.encode()), SUM_CHARS)


def _base_62(number: int, width: int) -> str:
    digits = ""
    for _ in range(width):
        number, digit = divmod(number, len(DIGITS))
        digits = DIGITS[digit] + digits
    return digits


class TokenRow(NamedTuple):
    """A token in any state, with the end of its connection and of its account."""

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
        """Why it is of no use at this moment, None while it is."""
        if self.revoked_at or self.grant_revoked_at or self.account_disabled_at:
            return TokenEnd.REVOKED
        grant_is_over = self.grant_id and not (self.grant_expires_at or now) > now
        return TokenEnd.EXPIRED if grant_is_over or self.expires_at <= now else None


class MadeToken(NamedTuple):
    """A new token; its text is stored nowhere."""

    id: str
    token: str
    hint: str
    expires_at: datetime


# their model belongs to a layer above
GRANTS = sa.table(
    "oauth_grants",
    sa.column("id", sa.String),
    sa.column("expires_at", database.UtcDateTime),
    sa.column("revoked_at", database.UtcDateTime),
)


def _look_up(which: sa.ColumnElement[bool]) -> sa.Select[*tuple[object, ...]]:
    return (
        sa.select(
            AgentToken.id,
            AgentToken.account_id,
            AgentToken.form_id,
            AgentToken.expires_at,
            AgentToken.revoked_at,
            AgentToken.last_used_at,
            AgentToken.grant_id,
            GRANTS.c.expires_at.label("grant_expires_at"),
            GRANTS.c.revoked_at.label("grant_revoked_at"),
            Account.disabled_at.label("account_disabled_at"),
        )
        .select_from(AgentToken)
        .join(Account, Account.id == AgentToken.account_id)
        .outerjoin(GRANTS, GRANTS.c.id == AgentToken.grant_id)
        .where(which)
    )


_BY_HASH = _look_up(AgentToken.token_hash == sa.bindparam("hash"))
_BY_ID = _look_up(database.among(AgentToken.id, "ids"))


def find_agent_token(token: str) -> TokenRow | None:
    """The row of this token in any state; None also for text that cannot be one, without a query.

    Callers judge `ended`.
    """
    if not is_well_formed(token):
        return None
    found = database.read_rows(_BY_HASH, hash=token_hash(token))
    return TokenRow._make(found[0]) if found else None


def ended_tokens(token_ids: Collection[str], *, now: datetime) -> dict[str, TokenEnd]:
    """Why those of the tokens that have ended did so, by id; one that was deleted was revoked."""
    ends = dict.fromkeys(token_ids, TokenEnd.REVOKED)
    for row in map(TokenRow._make, database.read_rows(_BY_ID, ids=list(token_ids))):
        end = row.ended(now)
        if end is None:
            del ends[row.id]
        else:
            ends[row.id] = end
    return ends


def get_ask(token: TokenRow, ask_id: str) -> FormRow:
    """The form that the token may read. raises NotFound `form_not_found`"""
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
) -> MadeToken:
    """A new token for this form, or for all forms of the account. raises NotFound `form_not_found`

    grant_id  the connection that asked for it, None for the creator
    """
    token = new_token()
    made = MadeToken(database.new_id("agt"), token, hint_of(token), expires_at)
    values = {
        "id": made.id,
        "account_id": account_id,
        "form_id": form_id,
        "grant_id": grant_id,
        "token_hash": token_hash(token),
        "hint": made.hint,
        "label": label,
        "created_at": now,
        "expires_at": expires_at,
    }
    with database.write_transaction() as connection:
        if form_id is not None:
            lock_form(account_id, form_id)  # so that it is not erased before its token is there
        connection.execute(sa.insert(AgentToken).values(values))
        add_event(AuditKind.AGENT_TOKEN_MADE, account_id, by=by, now=now, subject=form_id)
    return made


def revoke_agent_token(
    account_id: str, token_id: str, *, now: datetime, by: Actor = SYSTEM
) -> AgentToken:
    """End a token; again, too. raises NotFound"""
    with database.write_transaction():
        found = database.db.session.scalar(
            sa.select(AgentToken)
            .where(AgentToken.id == token_id, AgentToken.account_id == account_id)
            .with_for_update()
            .execution_options(populate_existing=True)
        )
        if found is None:
            raise _no_token()
        if found.revoked_at is None:
            found.revoked_at = now
            kind = AuditKind.AGENT_TOKEN_REVOKED
            add_event(kind, account_id, by=by, now=now, subject=found.form_id)
    return found


def revoke_agent_tokens(account_id: str, *, now: datetime, by: Actor = SYSTEM) -> None:
    """End all tokens of the account, in one event of the audit trail."""
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
    """Note when the token was last used, in a transaction of its own."""
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


def _no_token() -> NotFound:
    return NotFound(
        ErrorCode.NOT_FOUND,
        "There is no such agent token.",
        "Reload the page to see the current ones.",
    )


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
        sa.or_(
            AgentToken.grant_id.is_(None),
            sa.and_(GRANTS.c.revoked_at.is_(None), GRANTS.c.expires_at > now),
        ),
    )
    with_grant = sa.select(AgentToken).outerjoin(GRANTS, GRANTS.c.id == AgentToken.grant_id)
    query = with_grant.where(*live).add_columns(Form.title, Form.deleted_at)
    newest_first = query.outerjoin(Form, Form.id == AgentToken.form_id).order_by(
        AgentToken.created_at.desc(), AgentToken.id.desc()
    )
    found = database.db.session.execute(newest_first.limit(most)).all()
    total = database.db.session.scalar(
        with_grant.where(*live).with_only_columns(sa.func.count(), maintain_column_froms=True)
    )
    rows = [ListedToken(token, title, deleted is not None) for token, title, deleted in found]
    return ListedTokens(rows, total or 0)


def find_revoked_token(account_id: str, token_id: str) -> AgentToken | None:
    """A token that its creator revoked."""
    which = (AgentToken.account_id == account_id, AgentToken.revoked_at.is_not(None))
    return database.db.session.scalar(
        sa.select(AgentToken).where(AgentToken.id == token_id, *which)
    )


def find_agent_token_of(account_id: str, token: str) -> AgentToken | None:
    """The row of this token, if it is one of the account, in any state."""
    which = (AgentToken.account_id == account_id, AgentToken.token_hash == token_hash(token))
    return database.db.session.scalar(sa.select(AgentToken).where(*which))


Label = Annotated[
    StrictStr,
    Field(
        max_length=AGENT_TOKEN_LABEL_MAX_CHARS,
        description="What its creator knows it by: one line without control characters.",
    ),
    STORABLE,
    ONE_LINE,
]


class AgentTokenInput(InputModel):
    """What may be said of a new agent token; null is accepted nowhere."""

    label: Label = ""
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
