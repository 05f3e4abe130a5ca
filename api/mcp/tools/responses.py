"""What people answered, in pages that fit into the context of a model."""

from bisect import bisect_right
from typing import TypeVar

import orjson

from api.mcp.call import Call
from api.mcp.tools.arguments import FormArguments, Since
from api.mcp.tools.results import Shortened
from api.mcp.tools.table import tool
from webapp.domain.forms import models as forms
from webapp.domain.forms.models import FormRow
from webapp.domain.responses.cursor import ResponsePage, read_responses
from webapp.domain.shared.limits import API_BODY_MAX_BYTES, PAGE_MAX_ITEMS
from webapp.domain.shared.vocabulary import Scope
from webapp.wire.extension_types import WaitedResponses
from webapp.wire.serializers import completed_within, form_responses
from webapp.wire.timestamps import parse_since
from webapp.wire.types import FormResponses, ResponseAnswer

RESULT_BYTES = 48 * 1024  # of the text of a result, our choice
TEXT_BYTES = RESULT_BYTES - 512  # of it, for the JSON: the marks stand around it
PAGE_BYTES = TEXT_BYTES - 512  # of that, for the page: a wait says more
ANSWER_BYTES = 4 * 1024  # that are left to a long answer however long the questions are
QUESTIONS_CUT = "Long questions are cut in it: structuredContent and get_form have them whole."

P = TypeVar("P", FormResponses, WaitedResponses)


class ResponsesArguments(FormArguments):
    """Which form, and from where on."""

    since: Since | None = None


@tool(
    "get_form_responses",
    title="Get responses",
    description="""What people answered in one form after `since`, in progress or completed, oldest
        first. Keep `nextSince` for the next call; while `truncated` is true, ask again at once. A
        corrected answer comes again with a new id and the same `questionId`: drop ids you know. An
        answer with `answerTruncated` is whole in get_completed_response once it is sent. Call it
        with the `since` you kept whenever you begin again, and after a wait without news.""",
    events="""Call it so after each event, too, also after one that arrives without ids: it
        finds what an event did not tell.""",
    scope=Scope.RESPONSES_READ,
    takes=ResponsesArguments,
    answers=FormResponses,
    reads=True,
    quotes=True,
)
def get_form_responses(call: Call, given: ResponsesArguments) -> FormResponses | Shortened:
    """As `GET /forms/{formId}/responses`, in smaller pages."""
    since = given_since(given.since)
    return with_fitting_text(
        fitting_page(forms.get_form(call.caller.account_id, given.form_id), since)
    )


def given_since(since: str | None) -> int | None:
    """In milliseconds. raises InvalidInput `invalid_since`"""
    return None if since is None else parse_since(since)


def fitting_page(form: FormRow, since: int | None) -> FormResponses:
    """As much of what came after `since` as fits, at least one item, whose answer is cut then."""
    most = PAGE_MAX_ITEMS
    while True:
        page = read_responses(form, since, max_items=most, max_bytes=PAGE_BYTES)
        found = form_responses(form, page)
        size = _size(found)
        items = page.answer_count + len(completed_within(page, since))
        if size <= PAGE_BYTES or not items:
            return found
        if items == 1:
            _cut_answer(found, size)
            return found
        around = _size(form_responses(form, ResponsePage([], 0, since, truncated=False)))
        most = max(1, items * (PAGE_BYTES - around) // (size - around))


def with_fitting_text(found: P) -> P | Shortened:
    """The page, whose text has the questions cut where they alone are too long for it."""
    if _size(found) <= TEXT_BYTES:
        return found
    lengths = range(1, API_BODY_MAX_BYTES)
    kept = bisect_right(lengths, TEXT_BYTES, key=lambda each: _size(_cut_questions(found, each)))
    return Shortened(found, _cut_questions(found, kept), QUESTIONS_CUT)


def _cut_questions(found: P, chars: int) -> P:
    """The same with at most so many code points of each question."""
    asked = [each | {"text": each["text"][:chars]} for each in found["form"]["questions"]]
    responses = [
        each | {"answers": [_cut_question(answer, chars) for answer in each["answers"]]}
        for each in found["responses"]
    ]
    return found | {"form": found["form"] | {"questions": asked}, "responses": responses}


def _cut_question(answer: ResponseAnswer, chars: int) -> ResponseAnswer:
    return answer | {"questionText": answer["questionText"][:chars]}


def _cut_answer(found: FormResponses, size: int) -> None:
    """Leave of the one answer what there is room for."""
    for answer in found["responses"][0]["answers"]:
        text = answer["answerText"]
        room = max(PAGE_BYTES - size + _size(text), ANSWER_BYTES)
        lengths = range(len(text) + 1)
        kept = bisect_right(lengths, room, key=lambda length: _size(text[:length])) - 1
        answer["answerText"] = text[:kept]
        answer["answerTruncated"] |= kept < len(text)


def _size(value: object) -> int:
    """In bytes of JSON."""
    return len(orjson.dumps(value))
