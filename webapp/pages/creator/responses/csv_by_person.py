"""A CSV file with a row for each person and a column for each question.

What was asked because of an answer differs from person to person, so all of it shares one cell
beside that answer: each question on a line of its own, its answer below it.
"""

from collections import defaultdict
from collections.abc import Iterable, Iterator
from itertools import chain

from webapp.database import to_millis, utc_now
from webapp.domain.content.model import asks_follow_ups
from webapp.domain.forms.models import FormRow
from webapp.domain.responses.models import AnswerRow, SessionAnswers
from webapp.domain.results.export import PersonBatch, read_person_batches
from webapp.pages.creator.responses.csv_cells import (
    BYTE_ORDER_MARK,
    PERSON_COLUMNS,
    cells,
    person_cells,
    recording_address,
    short_cell,
)


def csv_by_person(form: FormRow) -> Iterator[bytes]:
    """The file in chunks; persons in the order in which they began, those without answers left
    out.
    """
    now = to_millis(utc_now())
    yield BYTE_ORDER_MARK + f"{cells(*_columns(form))}\r\n".encode()
    for batch in read_person_batches(form.id):
        lines = [
            f"{person_cells(person.session, now)},{cells(*_answer_cells(form, person, batch))}\r\n"
            for person in batch.people
        ]
        yield "".join(lines).encode()


def _columns(form: FormRow) -> Iterable[str]:
    numbered = enumerate(form.questions, start=1)
    of_questions = chain.from_iterable(
        _of_question(
            form, f"{number}. {question['text']}", f"{number} follow-ups", f"{number} recordings"
        )
        for number, question in numbered
    )
    return (*PERSON_COLUMNS, *map(short_cell, of_questions), "skipped")


def _of_question(form: FormRow, answer: str, follow_ups: str, recordings: str) -> Iterator[str]:
    """Of these cells those that the form has."""
    yield answer
    if asks_follow_ups(form):
        yield follow_ups
    if form.records_voice:
        yield recordings


def _answer_cells(form: FormRow, person: SessionAnswers, batch: PersonBatch) -> Iterator[str]:
    skipped = batch.skipped.get(person.session.id, ())
    threads = _threads(person, batch)
    for question in form.questions:
        answers = threads[question["id"]]
        given = [each.answer_text for each in answers if each.parent_question_id is None]
        asked = [
            f"{each.question_text}\n{each.answer_text}"
            for each in answers
            if each.parent_question_id
        ]
        heard = [
            recording_address(form, person.attachments[each.id])
            for each in answers
            if each.id in person.attachments
        ]
        yield from map(
            short_cell, _of_question(form, "".join(given), "\n\n".join(asked), "\n".join(heard))
        )
    numbered = enumerate(form.questions, start=1)
    yield ", ".join(str(number) for number, question in numbered if question["id"] in skipped)


def _threads(person: SessionAnswers, batch: PersonBatch) -> defaultdict[str, list[AnswerRow]]:
    """The answers by id of the question of the form, follow-ups in the order of asking."""
    threads: defaultdict[str, list[AnswerRow]] = defaultdict(list)
    for each in sorted(person.answers, key=lambda answer: batch.depths.get(answer.question_id, 0)):
        threads[each.parent_question_id or each.question_id].append(each)
    return threads
