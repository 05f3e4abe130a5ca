"""The steps of a form, and the thread of each question."""

import re
from collections import defaultdict
from collections.abc import Container, Iterable, Iterator, Mapping, Sequence
from typing import NamedTuple

from webapp.base.vocabulary import FollowUpMode
from webapp.follow_ups.rules import Exchange, Technique, Thread, most_prepared
from webapp.records.content.model import PreparedFollowUp, QuestionRow
from webapp.records.follow_ups import AskedFollowUp

PATH = re.compile(r"([1-9]\d{0,2})(?:/f/([1-9]\d?))?", re.ASCII)


class QuestionNumber(NamedTuple):
    """The position of a question; positions are ordered as questions are asked.

    number     of the scripted question, from 1
    follow_up  0: the scripted question itself; k: the k-th follow-up to it
    """

    number: int
    follow_up: int = 0

    @property
    def path(self) -> str:
        """The end of its address, after `/q/`."""
        return f"{self.number}/f/{self.follow_up}" if self.follow_up else str(self.number)


START = QuestionNumber(0)  # before the first question


class Step(NamedTuple):
    """One question that a respondent is asked.

    asked  how a follow-up came about, None of a scripted question
    """

    place: QuestionNumber
    question_id: str
    text: str
    hint: str | None = None
    asked: AskedFollowUp | None = None


def read_place(path: str) -> QuestionNumber | None:
    """Read what `QuestionNumber.path` wrote."""
    found = PATH.fullmatch(path)
    return QuestionNumber(int(found[1]), int(found[2] or 0)) if found else None


def steps_of(
    questions: Sequence[QuestionRow],
    follow_ups: Iterable[AskedFollowUp] = (),
    answered: Container[str] = (),
) -> list[Step]:
    """All steps in order. A dropped follow-up is one only if it has an answer.

    answered  ids of questions that have an answer
    """
    asked = defaultdict(list)
    for each in follow_ups:
        asked[each.parent_question_id].append(each)
    return [
        step
        for number, question in enumerate(questions, start=1)
        for step in (
            scripted_step(number, question),
            *_follow_up_steps(number, asked.get(question["id"], ()), answered),
        )
    ]


def scripted_step(number: int, question: QuestionRow) -> Step:
    """The step of a question of the form; `number` from 1."""
    return Step(QuestionNumber(number), question["id"], question["text"], question.get("context"))


def follow_up_step(number: int, asked: AskedFollowUp) -> Step:
    """The step of a follow-up to question `number`."""
    return Step(QuestionNumber(number, asked.depth), asked.id, asked.question_text, asked=asked)


def next_open(
    steps: Sequence[Step], settled: Container[str], after: QuestionNumber = START
) -> Step | None:
    """The first unsettled step after a place, then from the beginning; None at the end.

    settled  ids of questions that are answered or skipped
    """
    unsettled = [step for step in steps if step.question_id not in settled]
    following = (step for step in unsettled if step.place > after)
    return next(following, unsettled[0] if unsettled else None)


def step_before(steps: Sequence[Step], place: QuestionNumber) -> Step | None:
    """The step that Back leads to, None at the first."""
    return max((step for step in steps if step.place < place), default=None)


def _follow_up_steps(
    number: int, asked: Iterable[AskedFollowUp], answered: Container[str]
) -> Iterator[Step]:
    for each in asked:
        if not each.dropped or each.id in answered:
            yield follow_up_step(number, each)


def thread_of(
    mode: FollowUpMode,
    questions: Sequence[QuestionRow],
    asked: Sequence[AskedFollowUp],
    place: QuestionNumber,
    texts: Mapping[str, str],
    *,
    language: str,
) -> Thread:
    """The thread up to the answer that the question at a place has.

    asked  all follow-ups to any question, dropped ones included
    texts  answers by question id, at least those of this thread
    language  tag of the language to ask in, "" for none
    """
    parent = questions[place.number - 1]
    of_parent = [each for each in asked if each.parent_question_id == parent["id"]]
    steps: list[tuple[str, str, Technique | None]] = [(parent["id"], parent["text"], None)]
    steps += [
        (each.id, each.question_text, Technique(each.technique))
        for each in of_parent
        if each.depth <= place.follow_up
    ]
    return Thread(
        mode,
        tuple(Exchange(text, texts[id_], how) for id_, text, how in steps if id_ in texts),
        questions=(
            *(question["text"] for question in questions),
            *(each.question_text for each in asked),
        ),
        written=tuple(each.question_text for each in asked if each.by_model),
        hints=tuple(question.get("context", "") for question in questions),
        corrected=any(each.dropped for each in of_parent),
        prepared=_left(mode, parent, of_parent),
        built_in_asked=any(not each.writer for each in asked),
        depth=len(of_parent),
        used=frozenset(Technique(each.technique) for each in of_parent),
        language=language,
    )


def _left(
    mode: FollowUpMode, parent: QuestionRow, asked: Sequence[AskedFollowUp]
) -> tuple[PreparedFollowUp, ...]:
    """Those not asked; none once as many were asked as may follow one answer, so that a corrected
    answer brings no more than was announced.
    """
    prepared = parent.get("follow_ups", ())
    texts = {each.question_text for each in asked}
    left = tuple(each for each in prepared if each["text"] not in texts)
    return left if len(prepared) - len(left) < most_prepared(mode, prepared) else ()
