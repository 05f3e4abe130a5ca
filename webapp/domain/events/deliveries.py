"""What became of an attempt: the next state of the delivery, of its subscription and its endpoint.

Rows are locked in this order: subscription, endpoint, delivery. None of the locks stands in the way
of a completion, which only refers to those rows.
"""

from datetime import datetime, timedelta
from typing import NamedTuple

from sqlalchemy import ColumnElement, and_, bindparam, exists, func, insert, or_, select, update

from webapp.database import execute, tried_again, write_transaction
from webapp.domain.events.claims import Claimed
from webapp.domain.events.endings import ERASED
from webapp.domain.events.models import (
    CallbackEndpoint,
    DeliveryAttempt,
    EventDelivery,
    EventSubscription,
)
from webapp.domain.events.retries import (
    OPEN_AFTER_FAILURES,
    asked_delay,
    probe_delay,
    retry_delay,
)
from webapp.domain.forms.models import Form
from webapp.domain.shared.error_codes import ErrorCode, PageCode
from webapp.domain.shared.errors import NotFound, StateConflict
from webapp.domain.shared.vocabulary import DeliveryFailure, DeliveryKind, DeliveryState

REPLY_KEPT_BYTES = 2048
GONE_SUSPENDS = 3  # different events in a row that are answered 410
GONE, TOO_LARGE = 410, 413  # neither is tried again
SENT_AGAIN = (DeliveryState.DELIVERED, DeliveryState.DROPPED, DeliveryState.ABANDONED)

_D, _S, _E, _A = EventDelivery, EventSubscription, CallbackEndpoint, DeliveryAttempt


class AttemptResult(NamedTuple):
    """What one attempt brought.

    signature    the header as it was sent
    status       None: no answer
    failure      None: delivered
    retry_after  the header of the answer, as it came
    reply        the start of the answer
    """

    started_at: datetime
    duration_ms: int
    signature: str
    status: int | None
    failure: DeliveryFailure | None
    retry_after: str | None = None
    reply: bytes = b""


@tried_again
def settle(claimed: Claimed, result: AttemptResult, *, now: datetime) -> bool:
    """Note the attempt and what follows from it; commits.

    False, and nothing is changed, where the lease was lost to another attempt, or the delivery was
    cancelled meanwhile.
    """
    with write_transaction():
        gone_count = _lock_subscription(claimed)
        if gone_count is None:
            return False
        asked = asked_delay(result.retry_after, now=now)
        state, next_at = _next_state(claimed, result, asked, now)
        if result.status == GONE and not _was_gone(claimed.id):
            gone_count += 1
        _note_subscription(claimed, result, gone_count, now)
        _note_endpoint(claimed.endpoint_id, result, asked, now)
        _note_attempt(claimed, result)
        settled_at = now if next_at is None else None
        values = {"state": state, "settled_at": settled_at, "lease_until": None}
        due = {} if next_at is None else {"next_at": next_at}
        execute(update(_D).where(_held(claimed)).values(**values, **due))
    return True


@tried_again
def suspend_unreadable(claimed: Claimed, *, now: datetime) -> None:
    """No key opens the secret: nothing is sent until the next refresh brings one; commits.

    The delivery waits for it, without an attempt.
    """
    with write_transaction():
        if _lock_subscription(claimed) is None:
            return
        execute(update(_S).where(_S.id == claimed.subscription_id).values(suspended_at=now))
        execute(
            update(_D)
            .where(_held(claimed))
            .values(state=DeliveryState.PENDING, attempts=_D.attempts - 1, lease_until=None)
        )


def send_again(account_id: str, delivery_id: str, *, now: datetime) -> str:
    """Send a settled event once more, the same bytes under the same id; commits.

    Returns the id to hand over. Raises NotFound, and StateConflict `delivery_unsettled` for one
    that is under way or was cancelled, `subscription_ended` for one that nobody waits for.
    """
    with write_transaction():
        found = execute(_SENT_BEFORE, row=delivery_id, account=account_id).first()
        if found is None:
            raise NotFound(ErrorCode.NOT_FOUND, "No such delivery.", "Open one of the list.")
        if found.state not in SENT_AGAIN:
            raise StateConflict(
                PageCode.DELIVERY_UNSETTLED,
                "This delivery is still under way, or it was cancelled.",
                "Only what was delivered, dropped or given up can be sent again.",
            )
        if found.ended_at is not None or found.expires_at <= now:
            raise StateConflict(
                PageCode.SUBSCRIPTION_ENDED,
                "The agent has no longer subscribed.",
                "It can be sent again once the agent has renewed its subscription.",
            )
        queued = update(_D).where(_D.id == delivery_id)
        execute(
            queued.values(state=DeliveryState.PENDING, next_at=now, attempts=0, settled_at=None)
        )
    return delivery_id


