"""Claims of recordings, their leases and attempts, and what becomes of the words."""

from datetime import UTC, datetime, timedelta
from typing import Any

import pytest
from sqlalchemy import select, update

from tests.conftest import Clock
from tests.databases import both_databases
from tests.domain.voice.claims import (
    HOST,
    answer_with,
    claimed_at,
    make_answered,
    make_waiting,
    state_of,
    stored,
)
from tests.event_factories import make_subscription
from tests.factories import limit_form_bytes, make_account, make_answer, make_form
from webapp.answers import answering
from webapp.answers.late_transcripts import conclude
from webapp.answers.trash import delete_form, restore_form
from webapp.base.database import db
from webapp.base.errors import NotFound, StateConflict
from webapp.base.vocabulary import ResponseType, TranscriptState
from webapp.records.accounts.models import Account
from webapp.records.events import EventDelivery
from webapp.records.forms import Form
from webapp.records.responses.cursor import read_responses
from webapp.records.responses.models import SPOKEN_ANSWER_MAX_CHARS, Answer, ResponseSession
from webapp.voice import transcripts

KEY = "k" * 24
WORDS = "Ben swapped it."
WAITING, NONE, SILENT, DONE, FAILED = TranscriptState
pytestmark = both_databases


@pytest.fixture
def form(app_context: None, account: Account) -> Any:
    return make_form(account.id)


def written(clock: Clock, words: str = WORDS) -> None:
    """Settle the oldest that waits."""
    transcripts.settle_written(claimed_at(clock), words, now=clock.now)


def test_the_one_that_is_due_for_longest_is_claimed_once(form: Any, clock: Clock) -> None:
    db.session.execute(update(Form).values(spoken_language="pt"))
    later = make_waiting(form, next_at=clock.now)
    earlier = make_waiting(form, next_at=clock.now - timedelta(seconds=5))
    make_waiting(form, next_at=clock.now + timedelta(seconds=5))
    make_waiting(form, next_at=None, transcript_state=NONE)

    assert transcripts.read_unheard(now=clock.now) == (2, clock.now - timedelta(seconds=5))
    first, second = claimed_at(clock), claimed_at(clock)
    assert (first.id, first.attempts, first.transcriber) == (earlier, 1, HOST)
    assert (first.levels, first.language) == (None, "pt")
    assert second.id == later
    assert transcripts.claim(now=clock.now) is None


def test_a_lease_that_ends_gives_the_recording_to_another_attempt(form: Any, clock: Clock) -> None:
    recording = make_answered(form)
    lost = claimed_at(clock)
    transcripts.note_look(lost, "7" * 64)
    for _ in range(2):
        transcripts.release_expired(now=clock.forward(seconds=59))
        assert transcripts.claim(now=clock.now) is None
        assert transcripts.renew(lost, now=clock.now)

    transcripts.release_expired(now=clock.forward(seconds=60))
    again = claimed_at(clock)
    transcripts.settle_written(lost, "of the first attempt", now=clock.now)
    assert (again.id, again.attempts, again.levels) == (recording, 2, "7" * 64)
    assert not transcripts.renew(lost, now=clock.now)
    assert stored(recording).transcript is None
    transcripts.settle_written(again, WORDS, now=clock.now)
    assert (stored(recording).transcript, stored(recording).levels) == (WORDS, "7" * 64)


def test_the_third_lease_that_ends_is_the_last(form: Any, clock: Clock) -> None:
    recording = make_answered(form)
    for _ in range(3):
        assert claimed_at(clock).id == recording
        transcripts.release_expired(now=clock.forward(seconds=60))

    assert state_of(recording) == (FAILED, 3, clock.now)


def test_attempts_follow_each_other_at_once_after_30_seconds_and_after_5_minutes(
    form: Any, clock: Clock
) -> None:
    recording = make_answered(form, next_at=clock.now, transcriber="")
    for seconds in (30, 300):
        transcripts.settle_failed(claimed_at(clock), now=clock.now)
        assert stored(recording).transcript_state is WAITING
        clock.forward(seconds=seconds - 1)
        assert transcripts.claim(now=clock.now) is None
        clock.forward(seconds=1)
    transcripts.settle_failed(claimed_at(clock), now=clock.now)

    assert state_of(recording) == (NONE, 3, clock.now)


