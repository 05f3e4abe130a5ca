"""Recordings at the same moment: claimed, swept, replaced, taken back."""

import threading
import time
from collections import Counter
from collections.abc import Callable
from datetime import timedelta
from functools import partial
from typing import Any

import pytest
from flask import Flask
from sqlalchemy import delete, select

from tests.databases import both_databases, on_postgresql
from tests.races.threads import (
    KEY,
    Call,
    answer,
    each_statement,
    outcome,
    rows,
    skip,
    together,
    waits,
    withdraw,
)
from tests.services import wait_until
from tests.voice.factories import make_recording, make_voice_form, upload as make_upload
from webapp.answers.session import QuestionNumber
from webapp.base.database import db, utc_now
from webapp.records.responses.models import Answer, ResponseSession
from webapp.records.responses.recordings import ObjectDeletion, Recording
from webapp.voice.uploads import RECORDING_MAX_BYTES, RECORDINGS_MAX_BYTES, Bounds, purge_unclaimed

ATTEMPTS = pytest.mark.parametrize("attempt", range(3))


@pytest.fixture
def form(app: Flask) -> Any:
    with app.app_context():
        return make_voice_form()


def uploaded(app: Flask, form: Any, count: int = 1, **fields: Any) -> list[Recording]:
    with app.app_context():
        made = [make_recording(form, KEY, **fields) for _ in range(count)]
        db.session.commit()
    return made


def give(
    form: Any, recording: Recording, text: str = "", answer_key: str = ""
) -> Callable[[], str]:
    return outcome(answer(form, text, answer_key=answer_key, recording_id=recording.id))


def upload(form: Any, upload_key: str, size: int = 4000, *, key: str = KEY, **given: Any) -> Call:
    """Returns the key of the object that is kept."""
    return lambda: make_upload(form, key, upload_key=upload_key, size=size, **given).object_key


def sweep() -> int:
    """Deletes every recording that no answer claims."""
    return sum(purge_unclaimed(utc_now() + timedelta(days=2)))


def check(app: Flask, form: Any, made: list[Recording]) -> str | None:
    """The recording of the current answer, None without one; every object is where it belongs."""
    with app.app_context():
        held = dict(map(tuple, db.session.execute(select(Recording.object_key, Recording.id))))
        noted = set(db.session.scalars(select(ObjectDeletion.object_key)))
        answers = select(Answer.id, Answer.response_type).where(Answer.superseded.is_(False))
        current = dict(map(tuple, db.session.execute(answers)))
        claims = select(Recording.answer_id, Recording.id).where(Recording.answer_id.is_not(None))
        claimed = dict(map(tuple, db.session.execute(claims)))
        sessions = list(db.session.scalars(select(ResponseSession.answered)))
    assert not held.keys() & noted
    assert {each.object_key for each in made} <= held.keys() | noted
    assert claimed.keys() == {each for each, kind in current.items() if kind == "voice"}
    assert [each for answered in sessions for each in answered.values()] == list(current)
    assert len(claimed) <= 1
    return next(iter(claimed.values()), None)


@both_databases
@ATTEMPTS
def test_an_answer_alongside_the_sweep_is_stored_whole_or_refused(
    app: Flask, form: Any, attempt: int
) -> None:
    (mine,) = made = uploaded(app, form)

    answered, swept = together(app, [give(form, mine, "Me"), sweep])

    assert (answered, swept) in {("1", 0), ("recording_unknown", 1)}
    assert check(app, form, made) == (mine.id if swept == 0 else None)


