"""Tools that read and watch forms, responses and recordings; one makes agent tokens."""

import base64
from collections.abc import Callable
from datetime import timedelta
from functools import partial
from http import HTTPStatus
from typing import cast

from flask import Response, abort
from itsdangerous import BadData, URLSafeSerializer
from pydantic import Field, StrictStr

from api.errors import unexpected_fields
from api.forms import agent_token, attachment_bytes
from api.mcp.protocol import INTERNAL_ERROR, Call, Json, RpcError, bp
from api.mcp.tools import table
from api.rate_limits import limit_agent_tokens
from api.waiting import wait_for
from api.wire import forms as wire, responses, types
from webapp.base import config, errors, sealing
from webapp.base.database import release_connections, to_millis, utc_now
from webapp.base.vocabulary import Scope
from webapp.drafts.agent_tokens import AgentTokenInput
from webapp.oauth import connections, guard
from webapp.records import forms
from webapp.records.responses import completed, cursor, models, recordings
from webapp.voice.audio_store import AudioStoreUnavailable, audio_store


class OneFormArguments(table.PageArguments, table.FormArguments):
    """Which form, and which of its questions."""


@table.Tool("List forms", scope=Scope.FORMS_READ, reads=True)
def list_forms(call: Call, given: table.PageArguments) -> wire.FormPage:
    """All published forms of the connected account, newest first, closed ones included, with
    their share links and how many responses each has. Where `nextCursor` is set, there are
    more: send it as `cursor`.
    """
    found = wire.form_list(forms.list_forms(call.caller.account_id))
    return table.page_of(cast(wire.FormPage, found), "forms", "formId", given)


@table.Tool("Get a form", scope=Scope.FORMS_READ, reads=True)
def get_form(call: Call, given: OneFormArguments) -> wire.PagedForm:
    """One published form with its questions, settings, status, share link and counts; never
    with answers. Where `nextCursor` is set, it has more questions: send it as `cursor`. Where
    `textsCut` is true, its longest texts are cut.
    """
    form = forms.get_form(call.caller.account_id, given.form_id)
    found = wire.owned_form(form)
    return table.page_of(cast(wire.PagedForm, found), "questions", "id", given)


class Since(errors.InputModel):
    """From where on."""

    since: StrictStr | None = Field(
        default=None,
        description=(
            "The `nextSince` of an earlier result, unchanged: only what came after it. Without it "
            "everything from the beginning."
        ),
    )
    limit: table.Limit = table.LIMIT_MAX


class ResponsesArguments(Since, table.FormArguments):
    """Which form, and from where on."""


@table.Tool(
    "Get responses",
    events="""Call it so after each event, too, also after one that arrives without ids: it
        finds what an event did not tell.""",
    scope=Scope.RESPONSES_READ,
    reads=True,
    quotes=True,
)
def get_form_responses(call: Call, given: ResponsesArguments) -> responses.ResponsesPage:
    """What people answered in one form after `since`, in progress or completed, oldest first.
    Keep `nextSince` for the next call; while `truncated` is true, ask again at once. A
    corrected answer comes again with a new id and the same `questionId`: drop ids you know. An
    answer with `answerTruncated` is whole in get_completed_response once it is sent. Call it
    with the `since` you kept whenever you begin again, and after a wait without news.
    """
    form = forms.get_form(call.caller.account_id, given.form_id)
    return fitting_page(form, cursor.parse_since(given.since), given.limit)


