"""Callbacks: allowed addresses, challenges and confirmations.

The hook of an automation tool answers 2xx but cannot echo a challenge. Its address then waits for
the creator, who sees it in full; a confirmed address needs no challenge over REST. Agents can only
ask for a confirmation; the creator gives it on the page. It applies to one account and address,
and ends with the connection that asked or subscribed last.
"""

import hashlib
import hmac
import json
import re
import secrets
from collections.abc import Iterable, Sequence
from datetime import datetime, timedelta
from typing import Any, NamedTuple, cast

import orjson
import sqlalchemy as sa

from webapp.base import config_readers, database, errors
from webapp.base.outbound import Bounds, Reply, Unreachable, checked_url, fetch
from webapp.base.vocabulary import DeliveryFailure, ErrorProfile
from webapp.events.signatures import signed_headers
from webapp.records.accounts.models import Account
from webapp.records.audit import SYSTEM, Actor, AuditKind, add_event
from webapp.records.events import FORGOTTEN, CallbackEndpoint
from webapp.records.forms import Form, lock_form

PORTS = frozenset({443, 8443})
CONNECT_SECONDS = 5.0
DELIVERY_SECONDS = 10.0  # as in ChatGPT's example and in Outpost
CHALLENGE_SECONDS = 8.0  # shorter, because an agent waits for the result
REPLY_MAX_BYTES = 64 * 1024
FAILURES = {"timed_out": DeliveryFailure.TIMEOUT, "tls_failed": DeliveryFailure.TLS_ERROR}


def callback_bounds(
    allowed_origins: frozenset[str], *, seconds: float = DELIVERY_SECONDS
) -> Bounds:
    """Return the bounds of one request to a callback."""
    return Bounds(
        body_bytes=REPLY_MAX_BYTES,
        connect_seconds=CONNECT_SECONDS,
        total_seconds=seconds,
        ports=PORTS,
        allowed_origins=allowed_origins,
    )


def check_callback_url(url: str, allowed_origins: frozenset[str] = frozenset()) -> str:
    """Return `host:port` of an allowed callback address. Raises Unreachable `invalid_url`."""
    parts = checked_url(url, PORTS, allowed_origins)
    return f"{config_readers.in_url(parts.hostname or '')}:{config_readers.port_of(parts)}"


def failure_of(outcome: Unreachable | int) -> DeliveryFailure:
    """Return the failure that agents see for a missing reply or a status other than 2xx.

    A redirect counts as the receiver's fault, like every status below 500. Agents do not learn why
    a connection failed: the reason would reveal which addresses exist inside the network.
    """
    if isinstance(outcome, Unreachable):
        return FAILURES.get(outcome.reason, DeliveryFailure.CONNECTION_REFUSED)
    return DeliveryFailure.HTTP_5XX if outcome >= 500 else DeliveryFailure.HTTP_4XX


CHALLENGE_BYTES = 32
MEDIA_TYPE = re.compile(
    r"(application|audio|font|image|message|multipart|text|video)/[a-z0-9.+-]{1,40}", re.I
)


class Unverified(NamedTuple):
    """The reason why a callback failed its challenge.

    answered  status, length and type of the reply; "" without one
    taken     the reply was 2xx, so events would count as delivered
    """

    failure: DeliveryFailure
    answered: str = ""
    taken: bool = False


def send_challenge(
    url: str, secret: str, subscription_id: str, *, bounds: Bounds
) -> Unverified | None:
    """Challenge a callback once to prove that it wants the events; None if it passes.

    May take as long as `bounds` allow: call it without an open transaction or database connection.
    """
    challenge = secrets.token_urlsafe(CHALLENGE_BYTES)
    body = orjson.dumps({"type": "verification", "challenge": challenge})
    message_id, now = f"msg_verification_{secrets.token_hex(12)}", database.utc_now()
    headers = signed_headers(message_id, body, [secret], subscription_id=subscription_id, now=now)
    try:
        reply = fetch(url, headers=headers, body=body, bounds=bounds)
    except Unreachable as failure:
        is_garbled = failure.reason == "invalid_reply"
        return Unverified(DeliveryFailure.CHALLENGE_FAILED if is_garbled else failure_of(failure))
    if reply.status >= 400:
        return Unverified(failure_of(reply.status), _described(reply))
    if reply.is_success and hmac.compare_digest(_echo(reply), challenge.encode()):
        return None
    return Unverified(DeliveryFailure.CHALLENGE_FAILED, _described(reply), reply.is_success)


