"""Words that the person who spoke has seen before they sent an answer."""

from sqlalchemy import bindparam, update

from webapp.database import execute, write_transaction
from webapp.domain.responses.recordings import Recording
from webapp.domain.shared.vocabulary import TranscriptState

_R = Recording


def note_shown(key_hash: str, recording_id: str) -> None:
    """The words of this recording were shown, so they are that person's to send; commits.

    An answer that has the recording without them does not get them later.
    """
    with write_transaction():
        execute(_SHOWN, owner=key_hash, row=recording_id)


_SHOWN = (
    update(_R)
    .where(
        _R.id == bindparam("row"),
        _R.key_hash == bindparam("owner"),
        _R.answer_id.is_(None),
        _R.transcript_state == TranscriptState.DONE,
    )
    .values(next_at=None)
)
