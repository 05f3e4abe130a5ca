"""Claims of recordings, their leases and attempts, what becomes of the words, and another try."""

from datetime import UTC, datetime, timedelta
from typing import Any

import pytest
from sqlalchemy import update

from tests.conftest import Clock
from tests.databases import both_databases
from tests.domain.voice.claims import (
    HOST,
    claimed_at,
    make_answered,
    make_waiting,
    state_of,
    stored,
)
from tests.factories import make_account, make_form
from webapp.answers.trash import delete_form
from webapp.base.database import db
from webapp.base.errors import NotFound, StateConflict
from webapp.base.vocabulary import TranscriptState
from webapp.records.accounts.models import Account
from webapp.records.forms import Form
from webapp.records.responses.counters import read_days
from webapp.records.responses.models import SPOKEN_ANSWER_MAX_CHARS, Answer
from webapp.records.responses.recordings import Recording
from webapp.voice import transcripts

KEY = "k" * 24
WAITING, NONE, SILENT, DONE, FAILED = TranscriptState


@pytest.fixture
def form(app_context: None, account: Account) -> Any:
    return make_form(account.id)


@both_databases
def test_the_one_that_is_due_for_longest_is_claimed_once(form: Any, clock: Clock) -> None:
    later = make_waiting(form, next_at=clock.now)
    earlier = make_waiting(form, next_at=clock.now - timedelta(seconds=5))
    make_waiting(form, next_at=clock.now + timedelta(seconds=5))
    make_waiting(form, next_at=None, transcript_state=NONE)

    assert transcripts.read_unheard(now=clock.now) == (2, clock.now - timedelta(seconds=5))
    first, second = claimed_at(clock), claimed_at(clock)

    assert (first.id, first.attempts, first.transcriber, first.levels) == (
        earlier,
        1,
        HOST,
        None,
    )
    assert second.id == later
    assert transcripts.claim(now=clock.now) is None


def test_the_language_of_the_form_goes_along(form: Any, clock: Clock) -> None:
    db.session.execute(update(Form).values(spoken_language="pt"))
    make_waiting(form)

    assert claimed_at(clock).language == "pt"


@both_databases
def test_those_of_a_form_in_the_trash_wait_there(form: Any, clock: Clock) -> None:
    make_waiting(form)
    delete_form(form.account_id, form.id, now=clock.now)

    assert (transcripts.claim(now=clock.now), transcripts.read_steps(now=clock.now)) == (None, [])
    assert transcripts.read_unheard(now=clock.now) == (0, None)


@both_databases
def test_a_lease_that_ends_gives_the_recording_to_another_attempt(form: Any, clock: Clock) -> None:
    recording = make_answered(form)
    lost = claimed_at(clock)
    clock.forward(seconds=59)
    transcripts.release_expired(now=clock.now)
    assert transcripts.claim(now=clock.now) is None
    assert transcripts.renew(lost, now=clock.now)
    clock.forward(seconds=59)
    transcripts.release_expired(now=clock.now)
    assert transcripts.claim(now=clock.now) is None
    assert transcripts.read_steps(now=clock.now) == []

    clock.forward(seconds=1)
    transcripts.release_expired(now=clock.now)
    again = claimed_at(clock)
    transcripts.settle_written(lost, "of the first attempt", now=clock.now)

    assert (again.id, again.attempts) == (recording, 2)
    assert not transcripts.renew(lost, now=clock.now)
    assert stored(recording).transcript is None


@both_databases
@pytest.mark.parametrize(("transcriber", "given_up"), [(HOST, FAILED), ("", NONE)])
def test_the_third_lease_that_ends_is_the_last(
    form: Any, clock: Clock, transcriber: str, given_up: TranscriptState
) -> None:
    recording = make_answered(form, transcriber=transcriber)
    for _ in range(3):
        assert claimed_at(clock).id == recording
        transcripts.release_expired(now=clock.forward(seconds=60))

    assert state_of(recording) == (given_up, 3, clock.now)


