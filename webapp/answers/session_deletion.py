"""Deletes responses with everything that they hold: withdrawn by their respondents, or deleted by
the creator of their form.
"""

from collections import Counter
from collections.abc import Sequence
from datetime import datetime

from sqlalchemy import String, case, delete, func, select, type_coerce

from webapp.answers.session import LockedSession, change_form
from webapp.base.database import db, execute
from webapp.base.ownership import OF_SESSION, deletion_of
from webapp.base.vocabulary import FormStatus, QuestionKind
from webapp.events.outbox import cancel_events
from webapp.records.content.model import QuestionRow
from webapp.records.forms import Form
from webapp.records.responses import counters
from webapp.records.responses.models import Answer, ResponseSession, stored_bytes
from webapp.records.responses.recordings import Recording, claimed_bytes


def delete_sessions(form_id: str, sessions: Sequence[LockedSession], *, now: datetime) -> None:
    """Delete sessions of one form with all they hold, and lower its counters. The caller commits.

    The caller has locked their rows, and no other row. A completed form with `response_limit` one
    takes answers again. No stamp is taken. What was not sent of their events is cancelled.
    """
    ids = [each.session_id for each in sessions]
    reached, size = _reached(form_id, sessions, ids), stored_bytes(ids)
    recorded = delete(Recording).where(Recording.key_hash.in_(each.key_hash for each in sessions))
    size += claimed_bytes(execute(recorded.returning(Recording.size, Recording.answer_id)))
    for owned in OF_SESSION:
        execute(deletion_of(owned, *ids))
    completed = {
        each.session_id: each.completed_stamp
        for each in sessions
        if each.completed_stamp is not None
    }
    _lower_counts(form_id, sessions, completed=len(completed), size=size)
    days = Counter(stamp // counters.DAY_MILLIS for stamp in completed.values())
    for day, number in sorted(days.items()):
        counters.count_completion(
            db.session.connection(), form_id, day * counters.DAY_MILLIS, change=-number
        )
    counters.count_questions(form_id, reached)
    if completed:
        cancel_events(completed, now=now)


def _reached(
    form_id: str, sessions: Sequence[LockedSession], ids: Sequence[str]
) -> dict[str, counters.QuestionCounts]:
    """The counter changes of deleting the sessions, by question id."""
    query = (
        select(Answer.question_id, func.count())
        .where(
            Answer.session_id.in_(ids),
            Answer.superseded.is_(False),
            Answer.question_kind == QuestionKind.SCRIPTED,
        )
        .group_by(Answer.question_id)
    )
    answered = {row[0]: row[1] for row in execute(query)}
    questions: list[QuestionRow] = db.session.scalars(
        select(Form.questions).where(Form.id == form_id)
    ).one()
    skipped = Counter(question_id for each in sessions for question_id in {*each.skipped})
    return {
        each["id"]: counters.QuestionCounts(-answered.get(each["id"], 0), -skipped[each["id"]])
        for each in questions
    }


def _lower_counts(
    form_id: str, sessions: Sequence[LockedSession], *, completed: int, size: int
) -> None:
    """Lower the form's counters by these sessions; `size` in bytes of their answers."""
    answered = sum(each.completed_stamp is not None or each.answer_count > 0 for each in sessions)
    values: dict[str, object] = {
        "started_count": Form.started_count - len(sessions),
        "answer_bytes": Form.answer_bytes - size,
        "answered_count": Form.answered_count - answered,
    }
    if completed:
        newest = (
            select(func.max(ResponseSession.completed_stamp))
            .where(ResponseSession.form_id == form_id)
            .scalar_subquery()
        )
        values |= {
            "response_count": Form.response_count - completed,
            "completed_stamp": newest,
            "status": case(
                (Form.status == FormStatus.COMPLETED, FormStatus.PUBLISHED.value),
                else_=type_coerce(Form.status, String),
            ),
        }
    change_form(form_id, values)
