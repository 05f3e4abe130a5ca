"""Transcripts: which are due, their states, retries, and what pages show."""

import re
from datetime import UTC, datetime, time, timedelta
from typing import Any, NamedTuple

import sqlalchemy as sa

from webapp.base import database, errors
from webapp.base.text import token_hash
from webapp.base.vocabulary import ON_THIS_SERVER, TranscriptState
from webapp.records import forms, languages
from webapp.records.forms import Form
from webapp.records.responses import counters, models, recordings

LEASE = timedelta(seconds=60)  # of an attempt; renewed while it runs
RETRY_SECONDS = (30, 300)  # after the first attempt and the second
MAX_ATTEMPTS = len(RETRY_SECONDS) + 1
ASKED_SECONDS = 10  # a page counts as asking this long; its script asks for eight
LOOKED_AT = 64  # rows of one sweep
UNSTORABLE = re.compile("[\0\ud800-\udfff]")

_R = recordings.Recording


class Claimed(NamedTuple):
    """A recording that the caller inspects and transcribes before its lease ends."""

    id: str
    form_id: str
    object_key: str
    duration_ms: int
    levels: str | None  # null until inspected; set only if it contains a voice
    transcriber: str  # the host that the page named, "" for none
    language: str  # a tag that the creator chose, or ""
    attempts: int  # including this one
    address_hash: str | None
    claimed: bool  # an answer has the recording
    hint: str  # the language tag of the form, "" if unknown


def ask_for_words(recording_id: str, *, now: datetime) -> bool:
    """Queue an unclaimed recording for transcription because its page asks; commits.

    False if an attempt has begun or was made: the next attempt waits until an answer claims it.
    """
    return bool(database.execute_autocommit(_ASK, row=recording_id, moment=now))


@database.tried_again
def claim(*, now: datetime) -> Claimed | None:
    """Lease the longest-due recording and count an attempt; None if none is due. Commits.

    Recordings of forms in the trash wait. A recording whose lease has ended is not claimed until
    `release_expired`.
    """
    with database.write_transaction():
        found = database.execute(_NEXT, moment=now).first()
        if found is None:
            return None
        lease = {"attempts": _R.attempts + 1, "lease_until": now + LEASE}
        database.execute(sa.update(_R).where(_R.id == found.id).values(lease))
    of_form = languages.language_of_content(forms.form_of(found))
    hint = languages.language_to_ask_in(of_form, "")
    return Claimed._make([*found[: len(Claimed._fields) - 1], hint])


def read_steps(*, now: datetime) -> list[str]:
    """List the oldest recordings whose attempt ended and whose answer awaits the result."""
    return [row.id for row in database.read_rows(_STEPS, moment=now)]


def read_unheard(*, now: datetime) -> tuple[int, datetime | None]:
    """Return the number of recordings due for an attempt, and the due time of the oldest."""
    ((due, oldest),) = database.read_rows(_UNHEARD, moment=now)
    return due, oldest


def release_expired(*, now: datetime) -> None:
    """Make recordings with an expired lease due again; commits if there are any.

    It gives up on those that had their last attempt: they may be what crashes the process.
    """
    if database.read_rows(_ANY_EXPIRED, moment=now):
        with database.write_transaction():
            database.execute(_RELEASE_EXPIRED, moment=now)


def renew(claimed: Claimed, *, now: datetime) -> bool:
    """Renew the lease; False if it was lost or the recording is gone. Commits."""
    return _update(claimed, lease_until=now + LEASE)


def note_look(claimed: Claimed, levels: str) -> None:
    """Store the loudness curve of a recording that contains a voice; commits."""
    _update(claimed, levels=levels)


def put_back(claimed: Claimed, *, now: datetime) -> None:
    """Make the recording due again without counting the attempt: this process stops. Commits."""
    _update(claimed, next_at=now, lease_until=None, attempts=claimed.attempts - 1)