@on_postgresql
@pytest.mark.parametrize("earlier", [[], ["Before"]])
def test_an_answer_that_waited_for_the_sweep_stores_nothing(
    app: Flask, form: Any, earlier: list[str]
) -> None:
    for each in earlier:
        together(app, [answer(form, each)])
    (mine,) = made = uploaded(app, form)
    deleted = threading.Event()

    def swept_meanwhile() -> str:
        with db.engine.connect() as sweeping:
            sweeping.execute(delete(Recording).where(Recording.id == mine.id))
            deleted.set()
            wait_until(lambda: waits(app), "the answer waits")
            sweeping.commit()
        return "swept"

    def then_answer() -> str:
        deleted.wait(30)
        return give(form, mine, "Me")()

    answered, _ = together(app, [then_answer, swept_meanwhile])

    assert answered == "recording_unknown"
    assert check(app, form, made) is None
    with app.app_context():
        assert list(db.session.scalars(select(Answer.answer_text))) == earlier
    assert rows(app, ResponseSession) == len(earlier)


@both_databases
@ATTEMPTS
def test_two_tabs_with_a_recording_each_leave_one(app: Flask, form: Any, attempt: int) -> None:
    made = uploaded(app, form, 2)

    results = together(app, [give(form, each, "Me") for each in made])

    assert Counter(results) == {"1": 1, "recording_unknown": 1}
    assert check(app, form, made) == made[results.index("1")].id


@both_databases
@pytest.mark.parametrize("beside", [skip, withdraw, partial(answer, text="Typed")])
def test_an_answer_alongside_what_takes_its_recording_back(
    app: Flask, form: Any, beside: Callable[[Any], Call]
) -> None:
    together(app, [answer(form, "Before")])
    (mine,) = made = uploaded(app, form)

    results = together(app, [give(form, mine, "Me"), outcome(beside(form))])

    assert results[0] in {"1", "recording_unknown"}
    assert check(app, form, made) in {mine.id, None}


@both_databases
@pytest.mark.parametrize(
    ("shared", "most"),
    [("session", RECORDINGS_MAX_BYTES // RECORDING_MAX_BYTES), ("address", 3), ("form", 3)],
)
def test_first_uploads_at_once_share_the_room(app: Flask, shared: str, most: int) -> None:
    """Of a session, of one address to several forms, or of several addresses to one form.

    Each is to another question, so that none makes room for the next; all count before they store.
    """
    bounds = Bounds(12 * RECORDING_MAX_BYTES, 3 * RECORDING_MAX_BYTES)

    def pause(_connection: Any, _cursor: Any, statement: str, *_: Any) -> None:
        if statement.startswith("INSERT INTO recordings"):
            time.sleep(0.1)

    with app.app_context():
        questions = [f"What happened on day {n}?" for n in range(5)]
        forms = [make_voice_form(questions=questions) for _ in range(1 + (shared == "address"))]
    uploads = [
        upload(
            forms[number % len(forms)],
            f"recorder-{number}",
            RECORDING_MAX_BYTES,
            at=QuestionNumber(number % 5 + 1),
            key=KEY if shared == "session" else f"{number:x}" * 32,
            address_hash="e" if shared == "address" else str(number),
            bounds=Bounds() if shared == "session" else bounds,
        )
        for number in range(5 if shared == "session" else 12)
    ]
    with each_statement(app, "before_cursor_execute", pause):
        stored = together(app, map(outcome, uploads))

    with app.app_context():
        kept = set(db.session.scalars(select(Recording.object_key)))
        noted = set(db.session.scalars(select(ObjectDeletion.object_key)))
    assert len(kept) == most
    assert kept | noted == set(stored)


@both_databases
@ATTEMPTS
def test_an_upload_that_needs_room_takes_none_that_an_answer_claims(
    app: Flask, form: Any, attempt: int
) -> None:
    made = uploaded(app, form, 2, size=RECORDING_MAX_BYTES, address_hash="e")
    bounds = Bounds(address=2 * RECORDING_MAX_BYTES)
    sent = {"key": "b" * 32, "address_hash": "e", "bounds": bounds}

    answered, added = together(
        app,
        [
            give(form, made[0], "Me"),
            outcome(upload(form, "recorder-1", RECORDING_MAX_BYTES, **sent)),
        ],
    )

    assert answered in {"1", "recording_unknown"}
    assert added != "recordings_full"
    assert check(app, form, made) == (made[0].id if answered == "1" else None)
