"""Words that come after the answer, and the event that waits for them."""

from datetime import timedelta
from typing import Any

import pytest
from sqlalchemy import func, select

from tests.conftest import Clock
from tests.databases import both_databases
from tests.domain.voice.claims import answer_with, claimed_at, make_waiting, state_of, stored
from tests.event_factories import make_subscription
from tests.factories import limit_form_bytes, make_answer, make_form
from webapp.answers.answering import complete_response, skip_question, withdraw_response
from webapp.answers.late_transcripts import conclude
from webapp.answers.trash import delete_form, restore_form
from webapp.base.database import db
from webapp.base.vocabulary import DeliveryState, ResponseType, SessionStatus, TranscriptState
from webapp.records.accounts.models import Account
from webapp.records.events import EventDelivery
from webapp.records.forms import Form, close_form
from webapp.records.responses.cursor import read_responses
from webapp.records.responses.models import Answer, ResponseSession
from webapp.records.responses.recordings import Recording
from webapp.voice import transcripts

KEY = "k" * 24
WORDS = "Ben swapped it."
pytestmark = both_databases


@pytest.fixture
def form(app_context: None, account: Account) -> Any:
    return make_form(account.id)


def spoken(form: Any, position: int = 0, text: str = "") -> str:
    """The id of a recording that waits and has an answer."""
    make_answer(form, KEY, position)
    recording = make_waiting(form, KEY, position=position)
    answer_with(recording, KEY, text)
    return recording


def written(clock: Clock, words: str = WORDS) -> None:
    """Settle the oldest that waits."""
    transcripts.settle_written(claimed_at(clock), words, now=clock.now)


def complete(form: Any, clock: Clock) -> list[str]:
    queued = complete_response(form.share_token, KEY, responder_name="", now=clock.now)
    assert queued is not None
    return queued


def answers(form: Any) -> list[tuple[str, bool]]:
    """Text and whether it was superseded, oldest first."""
    db.session.rollback()
    found = select(Answer.answer_text, Answer.superseded).where(Answer.form_id == form.id)
    return [tuple(row) for row in db.session.execute(found.order_by(Answer.stamp))]


def due_at(delivery_id: str) -> Any:
    db.session.rollback()
    return db.session.scalars(
        select(EventDelivery.next_at).where(EventDelivery.id == delivery_id)
    ).one()


def row_of(form: Any) -> Form:
    db.session.rollback()
    return db.session.get_one(Form, form.id, populate_existing=True)


def test_late_words_are_a_new_answer_with_the_same_recording(form: Any, clock: Clock) -> None:
    recording = spoken(form)
    before, first = row_of(form), stored(recording).answer_id
    seen = (before.last_stamp, before.answered_count, before.started_count)
    size = before.answer_bytes
    written(clock)
    for _ in range(2):  # a second time changes nothing
        conclude(recording, now=clock.now)

    assert answers(form) == [("", True), (WORDS, False)]
    found = stored(recording)
    assert found.answer_id != first
    assert found.next_at is None
    late = db.session.get_one(Answer, found.answer_id)
    assert (late.response_type, late.word_count) == (ResponseType.VOICE, 3)
    session = db.session.scalars(select(ResponseSession)).one()
    assert session.answered == {form.questions[0]["id"]: late.id}
    after = row_of(form)
    assert (after.answered_count, after.started_count) == seen[1:]
    assert after.last_stamp == late.stamp > seen[0]
    assert after.answer_bytes == size + len(f"Who changed it?{WORDS}")
    (polled,) = read_responses(after, seen[0]).sessions
    assert [each.answer_text for each in polled.answers] == [WORDS]


@pytest.mark.parametrize("limit", ["multiple", "one"])
def test_they_reach_a_completed_response_of_a_closed_form_without_a_second_event(
    account: Account, app_context: None, clock: Clock, limit: str
) -> None:
    form = make_form(account.id, responseLimit=limit)
    make_subscription(form)
    recording = spoken(form)
    complete(form, clock)
    if limit == "multiple":
        close_form(form.account_id, form.id, now=clock.now)
    completed_at = row_of(form).completed_stamp
    written(clock)
    conclude(recording, now=clock.now)

    assert answers(form) == [("", True), (WORDS, False)]
    session = db.session.scalars(select(ResponseSession)).one()
    assert (session.status, session.completed_stamp) == (SessionStatus.COMPLETED, completed_at)
    assert db.session.scalar(select(func.count()).select_from(EventDelivery)) == 1


def test_what_the_person_wrote_stays(form: Any, clock: Clock) -> None:
    recording = spoken(form, text="It was Ann.")
    written(clock)
    conclude(recording, now=clock.now)

    assert answers(form) == [("It was Ann.", False)]
    assert stored(recording).transcript == WORDS
    assert state_of(recording)[2] is None