@both_databases
def test_attempts_follow_each_other_at_once_after_30_seconds_and_after_5_minutes(
    form: Any, clock: Clock
) -> None:
    recording = make_answered(form, next_at=clock.now)
    for seconds in (30, 300):
        transcripts.settle_failed(claimed_at(clock), now=clock.now)
        assert stored(recording).transcript_state is WAITING
        clock.forward(seconds=seconds - 1)
        assert transcripts.claim(now=clock.now) is None
        clock.forward(seconds=1)
    transcripts.settle_failed(claimed_at(clock), now=clock.now)

    assert state_of(recording) == (FAILED, 3, clock.now)


def test_one_that_nobody_writes_down_does_not_fail(form: Any, clock: Clock) -> None:
    recording = make_answered(form, transcriber="")
    for _ in range(3):
        settled_at = clock.now
        transcripts.settle_failed(claimed_at(clock), now=settled_at)
        clock.forward(seconds=300)

    assert state_of(recording) == (NONE, 3, settled_at)


def test_whoever_stops_puts_it_back_without_an_attempt(form: Any, clock: Clock) -> None:
    recording = make_waiting(form)
    transcripts.put_back(claimed_at(clock), now=clock.now)

    assert state_of(recording) == (WAITING, 0, clock.now)
    assert claimed_at(clock).id == recording


@both_databases
def test_the_curve_is_kept_while_an_engine_listens(form: Any, clock: Clock) -> None:
    recording = make_answered(form)
    transcripts.note_look(claimed_at(clock), "7" * 64)
    assert stored(recording).levels == "7" * 64

    transcripts.release_expired(now=clock.forward(seconds=60))
    again = claimed_at(clock)
    transcripts.settle_written(again, "Ben did.", now=clock.now)

    assert again.levels == "7" * 64
    found = stored(recording)
    assert (found.transcript, found.levels) == ("Ben did.", "7" * 64)


@both_databases
def test_silence_and_what_nobody_writes_down_are_settled(form: Any, clock: Clock) -> None:
    silent, unwritten = make_waiting(form), make_waiting(form)
    held = claimed_at(clock)._replace(levels="0" * 64)
    transcripts.settle(held, TranscriptState.SILENT, now=clock.now)
    transcripts.settle(claimed_at(clock), TranscriptState.NONE, now=clock.now)

    assert state_of(silent) == (SILENT, 1, None)
    assert stored(silent).levels == "0" * 64
    assert state_of(unwritten) == (NONE, 1, None)


@both_databases
@pytest.mark.parametrize(
    ("heard", "kept"),
    [
        (" Ben did.\r\nI think.\r", "Ben did.\nI think."),
        ("a\0b\ud800c", "a\ufffdb\ufffdc"),
        ("ä" * 1_000_000, "ä" * SPOKEN_ANSWER_MAX_CHARS),
        ("مرحبا 👋🏽", "مرحبا 👋🏽"),
    ],
)
def test_words_pass_the_text_gate(form: Any, clock: Clock, heard: str, kept: str) -> None:
    recording = make_waiting(form)
    transcripts.settle_written(claimed_at(clock), heard, now=clock.now)

    found = stored(recording)
    assert (found.transcript_state, found.transcript) == (DONE, kept)


def test_an_engine_that_hears_nothing_makes_no_words(form: Any, clock: Clock) -> None:
    recording = make_waiting(form)
    transcripts.settle_written(claimed_at(clock), " \n", now=clock.now)

    assert state_of(recording) == (SILENT, 1, None)
    assert stored(recording).transcript is None


@both_databases
def test_the_minutes_of_a_form_and_day_are_counted(form: Any, clock: Clock) -> None:
    clock.now = datetime(2026, 11, 22, 22, 0, tzinfo=UTC)
    first, second = (
        make_answered(form, key * 24, next_at=clock.now, duration_ms=45_000) for key in "ab"
    )
    other = make_form(form.account_id)
    assert transcripts.spend_minutes(claimed_at(clock), of_form=1, of_server=9, now=clock.now)
    held = claimed_at(clock)
    assert not transcripts.spend_minutes(held, of_form=1, of_server=9, now=clock.now)

    tomorrow = datetime(2026, 11, 23, tzinfo=UTC)
    postponed = {first, second} & {held.id}
    assert [state_of(each) for each in postponed] == [(WAITING, 0, tomorrow)]
    make_answered(other, next_at=clock.now, duration_ms=45_000)
    assert transcripts.spend_minutes(claimed_at(clock), of_form=1, of_server=9, now=clock.now)
    assert transcripts.claim(now=clock.now) is None

    clock.now = tomorrow
    assert transcripts.spend_minutes(claimed_at(clock), of_form=1, of_server=9, now=clock.now)
    assert [day.completed for day in read_days(form.id, clock.now, days=2)] == [0, 0]


