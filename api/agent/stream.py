"""Streaming: the answers of an ask as server-sent events, as soon as each is stored."""

from collections.abc import Callable, Collection, Mapping
from typing import cast

from flask import Flask, Response, request
from werkzeug.exceptions import MethodNotAllowed

from api.agent.blueprint import bp
from api.agent.guard import current_token, require_agent_token
from api.errors import error_answer
from api.query import given_since
from webapp.database import utc_now
from webapp.domain.forms.agent_tokens import ended_tokens, get_ask
from webapp.domain.forms.models import FormHead, read_heads
from webapp.domain.responses.cursor import ResponsePage, read_responses
from webapp.domain.shared.error_codes import ErrorCode
from webapp.wire.event_stream import LEAVE_CONNECTION, News, Place, Stream, frame
from webapp.wire.serializers import ask_answer, completed_response, completed_within
from webapp.wire.timestamps import parse_since, wire_time

PAGE_BYTES = 128 * 1024  # read at a time
RETRY_SECONDS = 5
LAST_EVENT_ID = "Last-Event-ID"
HEADERS = {
    "Content-Type": "text/event-stream",
    "Cache-Control": "no-cache",
    "X-Accel-Buffering": "no",  # else nginx keeps events back
}


@bp.get("/asks/<ask_id>/stream")
@require_agent_token
def stream_ask(ask_id: str) -> Response:
    """streamAsk: every answer and completion after `Last-Event-ID` or `since`, until it ends."""
    if request.method != "GET":
        raise MethodNotAllowed(valid_methods=["GET"])
    since = _since()
    token = current_token()
    form = get_ask(token, ask_id)
    leave = cast(Callable[[Stream], bool], request.environ[LEAVE_CONNECTION])
    if not leave(Stream(Place(form.id, since), token.id, token.account_id)):
        return _no_room()
    return Response(iter(()), headers=HEADERS)


def init_app(app: Flask) -> None:
    """Give the server what it reads for streams with."""
    app.extensions["feed"] = AskFeed()


class AskFeed:
    """Reads for all streams of a process; what they follow are forms, their holders tokens."""

    def read(self, places: Collection[Place]) -> Mapping[Place, News]:
        """One look at all forms, and one at the answers of each place where there are new ones."""
        heads = read_heads({place.key for place in places})
        found = ((place, _news(place, heads.get(place.key))) for place in places)
        return {place: news for place, news in found if news}

    def ended(self, holders: Collection[str]) -> Mapping[str, str]:
        """The tokens that have ended."""
        return ended_tokens(holders, now=utc_now())


def _since() -> int | None:
    """Milliseconds; None from the beginning. raises InvalidInput `invalid_since`"""
    last = request.headers.get(LAST_EVENT_ID)
    return parse_since(last, LAST_EVENT_ID) if last else given_since()


def _no_room() -> Response:
    response = error_answer(
        ErrorCode.TOO_MANY_STREAMS,
        "This agent token or its account has too many streams open, or this server has no room.",
        f"Close one, or connect again in {RETRY_SECONDS} seconds; GET …/answers needs no stream.",
    )
    response.headers["Retry-After"] = str(RETRY_SECONDS)
    return response


def _news(place: Place, head: FormHead | None) -> News | None:
    if head is None:
        return News(b"", place, end="deleted")
    page = read_responses(head, place.since, max_bytes=PAGE_BYTES)
    shown = head.status, head.response_count
    frames = _events(page, place.since)
    if place.shown != shown:
        status = {"askId": head.id, "status": head.status, "responseCount": head.response_count}
        frames.insert(0, frame("form_status", status))
    # whoever has been sent all stands at one place, and is read for together
    since = page.next_since if page.truncated else max(head.last_stamp, place.since or 0)
    stands = Place(place.key, since, shown)
    return None if stands == place else News(b"".join(frames), stands, page.truncated)


def _events(page: ResponsePage, since: int | None) -> list[bytes]:
    """Answers and completions in the order of their stamps, which are their ids."""
    events: dict[int, tuple[str, object]] = {
        answer.stamp: ("answer", ask_answer(answer, session))
        for session in page.sessions
        for answer in session.answers
    }
    for session in completed_within(page, since):
        events[session.completed_stamp or 0] = "completed", completed_response(session)
    return [frame(*events[stamp], wire_time(stamp)) for stamp in sorted(events)]