def test_an_answer_that_was_taken_back_stays_away(form: Any, clock: Clock) -> None:
    recording = spoken(form)
    written(clock)
    skip_question(form.share_token, KEY, position=0, now=clock.now)
    conclude(recording, now=clock.now)

    assert ("", True) in answers(form)
    assert WORDS not in [text for text, _ in answers(form)]


def test_what_was_withdrawn_stays_withdrawn(form: Any, clock: Clock) -> None:
    recording = spoken(form)
    held = claimed_at(clock)
    assert withdraw_response(form.share_token, KEY, now=clock.now)
    transcripts.settle_written(held, WORDS, now=clock.now)
    conclude(recording, now=clock.now)

    assert answers(form) == []
    assert db.session.get(Recording, recording) is None


def test_a_form_in_the_trash_gets_them_when_it_is_restored(form: Any, clock: Clock) -> None:
    recording = spoken(form)
    written(clock)
    delete_form(form.account_id, form.id, now=clock.now)
    conclude(recording, now=clock.now)
    assert answers(form) == [("", False)]
    assert transcripts.read_steps(now=clock.now) == []

    restore_form(form.account_id, form.id, now=clock.now)
    assert transcripts.read_steps(now=clock.now) == [recording]
    conclude(recording, now=clock.now)
    assert answers(form) == [("", True), (WORDS, False)]


def test_no_backlog_of_recordings_stands_before_them(form: Any, clock: Clock) -> None:
    recording = spoken(form)
    written(clock)
    for _ in range(transcripts.LOOKED_AT + 1):
        make_waiting(form, next_at=clock.now - timedelta(seconds=5))

    assert transcripts.read_steps(now=clock.now) == [recording]


def test_a_full_form_keeps_them_beside_the_recording(
    form: Any, clock: Clock, monkeypatch: pytest.MonkeyPatch
) -> None:
    recording = spoken(form)
    written(clock)
    limit_form_bytes(monkeypatch, row_of(form).answer_bytes)
    conclude(recording, now=clock.now)

    assert answers(form) == [("", False)]
    assert stored(recording).transcript == WORDS


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

    assert transcripts.read_steps(now=clock.now) == [unseen]
    conclude(unseen, now=clock.now)
    conclude(shown, now=clock.now)
    assert answers(form)[-1] == (WORDS, False)
    assert [text for text, superseded in answers(form) if not superseded] == ["", WORDS]


def test_a_state_of_the_session_that_was_read_before_them_is_out_of_date(
    form: Any, clock: Clock
) -> None:
    active = select(ResponseSession.last_active_at)
    recording = spoken(form)
    before = db.session.scalars(active).one()
    written(clock)
    conclude(recording, now=clock.now)

    assert db.session.scalars(active).one() == before + timedelta(milliseconds=1)


def test_the_event_waits_for_the_words_and_no_longer(form: Any, clock: Clock) -> None:
    make_subscription(form)
    recordings = [spoken(form), spoken(form, position=1)]
    (delivery,) = complete(form, clock)
    assert due_at(delivery) == clock.now + timedelta(seconds=60)

    clock.forward(seconds=2)
    written(clock)
    assert conclude(recordings[0], now=clock.now) == []
    assert due_at(delivery) == clock.now + timedelta(seconds=58)
    transcripts.settle(claimed_at(clock), TranscriptState.SILENT, now=clock.now)

    assert conclude(recordings[1], now=clock.now) == [delivery]
    assert due_at(delivery) == clock.now
    assert conclude(recordings[1], now=clock.now) == []


def test_after_the_last_attempt_nothing_waits_any_more(form: Any, clock: Clock) -> None:
    make_subscription(form)
    recording = spoken(form)
    (delivery,) = complete(form, clock)
    for _ in range(3):
        transcripts.settle_failed(claimed_at(clock), now=clock.now)
        clock.forward(seconds=10)
        db.session.execute(Recording.__table__.update().values(next_at=clock.now))
        db.session.commit()

    assert conclude(recording, now=clock.now) == [delivery]
    assert due_at(delivery) == clock.now


def test_an_event_that_was_tried_or_cancelled_is_left_alone(form: Any, clock: Clock) -> None:
    make_subscription(form)
    recording = spoken(form)
    (delivery,) = complete(form, clock)
    row = db.session.get_one(EventDelivery, delivery)
    row.state = DeliveryState.CANCELLED
    db.session.commit()
    written(clock)

    assert conclude(recording, now=clock.now) == []


def test_without_words_to_come_the_event_is_due_at_once(form: Any, clock: Clock) -> None:
    make_subscription(form)
    make_answer(form, KEY)
    answer_with(make_waiting(form, KEY, transcriber=""), KEY)

    assert due_at(complete(form, clock)[0]) == clock.now