def _described(reply: Reply) -> str:
    """Describe a reply by status, length and type, without its content."""
    media_type = MEDIA_TYPE.match(reply.headers.get("content-type", ""))
    size = f"more than {len(reply.body):,}" if reply.cut else f"{len(reply.body):,}"
    return f"{reply.status} with {size} bytes of {media_type[0] if media_type else 'no type'}"


def _echo(reply: Reply) -> bytes:
    """Return the challenge of a reply; empty unless it is a JSON object of at most 64 KiB."""
    try:
        answered = json.loads(b"" if reply.cut else reply.body)
        return str(answered["challenge"]).encode(errors="replace")
    except (ValueError, TypeError, LookupError, RecursionError):
        return b""


class Asked(NamedTuple):
    """A request to subscribe, whose values the caller has checked.

    url     verbatim: receivers tell their subscriptions apart by the query
    host    host and port of the url
    cursor  a new or lapsed subscription replays the events after it
    error_profile  None for clients that get no error numbers: the stored profile stays
    """

    account_id: str
    form_id: str
    grant_id: str
    url: str
    host: str
    secret: str
    ttl_seconds: int | None = None
    cursor: str | None = None
    max_age_ms: int | None = None
    error_profile: ErrorProfile | None = None


def endpoint_id(account_id: str, url: str) -> str:
    """Return the id of an address in one account."""
    return digest(account_id, url)


def digest(*parts: object) -> str:
    """Hash the parts: SHA-256, in hex, of canonical JSON (sorted keys, no spaces, UTF-8)."""
    return hashlib.sha256(orjson.dumps(parts, option=orjson.OPT_SORT_KEYS)).hexdigest()


VERIFIED_FOR = timedelta(hours=24)  # how long an address needs no further challenge
ASKED_AGAIN_AFTER = timedelta(minutes=10)  # while an address waits for the creator
WAITS_FOR = timedelta(days=7)  # how long an address waits for the creator
WAITING_MAX = 20  # waiting addresses of one account

_E = CallbackEndpoint


def find_callback(asked: Asked) -> Any:
    """Return what is stored about the address; None without it. Call it outside a transaction."""
    callback = endpoint_id(asked.account_id, asked.url)
    return next(iter(database.read_rows(_ONE, account=asked.account_id, callback=callback)), None)


def store_endpoint(asked: Asked, *, now: datetime, verified: bool = False) -> str:
    """Store an address and return its id; `verified` resets its failures and its pause."""
    values: dict[str, object] = {
        "id": endpoint_id(asked.account_id, asked.url),
        "account_id": asked.account_id,
        "host": asked.host,
        "seen_at": now,
        "verified_at": now if verified else None,
        "failures": 0,
        "paused_until": None,
    }
    changed = values.keys() - {"id", "account_id", "host"} if verified else {"seen_at"}
    upsert(_E, values, changed)
    return str(values["id"])


def upsert(model: type[database.Base], values: dict[str, object], changed: Iterable[str]) -> None:
    """Insert a row, or update its columns `changed` if the id exists."""
    adding = database.insert_into(cast(sa.Table, model.__table__))
    set_ = {name: adding.excluded[name] for name in sorted(changed)}
    database.execute(adding.on_conflict_do_update(index_elements=["id"], set_=set_), **values)


@database.tried_again
def note_verified(asked: Asked, *, now: datetime) -> None:
    """Store that the address answered its challenge and needs no confirmation; commits.

    raises  as `hold`
    """
    with database.write_transaction():
        hold(asked)
        endpoint = store_endpoint(asked, verified=True, now=now)
        database.execute(forget((_E.id == endpoint) & _E.asked_at.is_not(None)))


@database.tried_again
def note_unverified(asked: Asked, answered: str, *, now: datetime) -> bool:
    """Let the address wait for the creator; False if WAITING_MAX others wait. Commits.

    raises  as `hold`
    """
    with database.write_transaction():
        hold(asked)
        endpoint = endpoint_id(asked.account_id, asked.url)
        waiting = (_E.account_id == asked.account_id, _E.asked_at > now - WAITS_FOR)
        others = sa.select(sa.func.count()).where(*waiting, _E.id != endpoint)
        if database.execute(others).scalar_one() >= WAITING_MAX:
            return False
        store_endpoint(asked, now=now)
        waits = sa.update(_E).where(_E.id == endpoint, _E.confirmed_at.is_(None))
        values = {"url": asked.url, "asked_form_id": asked.form_id, "grant_id": asked.grant_id}
        database.execute(waits.values(**values, asked_at=now, answered=answered))
    return True


