"""Tools for drafts, and the request to confirm a draft, which a host shows to its user."""

from datetime import datetime
from typing import cast

import orjson
from itsdangerous import BadData, URLSafeSerializer
from pydantic import Field, StrictStr

from api.bodies import API_BODY_MAX_BYTES, review_url, too_large
from api.drafts import CONFIRMATIONS, create_draft, publish_draft, update_draft, wait_for_draft
from api.mcp.protocol import Call, Json
from api.mcp.tools.table import Id, InputRequired, PageArguments, Seconds, Tool, page_of
from api.rate_limits import limit_creates, limit_publishes, limit_updates
from api.waiting import WAIT_MAX_SECONDS
from api.wire import drafts as wire, forms
from webapp.base import errors, sealing
from webapp.base.database import to_millis, utc_now
from webapp.base.vocabulary import Scope
from webapp.drafts.publishing import Published
from webapp.records.content import draft_input, model
from webapp.records.drafts import AGENT_NOTE_MAX_CHARS, Draft, clean_note, get_revision

LIVES_MILLIS = 15 * 60 * 1000
STATE_MAX_CHARS = 512
VERSION = 1
METHOD = "tools/call"
REQUEST = "confirm"
MESSAGE = "Read the draft of this form and confirm it there. It is published only after that."
DECLINED = {
    "decline": "The creator declined to open the review page of this draft.",
    "cancel": "The creator closed the request to open the review page of this draft.",
}


def wait_for_confirmation(call: Call, draft_id: str) -> bool:
    """Have the client open the review page, then wait until the state of the review changes.

    Waits at most `WAIT_MAX_SECONDS`, less if no slot is free. Returns False if the client cannot
    open addresses.
    raises  InputRequired until the client answers the request; StateConflict if its user refuses
    """
    elicitation = call.capabilities.get("elicitation")
    if not (isinstance(elicitation, dict) and isinstance(elicitation.get("url"), dict)):
        return False
    now, account_id = utc_now(), call.caller.account_id
    asked = [VERSION, account_id, METHOD, draft_id, get_revision(account_id, draft_id)]
    action = _action(call.responses) if _was_asked(call.request_state, asked, now=now) else None
    if action in DECLINED:
        raise errors.StateConflict(
            errors.ErrorCode.DRAFT_NOT_CONFIRMED,
            DECLINED[action],
            "Leave the draft as it is and do not ask again by yourself: call publish_form_draft "
            "when the creator asks for it.",
        )
    if action != "accept":
        state = _signer().dumps([*asked, to_millis(now) + LIVES_MILLIS])
        raise InputRequired(_request(draft_id, str(state)))
    wait_for_draft(draft_id, WAIT_MAX_SECONDS, review_alone=True)
    return True


def _action(responses: object) -> str | None:
    """Return what the user did; None if the client sent anything else."""
    answer = responses.get(REQUEST) if isinstance(responses, dict) else None
    action = answer.get("action") if isinstance(answer, dict) else None
    return action if isinstance(action, str) else None


def _request(draft_id: str, state: str) -> Json:
    params = {"mode": "url", "message": MESSAGE, "url": review_url(draft_id)}
    return {
        "resultType": "input_required",
        "inputRequests": {REQUEST: {"method": "elicitation/create", "params": params}},
        "requestState": state,
    }


def _was_asked(state: object, asked: list[object], *, now: datetime) -> bool:
    """Return True if this server signed the state for `asked`, and it has not expired."""
    if not isinstance(state, str) or len(state) > STATE_MAX_CHARS or not state.isascii():
        return False
    try:
        *found, ends_at = _signer().loads(state)
    except (BadData, TypeError, ValueError):
        return False
    return found == asked and to_millis(now) < int(ends_at)


def _signer() -> URLSafeSerializer:
    return sealing.signer(sealing.request_state_key(), "confirmation of a draft")


class DraftArguments(errors.InputModel):
    """Which draft."""

    draft_id: Id = Field(description="The `draftId` of `create_form_draft`.")


class NewDraft(draft_input.FormDraftInput):
    """The fields of a draft, its prepared follow-ups, and why. What is left out is empty or as
    usual.
    """

    follow_ups: draft_input.ToolFollowUps = Field(
        default={},
        description="Follow-ups to ask of a person whose answer wants one, where "
        "`followUpMode` is not `none`. On a change they replace all prepared ones of the "
        "draft: send all that are to stay, or one with an empty `prepared` for none.",
    )
    note: StrictStr = Field(
        default="",
        max_length=AGENT_NOTE_MAX_CHARS,
        description="Why, in half a sentence and one line: the creator reads it with the change, "
        "as your words. It is no content of the form, and not kept where nothing changes.",
    )


class DraftChanges(NewDraft, DraftArguments):
    """Which draft, the fields to replace, and why. What is left out stays as it is."""


class WaitArguments(PageArguments, DraftArguments):
    """Which draft, how long to wait for its creator, and which of its questions."""

    timeout_seconds: Seconds = Field(
        default=0,
        description="How long to wait until it is confirmed, sent back, changed or published; "
        "0 unless sent.",
    )


