"""Tools that write forms: private drafts, until their creator confirms them."""

from typing import Annotated, cast

import orjson
from pydantic import Field, StrictStr

from api.draft_operations import create_draft, publish_draft, update_draft, wait_for_draft
from api.json_body import too_large
from api.json_responses import review_url
from api.mcp.call import Call
from api.mcp.messages import Json
from api.mcp.tools.confirmation import require_forms_write, wait_for_confirmation
from api.mcp.tools.pages import PageArguments, page_of
from api.mcp.tools.table import tool
from api.rate_limits import limit_creates, limit_publishes, limit_updates
from webapp.config import settings
from webapp.domain.content.draft_fields import ONE_QUESTION_RULE, STORABLE, whole_number
from webapp.domain.content.draft_input import FormDraftInput, draft_update
from webapp.domain.content.follow_up_input import ToolFollowUps, given_follow_ups
from webapp.domain.content.model import AgentUpdate
from webapp.domain.drafts.agent_notes import clean_note
from webapp.domain.drafts.models import Draft
from webapp.domain.drafts.publishing import Published
from webapp.domain.shared.errors import NotConfirmed, SentBack
from webapp.domain.shared.input_model import InputModel
from webapp.domain.shared.limits import (
    AGENT_NOTE_MAX_CHARS,
    API_BODY_MAX_BYTES,
    WAIT_MAX_SECONDS,
)
from webapp.domain.shared.vocabulary import Scope
from webapp.web.wakeups import RETRY_SECONDS
from webapp.wire.draft_reviews import draft_review
from webapp.wire.review_types import ReviewedDraft, ReviewedForm, WatchedDraft
from webapp.wire.serializers import draft_follow_ups, form_draft, published_form

DraftId = Annotated[
    StrictStr, Field(min_length=1, description="The `draftId` of `create_form_draft`."), STORABLE
]

Note = Annotated[
    StrictStr,
    Field(
        max_length=AGENT_NOTE_MAX_CHARS,
        description=(
            "Why, in half a sentence and one line: the creator reads it beside the change, as your "
            "words. It is no content of the form, and not kept where nothing changes."
        ),
    ),
]


class DraftArguments(InputModel):
    """Which draft."""

    draft_id: DraftId


class NewDraft(FormDraftInput):
    """The fields of a draft, its prepared follow-ups, and why. What is left out is empty or as
    usual.
    """

    follow_ups: Annotated[
        ToolFollowUps,
        Field(
            description="Follow-ups to ask of a person whose answer wants one, where "
            "`followUpMode` is not `none`. On a change they replace all prepared ones of the "
            "draft: send all that are to stay, or one with an empty `prepared` for none."
        ),
    ] = {}
    note: Note = ""


class DraftChanges(NewDraft):
    """Which draft, the fields to replace, and why. What is left out stays as it is."""

    draft_id: DraftId


class WaitArguments(PageArguments, DraftArguments):
    """Which draft, how long to wait for its creator, and which of its questions."""

    timeout_seconds: Annotated[
        int,
        Field(
            ge=0,
            le=WAIT_MAX_SECONDS,
            description="How long to wait until it is confirmed, sent back, changed or published; "
            "0 unless sent.",
        ),
        whole_number(WAIT_MAX_SECONDS),
    ] = 0


@tool(
    "create_form_draft",
    title="Create a form draft",
    description=f"""A private draft of a form, with one question for each thing to know. Nobody can
        answer it yet: give its `reviewUrl` to the creator, who alone can confirm it, in a browser;
        then call `publish_form_draft`. {ONE_QUESTION_RULE}""",
    scope=Scope.FORMS_WRITE,
    takes=NewDraft,
    answers=ReviewedDraft,
    counted=limit_creates,
    repeats=False,
)
def create_form_draft(call: Call, given: NewDraft) -> ReviewedDraft:
    """As `POST /drafts`."""
    note = clean_note(given.note, "note")
    return _reviewed(create_draft(call.caller, _bounded(given), agent_note=note))


