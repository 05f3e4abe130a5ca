"""Answers that are stored already, and why one could not be: read back after the fact."""

import hashlib

from sqlalchemy import String, bindparam, select, type_coerce

from webapp.database import read_rows
from webapp.domain.respondents.answer_statements import RECORDED, RECORDINGS_OF_QUESTION
from webapp.domain.respondents.answer_writes import NewAnswer
from webapp.domain.respondents.session_state import SessionState, recordings_of, refusal
from webapp.domain.responses.models import Answer, count_bytes
from webapp.domain.responses.recordings import Recording
from webapp.domain.shared.error_codes import PageCode
from webapp.domain.shared.errors import InvalidInput, Phrase, StateConflict
from webapp.domain.shared.vocabulary import FormStatus

VERSION_CHARS = 16  # our choice: 64 bits
_STORED = select(
    Answer.question_id,
    Answer.answer_text,
    type_coerce(Answer.response_type, String).label("response_type"),
    Recording.id.label("recording_id"),
    Answer.answer_key,
).outerjoin(Recording, Recording.answer_id == Answer.id)
_STORED_UNDER_KEY = _STORED.where(
    Answer.session_id == bindparam("session"), Answer.answer_key == bindparam("key")
)
_CURRENT = _STORED.where(Answer.id == bindparam("answer"))
_UPLOADED = select(Recording.id).where(
    *RECORDINGS_OF_QUESTION, Recording.id == bindparam("recording")
)


def version_of(text: str | None, recording_id: str | None) -> str:
    """Tells two answers apart; "" for none."""
    if text is None:
        return ""
    return hashlib.sha256(f"{recording_id or ''} {text}".encode()).hexdigest()[:VERSION_CHARS]


def is_unchanged(
    state: SessionState, answer: NewAnswer, *, blank: bool, replaces: str | None
) -> bool:
    """True if this is the current answer and the form is open; parameters as in `answer_question`.

    raises  StateConflict `answer_newer`
    """
    current = state.answered.get(answer.question_id)
    if current is None or state.form_status != FormStatus.PUBLISHED:
        return False
    found = read_rows(_CURRENT, answer=current)
    if not found:
        return False
    row = found[0]
    same_recording = (row.recording_id or "") == answer.recording_id
    untouched = blank and answer.recording_id and not answer.answer_text.strip()
    if same_recording and (untouched or row.answer_text == answer.answer_text):
        return True
    written_down = blank and same_recording and answer.recording_id
    if row.answer_key != answer.answer_key and not written_down:
        _require_version(row.answer_text, row.recording_id, replaces)
    return False


def require_shown(state: SessionState, question_id: str, replaces: str | None) -> None:
    """Raise StateConflict `answer_newer` unless the current answer is the version `replaces`."""
    current = state.answered.get(question_id)
    if current is not None and replaces is not None:
        for row in read_rows(_CURRENT, answer=current):
            _require_version(row.answer_text, row.recording_id, replaces)


def _require_version(text: str, recording_id: str | None, replaces: str | None) -> None:
    if replaces is not None and replaces != version_of(text, recording_id):
        raise StateConflict(
            PageCode.ANSWER_NEWER,
            Phrase("You changed this answer in another tab or on another device."),
            Phrase("Nothing is lost: the newer answer counts until you choose."),
        )


def is_repeat(state: SessionState, answer: NewAnswer, *, form_bytes_max: int) -> bool:
    """After a failed write: True if this key has stored this answer, False to try again.

    raises  StateConflict, NotFound, InvalidInput if another try would fail, too
    """
    if stored := read_rows(_STORED_UNDER_KEY, session=state.session_id, key=answer.answer_key):
        _require_same(answer, *stored[0][:-1])
        return True
    size = count_bytes(answer.question_text, answer.answer_text)
    if state.has_recordings:
        place = recordings_of(state, answer.question_id)
        size += read_rows(RECORDED, recording=answer.recording_id, **place)[0][0]
    if refused := refusal(state.form_id, more_bytes=size, form_bytes_max=form_bytes_max):
        raise refused
    if answer.recording_id:
        _require_uploaded(state, answer)
    return False


def _require_same(
    answer: NewAnswer, question_id: str, text: str, response_type: str, recording_id: str | None
) -> None:
    """Raise StateConflict if an answer stored under the same key is another one.

    recording_id  None also if a correction has taken it over
    """
    stored = (question_id, text, response_type, recording_id or answer.recording_id)
    given = (answer.question_id, answer.answer_text, answer.response_type, answer.recording_id)
    if stored != given:
        raise StateConflict(
            PageCode.ANSWER_DIFFERS,
            Phrase("An earlier version of this answer is saved."),
            Phrase("Continue once more to replace it with these words."),
        )


def _require_uploaded(state: SessionState, answer: NewAnswer) -> None:
    """Raise InvalidInput if its recording is not there, or of another session or question."""
    place = recordings_of(state, answer.question_id)
    if not read_rows(_UPLOADED, recording=answer.recording_id, **place):
        raise recording_gone()


def recording_gone() -> InvalidInput:
    """The refusal of a recording that is not there, mostly because it waited too long."""
    return InvalidInput(
        PageCode.RECORDING_UNKNOWN,
        Phrase("We are sorry: your recording is not on the server any more."),
        Phrase(
            "One is kept for an hour until you continue, less while many people record. "
            "Please add or record it once more, or type your answer. Everything you saved is safe."
        ),
        field="recording",
    )
