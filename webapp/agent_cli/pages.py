"""A page of responses as events, in the order in which they were given."""

from operator import itemgetter
from typing import Any

Event = dict[str, object]
Stamped = tuple[str, Event]


def events_of(page: dict[str, Any], form_id: str, since: str) -> list[Event]:
    """`answer` for each answer, and `completed` for each response that was sent.

    A response stands in the page with its status also when only answers of it are new: it was
    sent after `since`, and not beyond the page, or that is not told here. Moments of the API have
    one width, so they compare as texts.
    """
    found: list[Stamped] = []
    for session in page["responses"]:
        of_response = {"formId": form_id, "responseId": session["sessionId"]}
        for answer in session["answers"]:
            found.append((answer["respondedAt"], {"event": "answer", **of_response, **answer}))
        sent = session["submittedAt"]
        if sent and since < sent <= (page["nextSince"] or ""):
            names = {"responderName": session["responderName"], "submittedAt": sent}
            found.append((sent, {"event": "completed", **of_response, **names}))
    return [event for _, event in sorted(found, key=itemgetter(0))]


def count_completed(events: list[Event]) -> int:
    """How many responses were sent."""
    return sum(event["event"] == "completed" for event in events)