def fitting_page(form: forms.FormRow, since: int | None, limit: int) -> responses.ResponsesPage:
    """Return as many of the answers after `since` as fit into a result, at least one item."""
    most = min(limit, cursor.PAGE_MAX_ITEMS)
    while True:
        page = cursor.read_responses(form, since, max_items=most, max_bytes=table.PAGE_BYTES)
        found = responses.form_responses(form, page)
        items = page.answer_count + len(responses.completed_within(page, since))
        if items <= 1 or table.size(found) <= table.PAGE_BYTES:
            return cast(responses.ResponsesPage, found)
        around = table.size({**found, "responses": []})
        most = max(1, items * (table.PAGE_BYTES - around) // (table.size(found) - around))


class CompletedResponseArguments(table.PageArguments, table.FormArguments):
    """Which response of which form, and from where on."""

    response_id: table.Id = Field(
        description="The id of a completed response, `ses_…`, which is also called sessionId."
    )


@table.Tool(
    "Get a completed response",
    events="""Call it with the `formId` and `responseId` of an event; when one arrives without
        ids, call get_form_responses with the `since` you kept.""",
    scope=Scope.RESPONSES_READ,
    reads=True,
    quotes=True,
)
def get_completed_response(
    call: Call, given: CompletedResponseArguments
) -> responses.CompletedResponsePage:
    """One response that was sent, with every answer in full. Long texts come in fragments: send
    `nextCursor` as `cursor` until it is null; for each answer `id`, order its fragments by
    `questionOffset` and `answerOffset` (in Unicode code points) and join their texts, then
    order the answers by `created_at`. Judge nothing before the last page is read. On
    `invalid_cursor`, an answer has changed: begin again without cursor.
    """
    account_id, key = call.caller.account_id, sealing.fragment_key()
    form = forms.get_form(account_id, given.form_id)
    found = completed.get_completed_response(form.id, given.response_id)
    page = completed.read_fragments(key, account_id, found, given.cursor, given.limit)
    return responses.completed_page(form.id, found, page)


class AgentTokenArguments(AgentTokenInput):
    """Which form, and what may be said of the token."""

    form_id: table.FormId


@table.Tool(
    "Create an agent token",
    scope=Scope.RESPONSES_READ,
    counted=limit_agent_tokens,
    repeats=False,
)
def create_agent_token(call: Call, given: AgentTokenArguments) -> wire.MadeAgentToken:
    """A private token with which a program without OAuth reads the answers of this one form at
    `answersUrl`, as a bearer token, for at most 7 days. It is a secret and is said this once:
    hand it to that program only, and never to respondents.
    """
    return agent_token(call.caller, given.form_id, given)


NO_MONITORING = """This is a short wait inside an active session and no monitoring: nothing goes on
    after it. When nothing came (`timedOut`), and whenever you begin again, read what came
    meanwhile with get_form_responses and the `since` you kept. Where `retryAfterMs` is set, there
    was no place to wait: call again after so many milliseconds."""
AFTER_AN_EVENT = """After an event, call get_form_responses instead: nothing has to be waited
    for."""
WAIT_SECONDS = 20  # unless asked otherwise
wait_tool = partial(
    table.Tool,
    scope=Scope.RESPONSES_READ,
    adds=NO_MONITORING,
    events=AFTER_AN_EVENT,
    reads=True,
    quotes=True,
)


class Waiting(Since):
    """From where on, and how long."""

    timeout_seconds: table.Seconds = Field(
        default=WAIT_SECONDS, description=f"How long to wait at most, {WAIT_SECONDS} unless sent."
    )


class WatchArguments(Waiting):
    """Which form or ask, which are the same thing, from where on, and how long."""

    form_id: table.FormId | None = None
    ask_id: table.FormId | None = None


class WaitArguments(Waiting, table.FormArguments):
    """Which form, from where on, and how long."""


@wait_tool("Wait for an answer")
def watch_ask(call: Call, given: WatchArguments) -> responses.WaitedResponses:
    """Waits at most 25 seconds until somebody has answered a question after `since`, also
    before they have sent their response, and returns what came. Send exactly one of `formId`
    and `askId`: an ask is a published form.
    """
    ids = {given.form_id, given.ask_id} - {None}
    if len(ids) != 1:
        problem = "exactly one of formId and askId is needed"
        remedy = "Send the id of the published form as formId, and no askId."
        raise errors.wrong_field("formId", problem, remedy)
    return _waited(call, cast(str, ids.pop()), given, cursor.has_answer_after)


@wait_tool("Wait for a response")
def wait_for_form_responses(call: Call, given: WaitArguments) -> responses.WaitedResponses:
    """Waits at most 25 seconds until somebody has sent a response after `since`, and returns
    what came.
    """
    return _waited(call, given.form_id, given, _has_completion_after)


def _has_completion_after(form: forms.FormRow, since: int | None) -> bool:
    stamp = form.completed_stamp
    return stamp is not None and (since is None or stamp > since)


def _waited(
    call: Call, form_id: str, given: Waiting, is_over: Callable[[forms.FormRow, int | None], bool]
) -> responses.WaitedResponses:
    since, account_id = cursor.parse_since(given.since), call.caller.account_id
    read = partial(forms.get_form, account_id, form_id)
    waited = wait_for(
        form_id,
        read,
        lambda form: is_over(form, since),
        given.timeout_seconds,
        account_id=account_id,
        require_access=partial(guard.authenticate, Scope.RESPONSES_READ),
    )
    nothing = cursor.ResponsePage([], 0, since, truncated=False)
    page = (
        fitting_page(waited.seen, since, given.limit)
        if waited.is_new
        else responses.form_responses(read(), nothing)
    )
    guard.authenticate(Scope.RESPONSES_READ)  # again: the token may have ended before the change
    found = {**page, "timedOut": not waited.is_new, **waited.retry_field}
    return cast(responses.WaitedResponses, found)


LIVES = timedelta(minutes=5)
VERSION = 1
PREFIX = "rec_"  # signed text may begin with a dot, which some proxies refuse in a path


@bp.get("/recordings/<address>", provide_automatic_options=False)
def get_recording(address: str) -> Response:
    """Answer as getAttachment (200, or 206 with a Range); 404 if the address is no longer valid."""
    now = utc_now()
    try:
        version, grant_id, form_id, attachment_id, ends_at = _signer().loads(
            address.removeprefix(PREFIX)
        )
    except (BadData, TypeError, ValueError):
        abort(HTTPStatus.NOT_FOUND)
    account_id = connections.find_live_account(grant_id, now=now)
    if version != VERSION or account_id is None or to_millis(now) >= ends_at:
        abort(HTTPStatus.NOT_FOUND)
    try:
        return attachment_bytes(forms.get_form(account_id, form_id).id, attachment_id)
    except errors.NotFound:
        abort(HTTPStatus.NOT_FOUND)
    except AudioStoreUnavailable as failure:
        message = unexpected_fields(failure)["message"]
        status = HTTPStatus.INTERNAL_SERVER_ERROR
        raise RpcError(INTERNAL_ERROR, message, status=status) from failure


def _signer() -> URLSafeSerializer:
    return sealing.signer(sealing.recording_key(), "address of a recording")


class AttachmentArguments(table.FormArguments):
    """Which attachment of which form."""

    attachment_id: table.Id = Field(
        description="The `id` in the `attachments` of an answer, `att_…`."
    )


AUDIO_BYTES = 1024**2  # limit of a recording inside a result; Base64 adds a third


@table.Tool("Get an attachment", scope=Scope.RESPONSES_READ, reads=True, quotes=True)
def get_attachment(call: Call, given: AttachmentArguments) -> responses.LinkedAttachment:
    """The recording of a spoken answer: as audio up to 1 MiB, and in any case at `url`, which
    serves this one recording without a token until `expiresAt`, some minutes; call again for a
    new one. At `agentUrl` a token of create_agent_token reads it. The words that were spoken
    are the answer itself. Not found means that its answer was corrected or taken back.
    """
    form = forms.get_form(call.caller.account_id, given.form_id)
    recording = recordings.find_attachment(form.id, given.attachment_id)
    release_connections()
    ends_at = min(utc_now() + LIVES, call.caller.grant_expires_at)
    named = [VERSION, call.caller.grant_id, form.id, recording.id, to_millis(ends_at)]
    audio = [] if call.blocks is None else _audio(recording)
    found: responses.LinkedAttachment = {
        **responses.attachment(recording),
        "contentOmitted": not audio,
        "formId": form.id,
        "answerId": recording.answer_id,
        "durationSeconds": recording.duration_ms / 1000,
        "url": f"{config.settings().mcp_url}/recordings/{PREFIX}{_signer().dumps(named)}",
        "expiresAt": types.wire_time(to_millis(ends_at)),
        "agentUrl": f"{config.settings().api_url}/agent/asks/{form.id}/attachments/{recording.id}",
    }
    if call.blocks is not None:
        link = {
            "type": "resource_link",
            "uri": found["url"],
            "name": found["name"],
            "mimeType": found["type"],
            "size": found["size"],
        }
        call.blocks.extend([*audio, link])
    return found


def _audio(recording: models.AttachmentRow) -> list[Json]:
    """Return the audio block; none if it is too large or the store does not answer."""
    if recording.size > AUDIO_BYTES:
        return []
    try:
        content = b"".join(audio_store().read(recording.object_key, 0, recording.size))
    except AudioStoreUnavailable:
        return []
    data = base64.b64encode(content).decode()
    return [{"type": "audio", "data": data, "mimeType": recording.media_type}]
