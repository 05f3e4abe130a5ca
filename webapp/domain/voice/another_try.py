"""Writing a recording down once more, because the creator of its form asks for it."""

from datetime import datetime

from sqlalchemy import bindparam, select, update

from webapp.database import execute, write_transaction
from webapp.domain.forms.models import Form, owned_form
from webapp.domain.responses.models import Answer
from webapp.domain.responses.recordings import Recording
from webapp.domain.shared.error_codes import ErrorCode, PageCode
from webapp.domain.shared.errors import NotFound, StateConflict
from webapp.domain.shared.vocabulary import ON_THIS_SERVER, TranscriptState

_R = Recording


def try_again(
    account_id: str, form_id: str, attachment_id: str, *, transcriber: str, now: datetime
) -> str:
    """Make a recording due that could not be written down, with all attempts before it; commits.

    Returns its id, to hand over. One that is being written down already stays as it is.

    transcriber  the host that there is, "" for none
    raises       NotFound, also for a recording that no current answer has; StateConflict
                 `transcript_settled` for one that did not fail, `transcriber_changed` where its
                 page named another host than there is
    """
    with write_transaction():
        found = execute(_ONE, account_id=account_id, form_id=form_id, row=attachment_id).first()
        if found is None:
            raise NotFound(
                ErrorCode.NOT_FOUND,
                "There is no such recording.",
                "It may have been replaced or withdrawn by the person who spoke.",
            )
        if found.transcript_state is TranscriptState.WAITING:
            return attachment_id
        if found.transcript_state is not TranscriptState.FAILED:
            raise StateConflict(
                PageCode.TRANSCRIPT_SETTLED,
                "This recording did not fail to be written down.",
                "There is nothing to try again.",
            )
        if found.transcriber != transcriber:
            raise StateConflict(
                PageCode.TRANSCRIBER_CHANGED,
                f"The person who spoke was told that {_named(found.transcriber)} writes it down, "
                "which is no longer so.",
                "Listen to the recording instead.",
            )
        execute(_TRY_AGAIN, row=attachment_id, due=now)
    return attachment_id


def _named(host: str) -> str:
    return "this server" if host == ON_THIS_SERVER else host


_ONE = (
    select(_R.transcript_state, _R.transcriber)
    .join(Form, Form.id == _R.form_id)
    .join(Answer, Answer.id == _R.answer_id)
    .where(
        _R.id == bindparam("row"),
        owned_form(bindparam("account_id"), bindparam("form_id")),
        Answer.superseded.is_(False),
    )
    .with_for_update(of=_R)
)
_TRY_AGAIN = (
    update(_R)
    .where(_R.id == bindparam("row"))
    .values(
        transcript_state=TranscriptState.WAITING,
        attempts=0,
        next_at=bindparam("due", type_=_R.next_at.type),
    )
)
