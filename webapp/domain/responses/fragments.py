"""A completed response in pages that each fit into the context of a model: texts cut into
fragments, from which both texts of every answer are put together exactly.
"""

import hashlib
from bisect import bisect_right
from collections.abc import Sequence
from typing import NamedTuple

import orjson
from itsdangerous import BadData, URLSafeSerializer

from webapp.domain.responses.models import AnswerRow
from webapp.domain.shared.vocabulary import ResponseType

PAGE_BYTES = 24 * 1024  # of JSON, our choice
EXCHANGE_BYTES = 300  # counted for the other fields of each exchange, without ids
ATTACHMENT_BYTES = 200  # and for the recording of an answer
CODE_POINT_BYTES = 6  # at most; with less room an exchange is left to the next page
CURSOR_MAX_CHARS = 512
VERSION = 1


class Position(NamedTuple):
    """Where a page begins: the number of the answer, and code points of its question and answer,
    one text after the other.
    """

    answer: int
    offset: int


START = Position(0, 0)


class Fragment(NamedTuple):
    """A part of a question and its answer; offsets in code points from the start of each text."""

    answer: AnswerRow
    question_text: str
    question_offset: int
    answer_text: str
    answer_offset: int

    @property
    def is_first(self) -> bool:
        """Whether the answer begins here."""
        return self.question_offset == 0 and self.answer_offset == 0

    @property
    def is_last(self) -> bool:
        """Whether nothing of the answer is left."""
        question_end = self.question_offset + len(self.question_text)
        answer_end = self.answer_offset + len(self.answer_text)
        lengths = len(self.answer.question_text), len(self.answer.answer_text)
        return (question_end, answer_end) == lengths


class FragmentPage(NamedTuple):
    """Fragments in the order of the answers; `following` is None on the last page."""

    fragments: list[Fragment]
    following: Position | None


def cut_page(answers: Sequence[AnswerRow], start: Position, most: int) -> FragmentPage:
    """The page that begins there, of at most so many of these answers."""
    room, offset = PAGE_BYTES, start.offset
    fragments: list[Fragment] = []
    for number in range(start.answer, len(answers)):
        answer = answers[number]
        room -= EXCHANGE_BYTES + _size(answer.question_id, answer.parent_question_id or "")
        if answer.response_type == ResponseType.VOICE:
            room -= ATTACHMENT_BYTES
        if fragments and (room < CODE_POINT_BYTES or len(fragments) == most):
            return FragmentPage(fragments, Position(number, 0))
        fragment = _fragment(answer, offset, room)
        fragments.append(fragment)
        if not fragment.is_last:
            taken = len(fragment.question_text) + len(fragment.answer_text)
            return FragmentPage(fragments, Position(number, offset + taken))
        room -= _size(fragment.question_text, fragment.answer_text)
        offset = 0
    return FragmentPage(fragments, None)


def write_cursor(
    key: bytes, account_id: str, session_id: str, answers: Sequence[AnswerRow], position: Position
) -> str:
    """A position of this response as it is just now, for the world outside; `key` signs it."""
    state = [VERSION, account_id, session_id, _fingerprint(answers), *position]
    return str(_signer(key).dumps(state))


def read_cursor(
    key: bytes, account_id: str, session_id: str, answers: Sequence[AnswerRow], cursor: str
) -> Position | None:
    """The position; None for what was not written here, of another response, or before one of its
    answers was corrected or taken back.
    """
    if len(cursor) > CURSOR_MAX_CHARS or not cursor.isascii():
        return None
    try:
        *state, answer, offset = _signer(key).loads(cursor)
    except (BadData, TypeError, ValueError):
        return None
    if state != [VERSION, account_id, session_id, _fingerprint(answers)]:
        return None
    return Position(answer, offset)


def _fragment(answer: AnswerRow, offset: int, room: int) -> Fragment:
    """What follows `offset`, as far as there is room: the question first."""
    question_offset = min(offset, len(answer.question_text))
    answer_offset = offset - question_offset
    question = _cut(answer.question_text[question_offset:], room)
    if question_offset + len(question) < len(answer.question_text):
        return Fragment(answer, question, question_offset, "", 0)
    text = _cut(answer.answer_text[answer_offset:], room - _size(question))
    return Fragment(answer, question, question_offset, text, answer_offset)


def _cut(text: str, room: int) -> str:
    """The beginning that has at most so many bytes, in whole code points."""
    lengths = range(1, min(len(text), max(room, 0)) + 1)
    return text[: bisect_right(lengths, room, key=lambda length: _size(text[:length]))]


def _size(*texts: str) -> int:
    """In bytes of JSON, without the quotes around them."""
    return sum(len(orjson.dumps(text)) - 2 for text in texts)


def _fingerprint(answers: Sequence[AnswerRow]) -> str:
    """Of the answers that are current: a correction is a new row."""
    return hashlib.sha256(",".join(answer.id for answer in answers).encode()).hexdigest()[:16]


def _signer(key: bytes) -> URLSafeSerializer:
    return URLSafeSerializer(
        key, salt="cursor of fragments", signer_kwargs={"digest_method": hashlib.sha256}
    )