@Tool(
    "Create a form draft",
    scope=Scope.FORMS_WRITE,
    counted=limit_creates,
    repeats=False,
    adds=draft_input.ONE_QUESTION_RULE,
)
def create_form_draft(call: Call, given: NewDraft) -> wire.ReviewedDraft:
    """A private draft of a form, with one question for each thing to know. Nobody can answer it
    yet: give its `reviewUrl` to the creator, who alone can confirm it, in a browser; then call
    `publish_form_draft`.
    """
    note = clean_note(given.note, by_agent=True)
    return _reviewed(create_draft(call.caller, _bounded(given), agent_note=note))


@Tool(
    "Change a form draft",
    scope=Scope.FORMS_WRITE,
    counted=limit_updates,
    replaces=True,
    adds=draft_input.ONE_QUESTION_RULE,
)
def update_form_draft(call: Call, given: DraftChanges) -> wire.ReviewedDraft:
    """Replaces the fields that are sent, in a draft that is not published. A change has to be
    confirmed anew by the creator, at `reviewUrl`.
    """
    note = clean_note(given.note, by_agent=True)
    changes = _bounded(given)
    return _reviewed(update_draft(call.caller, given.draft_id, changes, agent_note=note))


@Tool(
    "Publish a form draft",
    scope=Scope.FORMS_WRITE,
    counted=limit_publishes,
    replaces=True,
    outside=True,
)
def publish_form_draft(call: Call, given: DraftArguments) -> wire.ReviewedForm:
    """Turns a draft that its creator confirmed as it is into a form, and answers the link to
    share with the people who are asked. Before that it is refused with the address where the
    creator confirms it; where your host opens that page for the creator, it waits up to 25
    seconds for them. Publishing again answers the same form.
    """
    try:
        published = publish_draft(call.caller, given.draft_id)
    except errors.NotConfirmed as refused:
        if isinstance(refused, errors.SentBack) or not wait_for_confirmation(call, given.draft_id):
            raise
        published = _publish_after_wait(call, given.draft_id)
    form = forms.published_form(published)
    return {**form, "reviewUrl": review_url(given.draft_id)}


@Tool("Get a form draft", scope=Scope.FORMS_WRITE, reads=True)
def get_form_draft(_call: Call, given: WaitArguments) -> wire.WatchedDraft:
    """A draft, and what its creator says of it: `confirmation` is `current` once they confirmed
    it as it is, `changes` what they changed, which you leave as they made it, and `note` why
    they sent it back: then change it as they ask. With `timeoutSeconds` it waits until the
    creator confirms, sends back, changes or publishes it, or an agent does; such a wait is no
    monitoring. Where `timedOut` is true, call again, or go on when the creator comes back.
    Where `nextCursor` is set, here or in what a change returned, there are more questions: send
    it as `cursor`. Where `textsCut` is true, the longest texts are cut.
    """
    waited = wait_for_draft(given.draft_id, given.timeout_seconds)
    draft, form, state = waited.seen
    found = {
        **wire.form_draft(draft, form),
        **wire.draft_review(draft, state, review_url(draft.id)),
        "confirmation": CONFIRMATIONS.get(state, "current"),
        "timedOut": given.timeout_seconds > 0 and not waited.is_new,
        **waited.retry_field,
    }
    return cast(wire.WatchedDraft, _paged(found, draft, given))


def _publish_after_wait(call: Call, draft_id: str) -> Published:
    """Publish the draft if its creator has confirmed it; an opened page is not a confirmation."""
    try:
        return publish_draft(call.caller, draft_id)
    except errors.NotConfirmed as refused:
        if not isinstance(refused, errors.SentBack):
            refused.resolution = (
                "Call publish_form_draft again once the creator has confirmed it; the review page "
                "was opened for them, so do not send them there again."
            )
        raise


def _bounded(given: NewDraft) -> model.AgentUpdate:
    """Return the changes, with the size limit of REST. raises InvalidInput `payload_too_large`"""
    changes = cast(model.AgentUpdate, draft_input.draft_update(given))
    if "follow_ups" in given.model_fields_set:
        changes["follow_ups"] = cast(model.GivenFollowUps, given.follow_ups)
    if len(orjson.dumps(changes)) > API_BODY_MAX_BYTES:
        raise too_large("arguments")
    return changes


def _reviewed(draft: Draft) -> wire.ReviewedDraft:
    found = {
        **wire.form_draft(draft),
        "revision": draft.revision,
        "reviewUrl": review_url(draft.id),
    }
    return cast(wire.ReviewedDraft, _paged(found, draft))


def _paged(found: Json, draft: Draft, asked: PageArguments | None = None) -> object:
    """Return a page of the questions with their prepared follow-ups."""
    prepared = wire.draft_follow_ups(draft)["followUps"]
    of_question = {
        key: {"followUps": {"question": key, "prepared": several}}
        for key, several in prepared.items()
    }
    questions = [
        {**each, **of_question.get(each["id"], {})}
        for each in cast(list[dict[str, str]], found["questions"])
    ]
    page = page_of(found | {"questions": questions}, "questions", "id", asked)
    paged = cast(list[Json], page["questions"])
    shown = [each.pop("followUps") for each in paged if "followUps" in each]
    return page | ({"followUps": shown} if shown else {})
