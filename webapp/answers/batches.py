"""Answers and people of a form in batches, for the exports, and their recordings."""

from collections.abc import Iterable, Iterator, Sequence
from typing import Any, NamedTuple, cast

from sqlalchemy import BigInteger, Executable, bindparam, func, select, tuple_, type_coerce

from webapp.base.database import among, read_rows, release_connections
from webapp.records.follow_ups import FollowUp, how_asked
from webapp.records.responses import models, recordings

_A, _R, _S = models.Answer, recordings.Recording, models.ResponseSession


class HeardRecording(NamedTuple):
    """The recording of one answer; `unchecked`: its respondent has not seen the transcript."""

    answer_id: str
    id: str
    size: int
    duration_ms: int
    levels: str | None
    transcriber: str
    transcript_state: str
    differs: bool
    unchecked: bool
    heard: str


def recordings_of(
    answers: Iterable[Any], *, with_transcripts: bool = False
) -> dict[str, HeardRecording]:
    """Return the recordings of these answers by answer id; no statement if all were typed."""
    ids = recordings.spoken_ids(answers)
    most = models.SPOKEN_ANSWER_MAX_CHARS if with_transcripts else 0
    rows = read_rows(_HEARD, answers=ids, most=most) if ids else ()
    return {row.answer_id: HeardRecording._make(row) for row in rows}


_HEARD = (
    select(
        *(_R.__table__.c[name] for name in HeardRecording._fields[:6]),
        models.raw_column(_R.transcript_state),
        func.coalesce(_R.transcript != _A.answer_text, False).label("differs"),
        recordings.written_late(_A.answer_key).label("unchecked"),
        func.substr(func.coalesce(_R.transcript, ""), 1, bindparam("most")).label("heard"),
    )
    .join(_A, _A.id == _R.answer_id)
    .where(among(_R.answer_id, "answers"))
)


ANSWERS_IN_BATCH = 1000
PEOPLE_IN_BATCH = 100
CHARS_IN_BATCH = 256 * 1024  # unless one answer or person alone has more

# Sessions are read once per batch: a join would find the same one for every answer.
_ANSWERS = (
    select(*models.ANSWER_COLUMNS)
    .where(_A.form_id == bindparam("form_id"), _A.stamp > bindparam("after"))
    .where(_A.superseded.is_(False))
    .order_by(_A.stamp)
    .limit(bindparam("most"))
)
_NEXT_ANSWERS = _ANSWERS.with_only_columns(_A.answer_text, _A.question_text).subquery()
_CHARS_OF_ANSWERS = select(
    func.sum(func.length(_NEXT_ANSWERS.c.answer_text) + func.length(_NEXT_ANSWERS.c.question_text))
)
_SESSIONS = select(*models.SESSION_COLUMNS).where(among(_S.id, "ids"), models.IS_SHOWN)
_DEPTHS = select(FollowUp.id, FollowUp.depth).where(among(FollowUp.id, "ids"))
_BEGAN = type_coerce(_S.created_at, BigInteger)
_PEOPLE = (
    select(*models.SESSION_COLUMNS, _S.skipped)
    .where(
        _S.form_id == bindparam("form_id"),
        tuple_(_BEGAN, _S.id) > tuple_(bindparam("began"), bindparam("id")),
        models.IS_SHOWN,
    )
    .order_by(_S.created_at, _S.id)
    .limit(bindparam("most"))
)
_CHARS_OF_PEOPLE = select(
    func.sum(func.length(_A.answer_text) + func.length(_A.question_text))
).where(_A.session_id.in_(_PEOPLE.with_only_columns(_S.id)), _A.superseded.is_(False))


class AnswerBatch(NamedTuple):
    """Answers in the order of their stamps."""

    answers: Sequence[models.AnswerRow]
    people: dict[str, models.SessionRow]
    attachments: dict[str, models.AttachmentRow]
    asked: dict[str, FollowUp]


def read_answers(form_id: str) -> Iterator[AnswerBatch]:
    """Yield batches of all current answers with their sessions, in the order of their stamps.

    An answer that is corrected meanwhile comes again at the end with its new text; none is missed.
    """
    after, most = 0, ANSWERS_IN_BATCH
    while True:
        place = {"form_id": form_id, "after": after}
        most = _fitting(_CHARS_OF_ANSWERS, min(2 * most, ANSWERS_IN_BATCH), place)
        answers = cast(Sequence[models.AnswerRow], read_rows(_ANSWERS, most=most, **place))
        if not answers:
            break
        session_ids = list({answer.session_id for answer in answers})
        found = cast(Sequence[models.SessionRow], read_rows(_SESSIONS, ids=session_ids))
        people = {row.id: row for row in found}
        attachments = recordings.attachments_of(answers)
        asked = how_asked(each.question_id for each in answers if each.parent_question_id)
        release_connections()
        after = answers[-1].stamp
        # others were deleted, or withdrawn between the statements
        shown = [each for each in answers if each.session_id in people]
        yield AnswerBatch(shown, people, attachments, asked)
    release_connections()


def read_people(form_id: str) -> Iterator[list[models.SessionAnswers]]:
    """Yield batches of all sessions with their current answers, in the order of their start."""
    after, most = (0, ""), PEOPLE_IN_BATCH
    while True:
        place = {"form_id": form_id, "began": after[0], "id": after[1]}
        most = _fitting(_CHARS_OF_PEOPLE, min(2 * most, PEOPLE_IN_BATCH), place)
        found = read_rows(_PEOPLE, most=most, **place)
        if not found:
            break
        sessions = [(models.SessionRow._make(row[:-1]), row.skipped) for row in found]
        people = {each.id: models.SessionAnswers(each, skipped=ids) for each, ids in sessions}
        answers = models.current_answers(people)
        for answer in answers:
            people[answer.session_id].answers.append(answer)
        attachments = recordings.attachments_of(answers)
        for person in people.values():
            person.attachments = attachments
        release_connections()
        yield [person for person in people.values() if person.answers]
        after = (found[-1].created_at, found[-1].id)
    release_connections()


def read_depths(people: Iterable[models.SessionAnswers]) -> dict[str, int]:
    """Return the depth of each answered follow-up by question id."""
    answers = [each for person in people for each in person.answers]
    follow_ups = [each.question_id for each in answers if each.parent_question_id]
    depths = read_rows(_DEPTHS, ids=follow_ups) if follow_ups else ()
    release_connections()
    return {row.id: row.depth for row in depths}


def _fitting(chars: Executable, most: int, place: dict[str, object]) -> int:
    while most > 1 and (read_rows(chars, most=most, **place)[0][0] or 0) > CHARS_IN_BATCH:
        most //= 2
    return most
