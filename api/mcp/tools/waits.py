"""Tools that wait a few seconds for answers, in the places of all waits; nothing of them stays."""

from collections.abc import Callable
from typing import NamedTuple, cast

from api.mcp.protocol import Call
from api.mcp.tools.forms import fitting_page, given_since
from api.mcp.tools.table import (
    LIMIT_MAX,
    FormArguments,
    FormId,
    Hints,
    Limit,
    Since,
    TimeoutSeconds,
    tool,
)
from api.wire.responses import FormResponses, WaitedResponses, form_responses
from webapp.base.database import release_connections
from webapp.base.error_codes import ErrorCode
from webapp.base.errors import InputModel, InvalidInput
from webapp.base.limits import WAIT_SECONDS
from webapp.base.vocabulary import Scope
from webapp.oauth.guard import authenticate_for_mcp, require_mcp_scope
from webapp.records import forms
from webapp.records.forms import FormRow
from webapp.records.responses.cursor import ResponsePage, has_answer_after
from webapp.web.wakeups import RETRY_SECONDS, NoSlot, wakeups

NO_MONITORING = """This is a short wait inside an active session and no monitoring: nothing goes on
    after it. When nothing came (`timedOut`), and whenever you begin again, read what came
    meanwhile with get_form_responses and the `since` you kept. Where `retryAfterMs` is set, there
    was no place to wait: call again after so many milliseconds."""
AFTER_AN_EVENT = """After an event, call get_form_responses instead: nothing has to be waited
    for."""
WAITS: Hints = {"events": AFTER_AN_EVENT, "reads": True, "quotes": True}


class WatchArguments(InputModel):
    """Which form or ask, which are the same thing, from where on, and how long."""

    form_id: FormId | None = None
    ask_id: FormId | None = None
    since: Since | None = None
    timeout_seconds: TimeoutSeconds = WAIT_SECONDS
    limit: Limit = LIMIT_MAX


class WaitArguments(FormArguments):
    """Which form, from where on, and how long."""

    since: Since | None = None
    timeout_seconds: TimeoutSeconds = WAIT_SECONDS
    limit: Limit = LIMIT_MAX


class Wait(NamedTuple):
    """What is waited for; `is_over` judges the form and `since`."""

    account_id: str
    form_id: str
    since: int | None
    is_over: Callable[[FormRow, int | None], bool]

    def look(self) -> FormRow | None:
        """The form once there is something; holds no database connection afterwards.

        raises  NotFound
        """
        form = forms.get_form(self.account_id, self.form_id)
        is_over = self.is_over(form, self.since)
        release_connections()
        return form if is_over else None

    def look_again(self) -> FormRow | None:
        """The same while waiting. raises Unauthenticated as soon as the token has ended"""
        require_responses_read()
        return self.look()

    def until(self, seconds: int) -> FormRow | None:
        """The form as soon as there is something, None after `seconds`. raises NoSlot"""
        return wakeups().wait_until(
            self.form_id,
            self.look_again,
            seconds,
            account_id=self.account_id,
        )


def require_responses_read() -> None:
    """Raises Unauthenticated once the token has ended."""
    require_mcp_scope(authenticate_for_mcp(), Scope.RESPONSES_READ)


@tool(
    "watch_ask",
    title="Wait for an answer",
    description=f"""Waits at most 25 seconds until somebody has answered a question after `since`,
        also before they have sent their response, and returns what came. Send exactly one of
        `formId` and `askId`: an ask is a published form. {NO_MONITORING}""",
    scope=Scope.RESPONSES_READ,
    takes=WatchArguments,
    answers=WaitedResponses,
    **WAITS,
)
def watch_ask(call: Call, given: WatchArguments) -> WaitedResponses:
    """Until one answer is newer than `since`."""
    ids = {given.form_id, given.ask_id} - {None}
    if len(ids) != 1:
        raise InvalidInput(
            ErrorCode.VALIDATION_FAILED,
            "formId: exactly one of formId and askId is needed.",
            "Send the id of the published form as formId, and no askId.",
            field="formId",
        )
    since = given_since(given.since)
    wait = Wait(call.caller.account_id, cast(str, ids.pop()), since, has_answer_after)
    return _waited(wait, given.timeout_seconds, given.limit)


@tool(
    "wait_for_form_responses",
    title="Wait for a response",
    description=f"""Waits at most 25 seconds until somebody has sent a response after `since`, and
        returns what came. {NO_MONITORING}""",
    scope=Scope.RESPONSES_READ,
    takes=WaitArguments,
    answers=WaitedResponses,
    **WAITS,
)
def wait_for_form_responses(call: Call, given: WaitArguments) -> WaitedResponses:
    """Until one response has completed after `since`."""
    since = given_since(given.since)
    wait = Wait(call.caller.account_id, given.form_id, since, _has_completion_after)
    return _waited(wait, given.timeout_seconds, given.limit)


def _has_completion_after(form: FormRow, since: int | None) -> bool:
    stamp = form.completed_stamp
    return stamp is not None and (since is None or stamp > since)


def _waited(wait: Wait, seconds: int, limit: int) -> WaitedResponses:
    form, retry = wait.look(), {}
    if form is None and seconds:
        try:
            form = wait.until(seconds)
        except NoSlot:
            retry = {"retryAfterMs": RETRY_SECONDS * 1000}
    page = _nothing(wait) if form is None else fitting_page(form, wait.since, limit)
    require_responses_read()  # again: it may have ended before the news came
    return cast(WaitedResponses, {**page, "timedOut": form is None, **retry})


def _nothing(wait: Wait) -> FormResponses:
    """No item, and `since` as it came."""
    form = forms.get_form(wait.account_id, wait.form_id)
    return form_responses(form, ResponsePage([], 0, wait.since, truncated=False))