@database.tried_again
def spend_minutes(claimed: Claimed, *, of_form: int, of_server: int, now: datetime) -> bool:
    """Charge an attempt to the quota of this day (UTC) before the engine starts; commits.

    False if a quota is used up: the attempt is not counted, and the recording waits until the next
    day if it is part of an answer, else until an answer claims it.
    """
    if counters.spend_transcription(
        claimed.form_id,
        claimed.address_hash,
        claimed.duration_ms,
        claimed=claimed.claimed,
        of_form=of_form,
        of_server=of_server,
        now=now,
    ):
        return True
    if claimed.claimed:
        tomorrow = now.astimezone(UTC).date() + timedelta(days=1)
        put_back(claimed, now=datetime.combine(tomorrow, time(), UTC))
    else:
        _update(claimed, lease_until=None)
    return False


def settle_written(claimed: Claimed, heard: str, *, now: datetime) -> None:
    """Store the transcript as text that every database accepts; silence if it is empty. Commits."""
    text = UNSTORABLE.sub("\ufffd", heard[: models.SPOKEN_ANSWER_MAX_CHARS * 2])
    text = text.replace("\r\n", "\n").replace("\r", "\n").strip()[: models.SPOKEN_ANSWER_MAX_CHARS]
    settle(claimed, TranscriptState.DONE if text else TranscriptState.SILENT, text, now=now)


def settle_failed(claimed: Claimed, *, now: datetime) -> None:
    """Schedule the next attempt, or give up after the last one. Commits."""
    if claimed.attempts < MAX_ATTEMPTS:
        due = now + timedelta(seconds=RETRY_SECONDS[claimed.attempts - 1])
        _update(claimed, next_at=due, lease_until=None)
    else:
        state = TranscriptState.FAILED if claimed.transcriber else TranscriptState.NONE
        settle(claimed, state, now=now)


def settle(claimed: Claimed, state: TranscriptState, text: str = "", *, now: datetime) -> None:
    """Store the final state and the loudness curve: SILENT without a voice or words; NONE if the
    page named no engine or not the current one. Commits.

    Unclaimed silence leaves no step. The address is kept until an answer claims the recording.
    """
    due: sa.ColumnElement[datetime | None] = sa.literal(now, database.UtcDateTime())
    if state is not TranscriptState.DONE:
        due = sa.case((_R.answer_id.is_not(None), due))
    address = sa.case((_R.answer_id.is_(None), _R.address_hash))
    ends = {"transcript_state": state, "next_at": due, "lease_until": None, "address_hash": address}
    _update(claimed, levels=claimed.levels, transcript=text or None, **ends)


@database.tried_again
def _update(claimed: Claimed, **values: Any) -> bool:
    """Update the row while the lease is held; False if another attempt has it. Commits."""
    held = sa.and_(
        _R.id == claimed.id,
        _R.attempts == claimed.attempts,
        _R.lease_until.is_not(None),
        _WAITING,
    )
    with database.write_transaction():
        return bool(database.execute(sa.update(_R).where(held).values(values)).rowcount)


def try_again(
    account_id: str, form_id: str, attachment_id: str, *, transcriber: str, now: datetime
) -> None:
    """Make a failed recording due again, with all attempts available; commits.

    A recording that is already being transcribed stays as it is.

    transcriber  the configured host, "" for none
    raises       NotFound, also for a recording that no current answer has; StateConflict
                 `transcript_settled` if the recording did not fail, `transcriber_changed` if its
                 page named another host than the configured one
    """
    with database.write_transaction():
        found = database.execute(
            sa.select(_R.transcript_state, _R.transcriber)
            .join(Form, Form.id == _R.form_id)
            .join(models.Answer, models.Answer.id == _R.answer_id)
            .where(
                _R.id == attachment_id,
                forms.owned_form(account_id, form_id),
                models.Answer.superseded.is_(False),
            )
            .with_for_update(of=_R)
        ).first()
        if found is None:
            raise errors.NotFound(
                errors.ErrorCode.NOT_FOUND,
                "There is no such recording.",
                "It may have been replaced or withdrawn by the person who spoke.",
            )
        if found.transcript_state is TranscriptState.WAITING:
            return
        if found.transcript_state is not TranscriptState.FAILED:
            raise errors.StateConflict(
                errors.PageCode.TRANSCRIPT_SETTLED,
                "This recording did not fail to be written down.",
                "There is nothing to try again.",
            )
        if found.transcriber != transcriber:
            named = {ON_THIS_SERVER: "this server"}.get(found.transcriber, found.transcriber)
            raise errors.StateConflict(
                errors.PageCode.TRANSCRIBER_CHANGED,
                f"The page named {named} as who writes it down, which is no longer so.",
                "Listen to the recording instead.",
            )
        due = {"transcript_state": TranscriptState.WAITING, "attempts": 0, "next_at": now}
        database.execute(sa.update(_R).where(_R.id == attachment_id).values(due))