def require_confirmed(asked: Asked) -> None:
    """Lock the confirmation of a callback and bind it to this connection.

    Call it in the transaction that subscribes. raises InvalidInput `callback_failed`
    """
    endpoint = endpoint_id(asked.account_id, asked.url)
    confirmed = sa.update(_E).where(_E.id == endpoint, _E.confirmed_at.is_not(None))
    if not database.execute(confirmed.values(grant_id=asked.grant_id)).rowcount:
        message = "url: is not confirmed any more."
        remedy = "Send the same request again."
        raise errors.InvalidInput(errors.ErrorCode.CALLBACK_FAILED, message, remedy, field="url")


def list_callbacks(account_id: str, *, now: datetime) -> Sequence[Any]:
    """List callbacks that wait for the creator, then confirmed ones, each oldest first.

    title  the form for which an agent asked; None if it is deleted
    """
    return database.read_rows(_LISTED, account=account_id, since=now - WAITS_FOR)


def confirm_callback(
    account_id: str,
    callback_id: str,
    *,
    allowed_origins: frozenset[str],
    now: datetime,
    by: Actor = SYSTEM,
) -> None:
    """Confirm a waiting address for the creator; does nothing if it is confirmed.

    raises  NotFound; InvalidInput `validation_failed` if the address is no longer allowed
    """
    with database.write_transaction():
        row = lock_callback(account_id, callback_id)
        if row.confirmed_at is not None:
            return
        waits = sa.update(_E).where(_E.id == callback_id, _E.asked_at > now - WAITS_FOR)
        if not database.execute(waits.values(confirmed_at=now, asked_at=None)).rowcount:
            raise _no_callback()
        try:
            check_callback_url(row.url, allowed_origins)
        except Unreachable:
            raise errors.InvalidInput(
                errors.ErrorCode.VALIDATION_FAILED,
                "Nothing can be sent to this address.",
                "Ask the operator of this server which addresses of its network are allowed.",
            ) from None
        kind = AuditKind.CALLBACK_CONFIRMED
        add_event(kind, account_id, by=by, now=now, subject=row.asked_form_id)


def forget(which: sa.ColumnElement[bool]) -> sa.Update:
    """Build the UPDATE that erases confirmations, and requests for them, where `which` holds."""
    return sa.update(_E).where(which, _E.url.is_not(None)).values(FORGOTTEN)


def lock_callback(account_id: str, callback_id: str) -> Any:
    """Lock the account and return one of its callbacks. raises NotFound"""
    database.execute(_LOCK_ACCOUNT, account=account_id)
    row = database.execute(_ONE, account=account_id, callback=callback_id).one_or_none()
    if row is None:
        raise _no_callback()
    return row


def _no_callback() -> errors.NotFound:
    return errors.NotFound(
        errors.ErrorCode.NOT_FOUND,
        "This address does not wait for you any more.",
        "If your agent still wants it, let it ask again.",
    )


def hold(asked: Asked) -> int:
    """Lock the account (for its limits), the connection and the form before subscribing. Returns
    the stamp of the form's newest completion.

    raises  NotFound `form_not_found`; StateConflict `authentication_required`
    """
    database.execute(_LOCK_ACCOUNT, account=asked.account_id)
    grants = database.db.metadata.tables["oauth_grants"].c  # their model is in a layer above
    held = sa.select(grants.revoked_at).where(grants.id == asked.grant_id)
    grant = database.execute(held.with_for_update(read=True)).one_or_none()
    if grant is None or grant.revoked_at is not None:
        raise errors.StateConflict(
            errors.ErrorCode.AUTHENTICATION_REQUIRED,
            "The connection of this access token has ended.",
            "Ask the creator for consent again.",
        )
    return lock_form(asked.account_id, asked.form_id)


_LOCK_ACCOUNT = (
    sa.select(Account.id)
    .where(Account.id == sa.bindparam("account"))
    .with_for_update(key_share=True)
)
_MINE = _E.account_id == sa.bindparam("account")
_LISTED = (
    sa.select(*(_E.id, _E.url, _E.host, _E.answered, _E.asked_at, _E.confirmed_at, _E.grant_id))
    .add_columns(Form.title)
    .outerjoin(Form, (Form.id == _E.asked_form_id) & Form.deleted_at.is_(None))
    .where(_MINE, _E.confirmed_at.is_not(None) | (_E.asked_at > sa.bindparam("since")))
    .order_by(_E.confirmed_at.is_not(None), _E.confirmed_at, _E.asked_at, _E.id)
)
_ONE = sa.select(
    *(_E.url, _E.verified_at, _E.answered, _E.asked_at, _E.confirmed_at, _E.asked_form_id)
).where(_MINE, _E.id == sa.bindparam("callback"))