@pytest.mark.parametrize(
    ("heard", "kept"),
    [
        (" Ben did.\r\nمرحبا 👋🏽\r", "Ben did.\nمرحبا 👋🏽"),
        ("a\0b\ud800c", "a\ufffdb\ufffdc"),
        ("ä" * 1_000_000, "ä" * SPOKEN_ANSWER_MAX_CHARS),
        (" \n", None),
    ],
)
def test_words_pass_the_text_gate(form: Any, clock: Clock, heard: str, kept: str | None) -> None:
    recording = make_waiting(form)
    written(clock, heard)

    found = stored(recording)
    assert (found.transcript_state, found.transcript) == (DONE if kept else SILENT, kept)


def test_the_minutes_of_a_form_and_day_are_counted(form: Any, clock: Clock) -> None:
    clock.now = datetime(2026, 11, 22, 22, 0, tzinfo=UTC)
    given: dict[str, Any] = {"next_at": clock.now, "duration_ms": 45_000}
    for key in "ab":
        make_answered(form, key * 24, **given)
    other = make_form(form.account_id)
    held = [claimed_at(clock), claimed_at(clock)]
    make_answered(other, **given)

    def spend(claimed: transcripts.Claimed) -> bool:
        return transcripts.spend_minutes(claimed, of_form=1, of_server=9, now=clock.now)

    tomorrow = datetime(2026, 11, 23, tzinfo=UTC)
    assert [spend(each) for each in held] == [True, False]
    assert state_of(held[1].id) == (WAITING, 0, tomorrow)
    assert spend(claimed_at(clock))
    assert transcripts.claim(now=clock.now) is None

    clock.now = tomorrow
    assert spend(claimed_at(clock))


def failed(form: Any, key: str = KEY, **changed: Any) -> str:
    given = {"transcript_state": FAILED, "attempts": 3, "next_at": None}
    return make_answered(form, key, **given | changed)


def try_again(form: Any, recording: str, clock: Clock, **changed: str) -> None:
    given = {"account_id": form.account_id, "form_id": form.id, "transcriber": HOST} | changed
    transcripts.try_again(**given, attachment_id=recording, now=clock.now)


def test_what_was_written_down_is_not_tried_again(form: Any, clock: Clock) -> None:
    recording = failed(form, transcript_state=DONE)
    try_again(form, make_answered(form, "o" * 24), clock)  # one that waits stays as it is
    with pytest.raises(StateConflict) as caught:
        try_again(form, recording, clock)

    assert caught.value.code == "transcript_settled"
    assert state_of(recording) == (DONE, 3, None)


def test_others_and_those_of_no_current_answer_are_not_found(form: Any, clock: Clock) -> None:
    recording, unclaimed = failed(form), make_waiting(form, transcript_state=FAILED)

    def is_not_found(recording: str = recording, **changed: str) -> bool:
        with pytest.raises(NotFound):
            try_again(form, recording, clock, **changed)
        return True

    assert is_not_found(account_id=make_account().id)
    assert is_not_found(unclaimed)
    assert is_not_found("att_unknown")
    db.session.execute(update(Answer).values(superseded=True))
    db.session.commit()
    assert is_not_found()


def spoken(form: Any, position: int = 0) -> str:
    """The id of a recording that waits and has an answer."""
    make_answer(form, KEY, position)
    recording = make_waiting(form, KEY, position=position)
    answer_with(recording, KEY)
    return recording


def complete(form: Any, clock: Clock) -> list[str]:
    queued = answering.complete_response(form.share_token, KEY, responder_name="", now=clock.now)
    assert queued is not None
    return queued


def answers(form: Any) -> list[tuple[str, bool]]:
    """Text and whether it was superseded, oldest first."""
    db.session.rollback()
    found = select(Answer.answer_text, Answer.superseded).where(Answer.form_id == form.id)
    return [tuple(row) for row in db.session.execute(found.order_by(Answer.stamp))]