@both_databases
def test_one_longer_than_the_minutes_of_a_day_is_never_sent(form: Any, clock: Clock) -> None:
    make_answered(form, duration_ms=61_000)

    assert not transcripts.spend_minutes(claimed_at(clock), of_form=1, of_server=9, now=clock.now)


@both_databases
def test_words_that_were_shown_wait_for_no_answer(form: Any, clock: Clock) -> None:
    recording = make_waiting(form, KEY)
    transcripts.note_shown(KEY, recording)
    held = claimed_at(clock)
    assert held.id == recording  # there are none yet
    transcripts.settle_written(held, "Ben did.", now=clock.now)

    assert state_of(recording) == (
        DONE,
        1,
        clock.now,
    )  # an answer without them may claim it
    transcripts.note_shown("o" * 24, recording)
    assert state_of(recording) == (DONE, 1, clock.now)
    transcripts.note_shown(KEY, recording)
    assert state_of(recording) == (DONE, 1, None)


@both_databases
def test_of_a_recording_that_is_gone_nothing_is_settled(form: Any, clock: Clock) -> None:
    recording = make_waiting(form)
    held = claimed_at(clock)
    db.session.delete(db.session.get_one(Recording, recording))
    db.session.commit()

    assert not transcripts.renew(held, now=clock.now)
    transcripts.settle_written(held, "Ben did.", now=clock.now)
    transcripts.settle_failed(held, now=clock.now)
    assert db.session.get(Recording, recording) is None


def failed(form: Any, **changed: Any) -> str:
    return make_answered(
        form, **{"transcript_state": FAILED, "attempts": 3, "next_at": None} | changed
    )


def try_again(form: Any, recording: str, clock: Clock, **changed: str) -> None:
    given = {"account_id": form.account_id, "form_id": form.id, "transcriber": HOST} | changed
    transcripts.try_again(**given, attachment_id=recording, now=clock.now)


@both_databases
def test_it_gets_all_attempts_again(form: Any, clock: Clock) -> None:
    recording = failed(form)
    for _ in range(2):
        try_again(form, recording, clock)

    assert state_of(recording) == (WAITING, 0, clock.now)
    assert claimed_at(clock).attempts == 1


@pytest.mark.parametrize(
    ("state", "transcriber", "code"),
    [  # a host that its page did not name gets nothing
        (FAILED, "other.example.org", "transcriber_changed"),
        (FAILED, "", "transcriber_changed"),
        (DONE, HOST, "transcript_settled"),
    ],
)
def test_another_try_is_refused(
    form: Any, clock: Clock, state: TranscriptState, transcriber: str, code: str
) -> None:
    recording = failed(form, transcript_state=state)
    with pytest.raises(StateConflict) as caught:
        try_again(form, recording, clock, transcriber=transcriber)

    assert caught.value.code == code
    assert state_of(recording) == (state, 3, None)


def test_others_and_those_of_no_current_answer_are_not_found(form: Any, clock: Clock) -> None:
    recording, unclaimed = failed(form), make_waiting(form, transcript_state=FAILED)
    tries = [
        (recording, {"account_id": make_account().id}),
        (recording, {"form_id": make_form(form.account_id).id}),
        (unclaimed, {}),
        ("att_unknown", {}),
    ]
    for named, changed in tries:
        with pytest.raises(NotFound):
            try_again(form, named, clock, **changed)
    db.session.execute(Answer.__table__.update().values(superseded=True))
    db.session.commit()
    with pytest.raises(NotFound):
        try_again(form, recording, clock)