@tool(
    "update_form_draft",
    title="Change a form draft",
    description=f"""Replaces the fields that are sent, in a draft that is not published. A change
        has to be confirmed anew by the creator, at `reviewUrl`. {ONE_QUESTION_RULE}""",
    scope=Scope.FORMS_WRITE,
    takes=DraftChanges,
    answers=ReviewedDraft,
    counted=limit_updates,
    replaces=True,
)
def update_form_draft(call: Call, given: DraftChanges) -> ReviewedDraft:
    """As `PATCH /drafts/{draftId}`."""
    note = clean_note(given.note, "note")
    changes = _bounded(given)
    return _reviewed(update_draft(call.caller, given.draft_id, changes, agent_note=note))


@tool(
    "publish_form_draft",
    title="Publish a form draft",
    description="""Turns a draft that its creator confirmed as it is into a form, and answers the
        link to share with the people who are asked. Before that it is refused with the address
        where the creator confirms it; where your host opens that page for the creator, it waits up
        to 25 seconds for them. Publishing again answers the same form.""",
    scope=Scope.FORMS_WRITE,
    takes=DraftArguments,
    answers=ReviewedForm,
    counted=limit_publishes,
    replaces=True,
    outside=True,
)
def publish_form_draft(call: Call, given: DraftArguments) -> ReviewedForm:
    """As `POST /drafts/{draftId}/publish`, with a wait where the client opened the review page.

    raises  InputRequired
    """
    try:
        published = publish_draft(call.caller, given.draft_id)
    except SentBack:
        raise
    except NotConfirmed:
        if not wait_for_confirmation(call, given.draft_id):
            raise
        published = _publish_after_wait(call, given.draft_id)
    form = published_form(published, settings().public_url)
    return {**form, "reviewUrl": review_url(given.draft_id)}


@tool(
    "get_form_draft",
    title="Get a form draft",
    description="""A draft, and what its creator says of it: `confirmation` is `current` once they
        confirmed it as it is, `changes` what they changed, which you leave as they made it, and
        `note` why they sent it back: then change it as they ask. With
        `timeoutSeconds` it waits until the creator confirms, sends back, changes or publishes it,
        or an agent does; such a wait is no monitoring. Where `timedOut` is true, call again, or go
        on when the creator comes back. Where `nextCursor` is set, here or in what a change
        returned, there are more questions: send it as `cursor`. Where `textsCut` is true, the
        longest texts are cut.""",
    scope=Scope.FORMS_WRITE,
    takes=WaitArguments,
    answers=WatchedDraft,
    reads=True,
)
def get_form_draft(call: Call, given: WaitArguments) -> WatchedDraft:
    """As `GET /drafts/{draftId}`."""
    waited = wait_for_draft(
        call.caller.account_id,
        given.draft_id,
        given.timeout_seconds,
        require_forms_write,
    )
    seen = waited.state
    found = {
        **form_draft(seen.draft, settings().public_url, seen.form),
        **draft_review(seen.draft, seen.state, review_url(seen.draft.id)),
        "confirmation": seen.confirmation,
        "timedOut": waited.timed_out,
    }
    retry = {"retryAfterMs": RETRY_SECONDS * 1000} if waited.no_slot else {}
    return cast(WatchedDraft, _paged(found | retry, seen.draft, given))


def _publish_after_wait(call: Call, draft_id: str) -> Published:
    """The form, if its creator has confirmed it: that the client opened the page is not enough."""
    try:
        return publish_draft(call.caller, draft_id)
    except SentBack:
        raise
    except NotConfirmed as refused:
        refused.resolution = (
            "Call publish_form_draft again once the creator has confirmed it; the review page was "
            "opened for them, so do not send them there again."
        )
        raise


def _bounded(given: NewDraft) -> AgentUpdate:
    """raises InvalidInput `payload_too_large` where a body would be refused"""
    changes = cast(AgentUpdate, draft_update(given))
    if "follow_ups" in given.model_fields_set:
        changes["follow_ups"] = given_follow_ups(given.follow_ups)
    if len(orjson.dumps(changes)) > API_BODY_MAX_BYTES:
        raise too_large("arguments")
    return changes


def _reviewed(draft: Draft) -> ReviewedDraft:
    found = {
        **form_draft(draft, settings().public_url),
        "revision": draft.revision,
        "reviewUrl": review_url(draft.id),
    }
    return cast(ReviewedDraft, _paged(found, draft))


def _paged(found: Json, draft: Draft, asked: PageArguments | None = None) -> object:
    """A page of the questions, with the prepared follow-ups to those."""
    prepared = draft_follow_ups(draft)["followUps"]
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
