"""The bytes that subscribers get: an event, or the envelope that ends a subscription."""

import orjson

from webapp.database import from_millis
from webapp.domain.events.outbox import session_id_of
from webapp.domain.events.protocol import EVENT_NAME, EventError
from webapp.domain.shared.vocabulary import ErrorProfile


def event_body(
    event_id: str, form_id: str, *, position: int, answer_count: int, cursor: str
) -> str:
    """JSON of a completed response; everything at or before the cursor is settled."""
    return _json(**event(event_id, form_id, position, answer_count), cursor=cursor)


def event(event_id: str, form_id: str, position: int, answer_count: int) -> dict[str, object]:
    """A completed response; `position` is the stamp of the completion, in milliseconds."""
    completed = from_millis(position).strftime("%Y-%m-%dT%H:%M:%S") + f".{position % 1000:03d}Z"
    return {
        "eventId": event_id,
        "name": EVENT_NAME,
        "timestamp": completed,
        "data": {
            "formId": form_id,
            "responseId": session_id_of(event_id),
            "submittedAt": completed,
            "answerCount": answer_count,
        },
    }


def terminated_body(profile: ErrorProfile) -> str:
    """JSON of the envelope that tells a receiver that its subscription was ended."""
    forbidden = EventError.FORBIDDEN
    reason = {"reason": "Access revoked"}
    error = {"code": forbidden.code(profile), "message": forbidden.message, "data": reason}
    return _json(type="terminated", error=error)


def _json(**fields: object) -> str:
    return orjson.dumps(fields).decode()