def due_at(delivery_id: str) -> datetime:
    db.session.rollback()
    return db.session.get_one(EventDelivery, delivery_id, populate_existing=True).next_at


def row_of(form: Any) -> Form:
    db.session.rollback()
    return db.session.get_one(Form, form.id, populate_existing=True)


def test_late_words_are_a_new_answer_with_the_same_recording(form: Any, clock: Clock) -> None:
    recording = spoken(form)
    before = row_of(form)
    seen, size = before.last_stamp, before.answer_bytes
    session = db.session.scalars(select(ResponseSession)).one()
    active = session.last_active_at
    written(clock)
    for _ in range(2):  # a second time changes nothing
        conclude(recording, now=clock.now)

    assert answers(form) == [("", True), (WORDS, False)]
    late = db.session.get_one(Answer, stored(recording).answer_id)
    assert (late.response_type, late.word_count) == (ResponseType.VOICE, 3)
    db.session.refresh(session)
    assert session.answered == {form.questions[0]["id"]: late.id}
    assert session.last_active_at > active  # what was read is outdated
    after = row_of(form)
    assert after.answer_bytes == size + len(f"Who changed it?{WORDS}")
    (polled,) = read_responses(after, seen).sessions
    assert [each.answer_text for each in polled.answers] == [WORDS]


def test_a_full_form_keeps_words_alongside_the_recording(
    form: Any, clock: Clock, monkeypatch: pytest.MonkeyPatch
) -> None:
    recording = spoken(form)
    written(clock)
    limit_form_bytes(monkeypatch, row_of(form).answer_bytes)
    conclude(recording, now=clock.now)

    assert answers(form) == [("", False)]
    assert stored(recording).transcript == WORDS
    assert state_of(recording)[2] is None


def test_a_form_in_the_trash_gets_them_when_it_is_restored(form: Any, clock: Clock) -> None:
    recording = spoken(form)
    written(clock)
    make_waiting(form)
    delete_form(form.account_id, form.id, now=clock.now)
    conclude(recording, now=clock.now)
    assert answers(form) == [("", False)]
    assert (transcripts.claim(now=clock.now), transcripts.read_steps(now=clock.now)) == (None, [])

    restore_form(form.account_id, form.id, now=clock.now)
    assert transcripts.read_steps(now=clock.now) == [recording]
    conclude(recording, now=clock.now)
    assert answers(form) == [("", True), (WORDS, False)]


def test_words_that_were_there_before_the_answer_fill_it_too_if_nobody_saw_them(
    form: Any, clock: Clock
) -> None:
    for position in range(2):
        make_answer(form, KEY, position)
    unseen, shown = make_waiting(form, KEY), make_waiting(form, KEY, position=1)
    written(clock)
    written(clock)
    transcripts.note_shown("o" * 32, unseen)
    transcripts.note_shown(KEY, shown)
    answer_with(unseen, KEY)
    answer_with(shown, KEY)
    for _ in range(transcripts.LOOKED_AT + 1):  # no backlog stands before them
        make_waiting(form, next_at=clock.now - timedelta(seconds=5))

    assert transcripts.read_steps(now=clock.now) == [unseen]
    conclude(unseen, now=clock.now)
    conclude(shown, now=clock.now)
    assert answers(form)[-1] == (WORDS, False)
    assert [text for text, superseded in answers(form) if not superseded] == ["", WORDS]


def test_the_event_waits_for_the_words_and_no_longer(form: Any, clock: Clock) -> None:
    make_subscription(form)
    recordings = [spoken(form), spoken(form, position=1)]
    (delivery,) = complete(form, clock)
    assert due_at(delivery) == clock.now + timedelta(seconds=60)

    clock.forward(seconds=2)
    written(clock)
    assert conclude(recordings[0], now=clock.now) == []
    assert due_at(delivery) == clock.now + timedelta(seconds=58)
    transcripts.settle(claimed_at(clock), SILENT, now=clock.now)

    assert conclude(recordings[1], now=clock.now) == [delivery]
    assert due_at(delivery) == clock.now
    assert conclude(recordings[1], now=clock.now) == []
