"""What respondents may see: the public part of a form and where they stand in it."""

import hashlib
from dataclasses import dataclass
from datetime import datetime

from sqlalchemy import select

from webapp.database import db
from webapp.domain.accounts import Account
from webapp.domain.content import QuestionRow
from webapp.domain.errors import NotFound
from webapp.domain.forms import Form
from webapp.domain.responses import AnswerRow, ResponseSession, current_answers
from webapp.domain.terms import FormStatus, ResponseLimit, SessionStatus


@dataclass(frozen=True, slots=True)
class RespondentForm:
    """All that respondent pages may know of a form: never goal or private context."""

    id: str
    share_token: str
    title: str
    questions: list[QuestionRow]
    status: FormStatus
    response_limit: ResponseLimit
    asker: str
    closed_at: datetime | None


@dataclass(frozen=True, slots=True)
class Progress:
    """Where a respondent stands; answers by question id, positions are 0-based."""

    session_id: str
    status: SessionStatus
    responder_name: str | None
    answers: dict[str, AnswerRow]
    skipped: frozenset[str]
    completed_stamp: int | None


def get_public_form(share_token: str) -> RespondentForm:
    """The form behind a public link, whatever its status; raises NotFound `not_found`."""
    query = (
        select(
            Form.id,
            Form.share_token,
            Form.title,
            Form.questions,
            Form.status,
            Form.response_limit,
            Account.name.label("asker"),
            Form.closed_at,
        )
        .join(Account, Account.id == Form.account_id)
        .where(Form.share_token == share_token)
    )
    row = db.session.execute(query).one_or_none()
    if row is None:
        raise NotFound("not_found", "There is no form at this address.", "Check the link.")
    return RespondentForm(**row._mapping)


def find_progress(form: RespondentForm, session_key: str) -> Progress | None:
    """The session of this key in this form; None when nothing has been answered with it yet."""
    session = db.session.scalar(
        select(ResponseSession).where(
            ResponseSession.key_hash == key_hash(session_key),
            ResponseSession.form_id == form.id,
        )
    )
    if session is None:
        return None
    return Progress(
        session.id,
        session.status,
        session.responder_name,
        {answer.question_id: answer for answer in current_answers([session.id])},
        frozenset(session.skipped),
        session.completed_stamp,
    )


def key_hash(session_key: str) -> str:
    """SHA-256 of a session key, in hexadecimal digits; keys are 128 random bits or more."""
    return hashlib.sha256(session_key.encode("utf-8", "surrogatepass")).hexdigest()
