"""Words written down late, beside what their respondent does at the same moment."""

from collections.abc import Callable
from functools import partial
from typing import Any

import pytest
from flask import Flask
from sqlalchemy import select

from tests.databases import both_databases
from tests.event_factories import make_subscription
from tests.factories import make_answer
from tests.races.threads import KEY, Call, answer, by_creator, rows, send, skip, together, withdraw
from tests.voice.factories import make_recording, make_voice_form
from webapp.answers.late_transcripts import conclude
from webapp.base.database import db, utc_now
from webapp.base.vocabulary import TranscriptState
from webapp.records.events import EventDelivery
from webapp.records.forms import close_form, get_form
from webapp.records.responses.cursor import read_responses
from webapp.records.responses.models import Answer
from webapp.records.responses.recordings import ObjectDeletion, Recording

HEARD = "What was heard"

pytestmark = [both_databases, pytest.mark.parametrize("attempt", range(2))]


@pytest.fixture
def form(app: Flask) -> Any:
    with app.app_context():
        return make_voice_form()


@pytest.fixture
def spoken(app: Flask, form: Any) -> str:
    """The id of the recording of an answer without words, which were written down meanwhile."""
    with app.app_context():
        now = utc_now()
        done = {"transcript_state": TranscriptState.DONE, "transcript": HEARD}
        written = {"transcriber": "speech.example.org", "next_at": now, **done}
        recording_id: str = make_recording(form, KEY, **written).id
        db.session.commit()
        make_answer(form, KEY, text="", recording_id=recording_id)
    return recording_id


def beside_words(app: Flask, recording_id: str, call: Call) -> list[tuple[str, str | None]]:
    """Text and recording of the current answers after both; the words settle what they left."""
    words = partial(conclude, recording_id, now=utc_now())
    together(app, [call, words])
    together(app, [words])
    with app.app_context():
        query = (
            select(Answer.answer_text, Recording.id)
            .outerjoin(Recording, Recording.answer_id == Answer.id)
            .where(Answer.superseded.is_(False))
        )
        return [(row[0], row[1]) for row in db.session.execute(query)]


def as_polled(app: Flask, form: Any) -> list[str]:
    """The texts that an agent reads from the beginning."""
    with app.app_context():
        page = read_responses(get_form(form.account_id, form.id), None)
        return [answer.answer_text for entry in page.sessions for answer in entry.answers]


def give(form: Any, recording_id: str, text: str = "", **given: Any) -> Call:
    return answer(form, text, recording_id=recording_id, **given)


# what is done, the words that are left, whose recording they have, how many are erased
MEANWHILE: dict[str, tuple[Callable[[Any, str, str], Call], str, int, int]] = {
    "words of their own": (lambda form, spoken, _: give(form, spoken, "Me"), "Me", 0, 1),
    "a page without words": (lambda form, spoken, _: give(form, spoken, blank=True), HEARD, 0, 0),
    "another recording": (lambda form, _, other: give(form, other), "", 1, 1),
}


@pytest.mark.parametrize("meanwhile", MEANWHILE)
def test_what_the_person_did_stays(
    app: Flask, form: Any, spoken: str, attempt: int, meanwhile: str
) -> None:
    with app.app_context():
        other: str = make_recording(form, KEY).id
        db.session.commit()
    act, text, whose, gone = MEANWHILE[meanwhile]
    held = [spoken, other, None][whose]

    assert beside_words(app, spoken, act(form, spoken, other)) == [(text, held)]
    assert as_polled(app, form) == [text]
    assert rows(app, ObjectDeletion) == gone


@pytest.mark.parametrize("take_back", [skip, withdraw])
def test_what_was_taken_back_is_not_revived(
    app: Flask, form: Any, spoken: str, attempt: int, take_back: Callable[[Any], Call]
) -> None:
    assert beside_words(app, spoken, take_back(form)) == []
    assert (as_polled(app, form), rows(app, ObjectDeletion)) == ([], 1)
    if take_back is withdraw:
        with app.app_context():
            after = get_form(form.account_id, form.id)
            assert (after.answer_bytes, after.started_count, after.answered_count) == (0, 0, 0)


def test_they_reach_a_response_that_is_sent_and_a_form_that_closes(
    app: Flask, form: Any, spoken: str, attempt: int
) -> None:
    """The event of the response waits for them, and is due then."""
    with app.app_context():
        make_subscription(form)

    words = partial(conclude, spoken, now=utc_now())
    for calls in [[send(form)], [words]] if attempt else [[send(form), words]]:
        together(app, calls)
    with app.app_context():
        (due,) = db.session.scalars(select(EventDelivery.next_at))
    assert due <= utc_now()
    assert beside_words(app, spoken, by_creator(close_form, form)) == [(HEARD, spoken)]
    assert as_polled(app, form) == [HEARD]