def _next_state(
    claimed: Claimed, result: AttemptResult, asked: timedelta | None, now: datetime
) -> tuple[DeliveryState, datetime | None]:
    """The state after the attempt, and when the next one is due; None: settled."""
    if result.failure is None:
        return DeliveryState.DELIVERED, None
    if result.status in (GONE, TOO_LARGE):
        return DeliveryState.DROPPED, None
    delay = retry_delay(claimed.attempts)
    if delay is None or claimed.kind is DeliveryKind.TERMINATED:
        return DeliveryState.ABANDONED, None
    return DeliveryState.PENDING, now + max(delay, asked or delay)


def _held(claimed: Claimed) -> ColumnElement[bool]:
    """The delivery, while it is leased to this attempt."""
    return and_(
        _D.id == claimed.id,
        _D.attempts == claimed.attempts,
        _D.state == DeliveryState.SENDING,
    )


def _lock_subscription(claimed: Claimed) -> int | None:
    """How many events in a row were answered 410; None if the lease was lost."""
    held = exists().where(_held(claimed))
    found = select(_S.gone_count).where(_S.id == claimed.subscription_id, held)
    return execute(found.with_for_update(key_share=True, of=_S)).scalar()


def _was_gone(delivery_id: str) -> bool:
    earlier = select(_A.id).where(_A.delivery_id == delivery_id, _A.status == GONE).limit(1)
    return execute(earlier).first() is not None


def _note_subscription(
    claimed: Claimed, result: AttemptResult, gone_count: int, now: datetime
) -> None:
    """Its health as agents are told; the address and the secret of an ended one are erased."""
    values: dict[str, object] = {"last_failure": result.failure, "gone_count": gone_count}
    if result.failure is None:
        values |= {"last_delivery_at": now, "gone_count": 0}
    elif gone_count >= GONE_SUSPENDS:
        values["suspended_at"] = now
    mine = update(_S).where(_S.id == claimed.subscription_id)
    execute(mine.values(values))
    if claimed.kind is DeliveryKind.TERMINATED:
        execute(mine.where(_S.ended_at.is_not(None)).values(ERASED))


def _note_endpoint(
    endpoint_id: str, result: AttemptResult, asked: timedelta | None, now: datetime
) -> None:
    """Close the breaker, count the failure, or leave both: 410 and 413 are clear answers."""
    if result.failure is None:
        unwell = or_(_E.failures > 0, _E.paused_until.is_not(None))
        healthy = update(_E).where(_E.id == endpoint_id, unwell)
        execute(healthy.values(failures=0, paused_until=None))
        return
    if result.status in (GONE, TOO_LARGE):
        return
    found = select(_E.failures, _E.paused_until).where(_E.id == endpoint_id)
    failures, paused_until = execute(found.with_for_update(key_share=True)).one()
    rests = paused_until is not None and paused_until > now
    if not (rests and failures >= OPEN_AFTER_FAILURES):  # the probe alone makes it rest longer
        failures += 1
        rest = max(filter(None, (asked, probe_delay(failures))), default=None)
        if rest is not None:
            paused_until = max(now + rest, paused_until or now)
    execute(
        update(_E).where(_E.id == endpoint_id).values(failures=failures, paused_until=paused_until)
    )


def _note_attempt(claimed: Claimed, result: AttemptResult) -> None:
    """Attempts are numbered through, also where an event is sent again."""
    last = select(func.coalesce(func.max(_A.number), 0)).where(_A.delivery_id == claimed.id)
    reply = result.reply[:REPLY_KEPT_BYTES].decode(errors="replace").replace("\0", "\ufffd")
    execute(
        insert(_A).values(
            delivery_id=claimed.id,
            form_id=claimed.form_id,
            number=last.scalar_subquery() + 1,
            started_at=result.started_at,
            duration_ms=result.duration_ms,
            signature=result.signature,
            status=result.status,
            failure=result.failure,
            reply=reply if result.status is not None else None,
        )
    )


_SENT_BEFORE = (
    select(_D.state, _S.ended_at, _S.expires_at)
    .join(_S, _S.id == _D.subscription_id)
    .join(Form, Form.id == _D.form_id)
    .where(
        _D.id == bindparam("row"),
        _D.account_id == bindparam("account"),
        _D.kind == DeliveryKind.EVENT,
        Form.deleted_at.is_(None),
    )
    .with_for_update(key_share=True, of=(_S, _D))
)
