"""Words that the person who spoke has seen, and sends an answer without."""

from sqlalchemy import bindparam, update

from webapp.database import execute, write_transaction
from webapp.domain.responses.recordings import Recording
from webapp.domain.shared.secrets import token_hash
from webapp.domain.shared.vocabulary import TranscriptState

_R = Recording


def note_shown(session_key: str, recording_id: str) -> None:
    """The page of an answer that is about to be stored showed the words of this recording; commits.

    They were that person's to send: an answer that has the recording without them does not get
    them later.
    """
    with write_transaction():
        execute(_SHOWN, owner=token_hash(session_key), row=recording_id)


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