def note_shown(session_key: str, recording_id: str) -> None:
    """Note that the page showed this transcript before its answer was stored; commits.

    The respondent could have sent the text: an answer stored without it does not get it later.
    """
    shown = sa.and_(
        _R.id == recording_id,
        _R.key_hash == token_hash(session_key),
        _R.answer_id.is_(None),
        _R.transcript_state == TranscriptState.DONE,
    )
    with database.write_transaction():
        database.execute(sa.update(_R).where(shown).values(next_at=None))


_NOW = sa.bindparam("moment", type_=database.UtcDateTime())
_STATES = _R.__table__.c.transcript_state.type
_WAITING = _R.transcript_state == TranscriptState.WAITING
_UNTRIED = sa.and_(_WAITING, _R.answer_id.is_(None), _R.attempts == 0)
_IS_ASKED_FOR = sa.type_coerce(_R.next_at, sa.BigInteger) + ASKED_SECONDS * 1000 > _NOW
_IS_DUE = sa.and_(
    _WAITING,
    _R.next_at <= _NOW,
    sa.or_(_R.answer_id.is_not(None), sa.and_(_UNTRIED, _IS_ASKED_FOR)),
)
_ASK = (
    sa.update(_R)
    .where(_R.id == sa.bindparam("row"), _UNTRIED, sa.or_(_R.next_at.is_(None), ~_IS_ASKED_FOR))
    .values(next_at=_NOW)
    .returning(_R.id)
)
_NEXT = (
    sa.select(
        *(_R.id, _R.form_id, _R.object_key, _R.duration_ms, _R.levels, _R.transcriber),
        Form.spoken_language,
        *(_R.attempts + 1, _R.address_hash, _R.answer_id.is_not(None)),
        *(Form.questions, Form.title, Form.goal, Form.private_context),
    )
    .join(Form, Form.id == _R.form_id)
    .where(_IS_DUE, _R.lease_until.is_(None), Form.deleted_at.is_(None))
    .order_by(_R.next_at, _R.id)
    .limit(1)
    .with_for_update(of=_R, skip_locked=True)
)
_STEPS = (
    sa.select(_R.id)
    .join(Form, Form.id == _R.form_id)
    .where(_R.next_at <= _NOW, ~_WAITING, _R.answer_id.is_not(None), Form.deleted_at.is_(None))
    .order_by(_R.next_at)
    .limit(LOOKED_AT)
)
_UNHEARD = (
    sa.select(sa.func.count(), sa.func.min(_R.next_at))
    .join(Form, Form.id == _R.form_id)
    .where(_IS_DUE, Form.deleted_at.is_(None))
)
_IS_SPENT = _R.attempts >= MAX_ATTEMPTS
_GIVEN_UP = sa.case(
    (_R.transcriber == "", sa.literal(TranscriptState.NONE, _STATES)),
    else_=sa.literal(TranscriptState.FAILED, _STATES),
)
_IS_EXPIRED = sa.and_(_WAITING, _R.next_at <= _NOW, _R.lease_until <= _NOW)  # by its index
_ANY_EXPIRED = sa.select(_R.id).where(_IS_EXPIRED).limit(1)
_RELEASE_EXPIRED = (
    sa.update(_R)
    .where(_IS_EXPIRED)
    .values(
        transcript_state=sa.case(
            (_IS_SPENT, _GIVEN_UP), else_=sa.literal(TranscriptState.WAITING, _STATES)
        ),
        next_at=sa.case((sa.or_(_R.answer_id.is_not(None), ~_IS_SPENT), _NOW)),
        lease_until=None,
        address_hash=sa.case((sa.or_(_R.answer_id.is_(None), ~_IS_SPENT), _R.address_hash)),
    )
)
