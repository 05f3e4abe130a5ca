"""Sending a settled event once more, because its creator asks for it."""

from datetime import datetime

from sqlalchemy import bindparam, select, update

from webapp.database import execute, write_transaction
from webapp.domain.events.models import EventDelivery, EventSubscription
from webapp.domain.events.outbox import session_id_of
from webapp.domain.forms.models import Form
from webapp.domain.responses.models import ResponseSession
from webapp.domain.shared.error_codes import ErrorCode, PageCode
from webapp.domain.shared.errors import NotFound, StateConflict
from webapp.domain.shared.vocabulary import DeliveryKind, DeliveryState

SENT_AGAIN = (DeliveryState.DELIVERED, DeliveryState.DROPPED, DeliveryState.ABANDONED)

_D, _S = EventDelivery, EventSubscription


def send_again(account_id: str, delivery_id: str, *, now: datetime) -> str:
    """Send a settled event once more, the same bytes under the same id; commits.

    Returns the id to hand over. Raises NotFound, and StateConflict `delivery_unsettled` for one
    that is under way or was cancelled, `response_withdrawn` for one whose response is gone,
    `subscription_ended` for one that nobody waits for.
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
        if not execute(_SESSION, session=session_id_of(found.event_id)).first():
            raise StateConflict(
                PageCode.RESPONSE_WITHDRAWN,
                "The response was withdrawn or deleted.",
                "There is nothing left to tell of it.",
            )
        queued = update(_D).where(_D.id == delivery_id)
        execute(
            queued.values(state=DeliveryState.PENDING, next_at=now, attempts=0, settled_at=None)
        )
    return delivery_id


_SENT_BEFORE = (
    select(_D.state, _D.event_id, _S.ended_at, _S.expires_at)
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
# locked, so that a withdrawal beside it either comes first or cancels what is queued here
_SESSION = (
    select(ResponseSession.id)
    .where(ResponseSession.id == bindparam("session"))
    .with_for_update(read=True, key_share=True)
)
