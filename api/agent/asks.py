"""Polling: the answers of an ask that came after a cursor, waited for if there are none yet, and
the recordings given with them.
"""

from typing import NamedTuple

from flask import Response

from api.agent.blueprint import bp
from api.agent.guard import check_agent_token, current_token, require_agent_token
from api.attachments import attachment_bytes
from api.json_responses import json_answer
from api.query import given_since, wait_seconds
from webapp.database import release_connections, utc_now
from webapp.domain.forms.agent_tokens import TokenRow, get_ask
from webapp.domain.forms.models import FormRow
from webapp.domain.responses.cursor import ResponsePage, read_responses
from webapp.web.wakeups import RETRY_SECONDS, NoSlot, wakeups
from webapp.wire.serializers import ask_answers


@bp.get("/asks/<ask_id>/answers")
@require_agent_token
def get_ask_answers(ask_id: str) -> Response:
    """getAskAnswers: what came after `since`, at once or within `wait` seconds (200 AskAnswers)."""
    since, seconds = given_since(), wait_seconds("new answers")
    seen = _look(current_token(), ask_id, since)
    retry = {}
    if seconds and seen.page.next_since == since:
        try:
            seen = _news_within(seconds, seen, since) or seen
        except NoSlot:
            retry = {"Retry-After": str(RETRY_SECONDS)}
    return json_answer(ask_answers(seen.form, seen.page, since), headers=retry)


@bp.get("/asks/<ask_id>/attachments/<attachment_id>")
@require_agent_token
def get_ask_attachment(ask_id: str, attachment_id: str) -> Response:
    """getAskAttachment: the recording of an answer (200, or 206 with a Range)."""
    return attachment_bytes(get_ask(current_token(), ask_id).id, attachment_id)


class _Seen(NamedTuple):
    form: FormRow
    page: ResponsePage


def _look(token: TokenRow, ask_id: str, since: int | None) -> _Seen:
    """The form and its page at this moment; holds no database connection afterwards."""
    form = get_ask(token, ask_id)
    page = read_responses(form, since)
    release_connections()
    return _Seen(form, page)


def _news_within(seconds: int, before: _Seen, since: int | None) -> _Seen | None:
    """What is new as soon as there is something, or the form has another status; None after that.

    raises  Unauthenticated as soon as the token has ended, NotFound when the form is deleted
    """

    def look() -> _Seen | None:
        seen = _look(check_agent_token(now=utc_now()), before.form.id, since)
        if seen.page.next_since == since and seen.form.status == before.form.status:
            return None
        check_agent_token(now=utc_now())  # again: it may have ended before the news came
        release_connections()
        return seen

    return wakeups().wait_until(before.form.id, look, seconds, account_id=before.form.account_id)
