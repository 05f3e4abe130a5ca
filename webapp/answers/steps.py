"""The questions of one respondent: their order, the next one, and the thread of each."""

import re
from collections import defaultdict
from collections.abc import Container, Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import NamedTuple

from webapp.base.vocabulary import FollowUpMode
from webapp.follow_ups.rules import Exchange, Thread, most_prepared
from webapp.records.content.model import PreparedFollowUp, QuestionRow
from webapp.records.follow_ups import AskedFollowUp

PATH = re.compile(r"([1-9]\d{0,2})(?:/f/([1-9]\d?))?", re.ASCII)


class QuestionNumber(NamedTuple):
    """The position of a question; positions are ordered as questions are asked."""

    number: int
    follow_up: int = 0

    @property
    def path(self) -> str:
        return f"{self.number}/f/{self.follow_up}" if self.follow_up else str(self.number)


START = QuestionNumber(0)  # before the first question


class Step(NamedTuple):
    """One question that a respondent is asked."""

    place: QuestionNumber
    question_id: str
    text: str
    hint: str | None = None
    asked: AskedFollowUp | None = None


def read_place(path: str) -> QuestionNumber | None:
    """Parse a path that `QuestionNumber.path` wrote; return None if it is malformed."""
    found = PATH.fullmatch(path)
    return QuestionNumber(int(found[1]), int(found[2] or 0)) if found else None


@dataclass(frozen=True)
class Steps:
    """The questions that one respondent is asked, and which are settled."""

    questions: Sequence[QuestionRow]
    follow_ups: Sequence[AskedFollowUp]
    answered: Container[str]
    skipped: Container[str]

    @cached_property
    def in_order(self) -> list[Step]:
        """All steps in order; a dropped follow-up is one of them only if it has an answer."""
        return [
            step
            for number, question in enumerate(self.questions, start=1)
            for step in (_scripted(number, question), *self._follow_ups(number, question["id"]))
        ]

    def at(self, place: QuestionNumber) -> Step | None:
        """Return the question at a place, even a dropped one; None if it was never asked."""
        if not 0 < place.number <= len(self.questions):
            return None
        question = self.questions[place.number - 1]
        if not place.follow_up:
            return _scripted(place.number, question)
        found = (each for each in self.asked_after(question["id"]) if each.depth == place.follow_up)
        return next((_follow_up(place.number, each) for each in found), None)

    def next_place(self, after: QuestionNumber = START) -> QuestionNumber | None:
        """Return the next open question after a place, else the first; None if none is open."""
        unsettled = [
            step.place
            for step in self.in_order
            if step.question_id not in self.answered and step.question_id not in self.skipped
        ]
        following = (place for place in unsettled if place > after)
        return next(following, unsettled[0] if unsettled else None)

    def place_before(self, place: QuestionNumber) -> QuestionNumber | None:
        return max((step.place for step in self.in_order if step.place < place), default=None)

    def asked_after(self, question_id: str) -> Sequence[AskedFollowUp]:
        return self._by_parent.get(question_id, ())

    def has_answered_follow_ups(self, step: Step) -> bool:
        return any(each.id in self.answered for each in self.asked_after(step.question_id))

    @cached_property
    def _by_parent(self) -> Mapping[str, Sequence[AskedFollowUp]]:
        found: dict[str, list[AskedFollowUp]] = defaultdict(list)
        for each in self.follow_ups:
            found[each.parent_question_id].append(each)
        return found

    def _follow_ups(self, number: int, question_id: str) -> Iterator[Step]:
        for each in self.asked_after(question_id):
            if not each.dropped or each.id in self.answered:
                yield _follow_up(number, each)

    def thread(
        self, mode: FollowUpMode, place: QuestionNumber, texts: Mapping[str, str], *, language: str
    ) -> Thread:
        parent = self.questions[place.number - 1]
        of_parent = self.asked_after(parent["id"])
        asked = (each for each in of_parent if each.depth <= place.follow_up)
        said = [(parent["id"], parent["text"]), *((each.id, each.question_text) for each in asked)]
        return Thread(
            mode,
            tuple(Exchange(text, texts[id_]) for id_, text in said if id_ in texts),
            questions=(
                *(question["text"] for question in self.questions),
                *(each.question_text for each in self.follow_ups),
            ),
            written=tuple(each.question_text for each in self.follow_ups if each.by_model),
            hints=tuple(question.get("context", "") for question in self.questions),
            corrected=any(each.dropped for each in of_parent),
            prepared=_left(mode, parent, of_parent),
            built_in_asked=any(not each.writer for each in self.follow_ups),
            depth=len(of_parent),
            language=language,
        )


def _scripted(number: int, question: QuestionRow) -> Step:
    return Step(QuestionNumber(number), question["id"], question["text"], question.get("context"))


def _follow_up(number: int, asked: AskedFollowUp) -> Step:
    return Step(QuestionNumber(number, asked.depth), asked.id, asked.question_text, asked=asked)


def _left(
    mode: FollowUpMode, parent: QuestionRow, asked: Sequence[AskedFollowUp]
) -> tuple[PreparedFollowUp, ...]:
    """Return the prepared follow-ups that are left, none once the announced number was asked."""
    prepared = parent.get("follow_ups", ())
    texts = {each.question_text for each in asked}
    left = tuple(each for each in prepared if each["text"] not in texts)
    return left if len(prepared) - len(left) < most_prepared(mode, prepared) else ()
