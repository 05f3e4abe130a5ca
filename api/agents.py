"""Routes for agent tokens: polling and streaming the answers of one form."""

from collections.abc import Callable, Collection, Mapping
from datetime import timedelta
from functools import partial
from typing import cast

from flask import Blueprint, Response, g, request
from werkzeug.exceptions import MethodNotAllowed

from api import bodies, forms, waiting
from api.errors import RECONNECT_SECONDS, always_refused
from api.wire import responses, types
from api.wire.event_stream import LEAVE_CONNECTION, Stream, StreamPosition, Update, frame
from webapp.base import database, errors, vocabulary
from webapp.drafts import agent_tokens
from webapp.oauth import guard
from webapp.records.forms import FormRow, read_heads
from webapp.records.responses.cursor import ResponsePage, parse_since, read_responses
from webapp.web.deferred_writes import write_later

bp = Blueprint("agent", __name__, url_prefix="/api/agent")


# no OAuth metadata, so that a client asks its creator for a token and does not start OAuth
CHALLENGE = 'Bearer realm="agent"'
QUERY_NAMES = (*guard.QUERY_NAMES, "key")
REMEDY = (
    "Send an agent token of this form in the header Authorization: Bearer. Its creator makes one "
    "on the page of connected agents, a connected agent by POST /forms/{formId}/agent-tokens."
)
ENDED = {
    vocabulary.TokenEnd.REVOKED: "This agent token was revoked.",
    vocabulary.TokenEnd.EXPIRED: "This agent token has expired.",
}


def current_token() -> agent_tokens.TokenRow:
    """Return the token of the current call; works only inside a guarded route."""
    return cast(agent_tokens.TokenRow, g.agent_token)


def check_agent_token() -> agent_tokens.TokenRow:
    """Return the live token of this request, and note its use.

    raises  Unauthenticated with the challenge of RFC 6750 section 3
    """
    now = database.utc_now()
    row = agent_tokens.find_agent_token(_bearer_token())
    if row is None:
        raise _refusal("This agent token is not known here.")
    end = row.ended(now)
    if end is not None:
        raise _refusal(ENDED[end])
    rarely = timedelta(seconds=guard.LAST_USED_EVERY_SECONDS)
    if row.last_used_at is None or row.last_used_at <= now - rarely:
        write_later(("use", row.id), partial(agent_tokens.store_use, row.id, now))
    return row


require_agent_token = guard.guarded_by("agent_token", check_agent_token)


def _bearer_token() -> str:
    guard.refuse_in_address(QUERY_NAMES, _refusal)
    scheme, _, token = request.headers.get("Authorization", "").strip().partition(" ")
    if not scheme:
        raise guard.Unauthenticated("This call needs an agent token.", REMEDY, CHALLENGE)
    token = token.strip()
    if scheme.lower() != "bearer" or not token.startswith(agent_tokens.PREFIX):
        begins = f"{agent_tokens.PREFIX} and more, after Bearer"
        raise _refusal(f"The Authorization header holds no agent token, {begins}.")
    return token


def _refusal(message: str, remedy: str = REMEDY) -> guard.Unauthenticated:
    challenge = f'{CHALLENGE}, error="invalid_token", error_description="{message}"'
    return guard.Unauthenticated(message, remedy, challenge)


@bp.get("/asks/<ask_id>/answers")
@require_agent_token
def get_ask_answers(ask_id: str) -> Response:
    """getAskAnswers: the answers after `since`, now or within `wait` seconds (200 AskAnswers)."""
    since, seconds = bodies.given_since(), waiting.wait_seconds("new answers")
    token = current_token()  # the server reads on without `g`

    def read() -> tuple[FormRow, ResponsePage]:
        form = agent_tokens.get_ask(token, ask_id)
        return form, read_responses(form, since)

    waited = waiting.wait_for(
        ask_id,
        read,
        lambda seen: seen[1].next_since != since,
        seconds,
        account_id=token.account_id,
        require_access=check_agent_token,
        has_changed=lambda before, now: now[0].status != before[0].status,
    )
    page = responses.ask_answers(*waited.seen, since)
    return bodies.json_answer(page, headers=waited.retry_header)


@bp.get("/asks/<ask_id>/attachments/<attachment_id>")
@require_agent_token
def get_ask_attachment(ask_id: str, attachment_id: str) -> Response:
    """getAskAttachment: the recording of an answer (200, or 206 with a Range)."""
    return forms.attachment_bytes(agent_tokens.get_ask(current_token(), ask_id).id, attachment_id)


PAGE_BYTES = 128 * 1024  # of answers per read
LAST_EVENT_ID = "Last-Event-ID"
HEADERS = {
    "Content-Type": "text/event-stream",
    "Cache-Control": "no-cache",
    "X-Accel-Buffering": "no",  # otherwise nginx buffers events
}


@bp.get("/asks/<ask_id>/stream")
@require_agent_token
def stream_ask(ask_id: str) -> Response:
    """streamAsk: all answers and completions after `Last-Event-ID` or `since`, as they arrive."""
    if request.method != "GET":
        raise MethodNotAllowed(valid_methods=["GET"])
    token, last = current_token(), request.headers.get(LAST_EVENT_ID)
    since = parse_since(last, LAST_EVENT_ID) if last else bodies.given_since()
    form = agent_tokens.get_ask(token, ask_id)
    leave = cast(Callable[[Stream], bool], request.environ[LEAVE_CONNECTION])
    if not leave(Stream(StreamPosition(form.id, since), token.id, token.account_id)):
        later = {"Retry-After": str(RECONNECT_SECONDS)}
        return always_refused(errors.ErrorCode.TOO_MANY_STREAMS, later)
    return Response(iter(()), headers=HEADERS)


def read_updates(positions: Collection[StreamPosition]) -> Mapping[StreamPosition, Update]:
    """Read the forms of streams in one query, then the new answers once for each position."""
    heads = read_heads({position.key for position in positions})
    found = ((position, _update(position, heads.get(position.key))) for position in positions)
    return {position: update for position, update in found if update}


def _update(position: StreamPosition, head: FormRow | None) -> Update | None:
    if head is None:
        return Update(b"", position, end="deleted")
    page = read_responses(head, position.since, max_bytes=PAGE_BYTES)
    shown = head.status, head.response_count
    frames = _events(page, position.since)
    if position.shown != shown:
        status = {"askId": head.id, "status": head.status, "responseCount": head.response_count}
        frames.insert(0, frame("form_status", status))
    # streams that are up to date share one position, and thereby one read
    since = page.next_since if page.truncated else max(head.last_stamp, position.since or 0)
    shown_to = StreamPosition(position.key, since, shown)
    return None if shown_to == position else Update(b"".join(frames), shown_to, page.truncated)


def _events(page: ResponsePage, since: int | None) -> list[bytes]:
    """Return answers and completions in the order of their stamps, which are their event ids."""
    events: dict[int, tuple[str, object]] = {
        answer.stamp: ("answer", responses.ask_answer(answer, session))
        for session in page.sessions
        for answer in session.answers
    }
    for session in responses.completed_within(page, since):
        events[session.completed_stamp or 0] = "completed", responses.completed_response(session)
    return [frame(*events[stamp], types.wire_time(stamp)) for stamp in sorted(events)]
