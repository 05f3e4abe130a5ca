"""Read completed responses, in pages where their texts are long."""

import hashlib
from bisect import bisect_right
from collections.abc import Sequence
from contextlib import suppress
from typing import NamedTuple

import orjson
from itsdangerous import BadData, URLSafeSerializer
from sqlalchemy import and_, bindparam, select

from webapp.base import database, vocabulary
from webapp.base.errors import ErrorCode, InvalidInput, NotFound, StateConflict
from webapp.records.responses import models
from webapp.records.responses.models import Answer, ResponseSession
from webapp.records.responses.recordings import attachments_of

PAGE_BYTES = 24 * 1024  # of JSON
EXCHANGE_BYTES = 300  # counted for the other fields of each exchange, without ids
ATTACHMENT_BYTES = 200  # and for the recording of an answer
CODE_POINT_BYTES = 6  # at most; with less room, an exchange goes to the next page
CURSOR_MAX_CHARS = 512
VERSION = 1


class Position(NamedTuple):
    """The start of a page: the index of an answer, and an offset in code points into its question
    and answer, one text after the other.
    """

    answer: int
    offset: int


START = Position(0, 0)


class Fragment(NamedTuple):
    """A part of a question and its answer; offsets in code points from the start of each text."""

    answer: models.AnswerRow
    question_text: str
    question_offset: int
    answer_text: str
    answer_offset: int

    @property
    def is_first(self) -> bool:
        return self.question_offset == 0 and self.answer_offset == 0

    @property
    def is_last(self) -> bool:
        question_end = self.question_offset + len(self.question_text)
        answer_end = self.answer_offset + len(self.answer_text)
        lengths = len(self.answer.question_text), len(self.answer.answer_text)
        return (question_end, answer_end) == lengths


def cut_page(
    answers: Sequence[models.AnswerRow], start: Position, most: int
) -> tuple[list[Fragment], Position | None]:
    """Return the page from `start`, with at most `most` answers in their order, and the start of
    the next page (None on the last one).
    """
    room, offset = PAGE_BYTES, start.offset
    fragments: list[Fragment] = []
    for number in range(start.answer, len(answers)):
        answer = answers[number]
        room -= EXCHANGE_BYTES + _size(answer.question_id, answer.parent_question_id or "")
        if answer.response_type == vocabulary.ResponseType.VOICE:
            room -= ATTACHMENT_BYTES
        if fragments and (room < CODE_POINT_BYTES or len(fragments) == most):
            return fragments, Position(number, 0)
        fragment = _fragment(answer, offset, room)
        fragments.append(fragment)
        if not fragment.is_last:
            taken = len(fragment.question_text) + len(fragment.answer_text)
            return fragments, Position(number, offset + taken)
        room -= _size(fragment.question_text, fragment.answer_text)
        offset = 0
    return fragments, None


def _fragment(answer: models.AnswerRow, offset: int, room: int) -> Fragment:
    question_offset = min(offset, len(answer.question_text))
    answer_offset = offset - question_offset
    question = _cut(answer.question_text[question_offset:], room)
    if question_offset + len(question) < len(answer.question_text):
        return Fragment(answer, question, question_offset, "", 0)
    text = _cut(answer.answer_text[answer_offset:], room - _size(question))
    return Fragment(answer, question, question_offset, text, answer_offset)


def _cut(text: str, room: int) -> str:
    lengths = range(1, min(len(text), max(room, 0)) + 1)
    return text[: bisect_right(lengths, room, key=lambda length: _size(text[:length]))]


def _size(*texts: str) -> int:
    return sum(len(orjson.dumps(text)) - 2 for text in texts)


def get_completed_response(form_id: str, response_id: str) -> models.SessionAnswers:
    """Return the response with its current answers, oldest first, both read at one moment."""
    rows = database.read_rows(_RESPONSE, form_id=form_id, response_id=response_id)
    if not rows:
        raise NotFound(
            ErrorCode.NOT_FOUND,
            "There is no response with this responseId in this form; it may have been withdrawn.",
            "Use a responseId of an event, or a sessionId that reading responses returned.",
        )
    session = models.SessionRow._make(rows[0][:_ANSWER])
    if session.status != vocabulary.SessionStatus.COMPLETED:
        raise StateConflict(
            ErrorCode.RESPONSE_NOT_COMPLETED,
            "The respondent has not sent this response yet.",
            "Wait until it is sent. What is answered so far is among the responses of the form.",
        )
    answers = [models.AnswerRow._make(row[_ANSWER:]) for row in rows if row[_ANSWER] is not None]
    return models.SessionAnswers(session, answers, attachments_of(answers))


def read_fragments(
    key: bytes, account_id: str, response: models.SessionAnswers, cursor: str | None, limit: int
) -> tuple[list[Fragment], str | None]:
    """Return the page at the cursor, or else the first one, and the cursor of the next page.

    key     signs cursors, each of which belongs to one state of one response
    raises  InvalidInput `invalid_cursor`, also once an answer was corrected or taken back
    """
    ids = ",".join(answer.id for answer in response.answers)
    fingerprint = hashlib.sha256(ids.encode()).hexdigest()[:16]
    state = [VERSION, account_id, response.session.id, fingerprint]
    signer = URLSafeSerializer(
        key, salt="cursor of fragments", signer_kwargs={"digest_method": hashlib.sha256}
    )
    start = START if cursor is None else _position(signer, state, cursor)
    fragments, following = cut_page(response.answers, start, limit)
    return fragments, str(signer.dumps([*state, *following])) if following else None


def _position(signer: URLSafeSerializer, state: list[object], cursor: str) -> Position:
    with suppress(BadData, TypeError, ValueError):
        *found, answer, offset = signer.loads(cursor[:CURSOR_MAX_CHARS])
        if found == state:
            return Position(answer, offset)
    raise InvalidInput(
        ErrorCode.INVALID_CURSOR,
        "cursor: is not one of this response as it is now.",
        "Begin again: send the call without cursor, and drop the fragments read so far.",
        field="cursor",
    )


_ANSWER = len(models.SESSION_COLUMNS)  # index of the first column of the answer in a row
_RESPONSE = (
    select(*models.SESSION_COLUMNS, *models.ANSWER_COLUMNS)
    .outerjoin(Answer, and_(Answer.session_id == ResponseSession.id, Answer.superseded.is_(False)))
    .where(
        ResponseSession.id == bindparam("response_id"),
        ResponseSession.form_id == bindparam("form_id"),
    )
    .order_by(Answer.stamp)
)
