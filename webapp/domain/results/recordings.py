"""Recordings as their creator hears them: with the loudness, and what was heard in them."""

from collections.abc import Iterable
from typing import NamedTuple

from sqlalchemy import bindparam, func, select

from webapp.database import among, read_rows
from webapp.domain.responses.models import Answer, raw_column
from webapp.domain.responses.recordings import GivenAnswer, Recording, spoken_ids, written_late
from webapp.domain.shared.limits import SPOKEN_ANSWER_MAX_CHARS


class HeardRecording(NamedTuple):
    """The recording of one answer.

    levels     as Recording has them, None until they are known
    differs    what was sent is not what was heard
    unchecked  what was heard became the answer after its respondent had gone on
    heard      what was heard, "" unless asked for
    """

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
    answers: Iterable[GivenAnswer], *, with_transcripts: bool = False
) -> dict[str, HeardRecording]:
    """The recordings of these answers by id of the answer; no statement where all were typed."""
    ids = spoken_ids(answers)
    most = SPOKEN_ANSWER_MAX_CHARS if with_transcripts else 0
    rows = read_rows(_HEARD, answers=ids, most=most) if ids else ()
    return {row.answer_id: HeardRecording._make(row) for row in rows}


_HEARD = (
    select(
        Recording.answer_id,
        Recording.id,
        Recording.size,
        Recording.duration_ms,
        Recording.levels,
        Recording.transcriber,
        raw_column(Recording.transcript_state),
        func.coalesce(Recording.transcript != Answer.answer_text, False).label("differs"),
        written_late(Answer.answer_key).label("unchecked"),
        func.substr(func.coalesce(Recording.transcript, ""), 1, bindparam("most")).label("heard"),
    )
    .join(Answer, Answer.id == Recording.answer_id)
    .where(among(Recording.answer_id, "answers"))
)
