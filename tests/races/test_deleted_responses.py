"""Deleting responses beside whatever else may happen to them at the same moment."""

from collections import Counter
from datetime import timedelta
from functools import partial
from typing import Any

import pytest
from flask import Flask
from sqlalchemy import select

from tests.bulk import dump
from tests.databases import both_databases
from tests.factories import make_account, make_answer, make_form, make_response
from tests.races.test_crash_points import run_cut
from tests.races.threads import KEY, Call, allowed, by_creator, rows, send, together, withdraw
from tests.voice.factories import make_recording, make_voice_form
from webapp.answers.late_transcripts import conclude
from webapp.answers.trash import (
    delete_response,
    list_deletions,
    purge_deleted_responses,
    undo_deletion,
)
from webapp.base.database import db, utc_now
from webapp.base.vocabulary import TranscriptState
from webapp.records.forms import get_form
from webapp.records.responses.cursor import read_responses
from webapp.records.responses.models import Answer, ResponseDeletion, ResponseSession, count_bytes
from webapp.records.responses.recordings import ObjectDeletion

LATER = timedelta(seconds=30)
ATTEMPTS = pytest.mark.parametrize("attempt", range(3))

pytestmark = both_databases


@pytest.fixture
def form(app: Flask) -> Any:
    with app.app_context():
        form = make_form(make_account().id, responseLimit="one")
        make_response(form, KEY)
        return form


def session_id(app: Flask) -> str:
    with app.app_context():
        return db.session.scalars(select(ResponseSession.id)).one()


def delete(form: Any, response_id: str) -> Call:
    return allowed(by_creator(delete_response, form, response_id))


def purge() -> int:
    return sum(purge_deleted_responses(utc_now() + LATER))


def scheduled(app: Flask, form: Any) -> str:
    """The id of the deletion of the only response."""
    delete_it = delete(form, session_id(app))
    with app.app_context():
        delete_it()
        return list_deletions(form.id)[0].id


def assert_counted(app: Flask, form: Any, responses: int | None = None) -> None:
    """The counters of the form say what is stored, and agents read just that."""
    with app.app_context():
        now = get_form(form.account_id, form.id)
        sessions = db.session.scalars(select(ResponseSession)).all()
        answers = db.session.scalars(select(Answer)).all()
        done = [each for each in sessions if each.completed_stamp is not None]
        counted = (now.started_count, now.answered_count, now.response_count, now.answer_bytes)
        sizes = sum(count_bytes(each.question_text, each.answer_text) for each in answers)
        assert counted == (
            len(sessions),
            sum(bool(each.answer_count) or each in done for each in sessions),
            len(done),
            sizes,
        )
        assert now.completed_stamp == max((each.completed_stamp for each in done), default=None)
        read = [each.session.id for each in read_responses(now, None).sessions]
        assert set(read) == {each.session_id for each in answers}
        assert responses in (None, now.response_count)


def test_eight_processes_carry_a_deletion_out_once(app: Flask, form: Any) -> None:
    scheduled(app, form)

    assert Counter(together(app, [purge] * 8)) == {1: 1, 0: 7}

    assert_counted(app, form, 0)
    with app.app_context():
        assert get_form(form.account_id, form.id).status == "published"
    assert rows(app, ResponseDeletion) == 0


@ATTEMPTS
def test_an_undo_at_the_last_moment_restores_it_or_comes_too_late(
    app: Flask, form: Any, attempt: int
) -> None:
    deletion_id = scheduled(app, form)

    undone, deleted, _ = together(app, [by_creator(undo_deletion, form, deletion_id), purge, purge])

    assert_counted(app, form, 0 if undone is None else 1)
    assert undone is None or deleted == 0
    assert rows(app, ResponseDeletion) == 0


@ATTEMPTS
def test_a_late_transcript_revives_nothing(app: Flask, attempt: int) -> None:
    with app.app_context():
        form = make_voice_form()
        written = {"transcript_state": TranscriptState.DONE, "transcript": "Heard"}
        recording: str = make_recording(form, KEY, **written, next_at=utc_now()).id
        db.session.commit()
        make_answer(form, KEY, text="", recording_id=recording)
    scheduled(app, form)

    together(app, [purge, partial(conclude, recording, now=utc_now())])

    assert_counted(app, form, 0)
    assert (rows(app, Answer), rows(app, ObjectDeletion)) == (0, 1)


@ATTEMPTS
def test_what_is_sent_at_that_moment_goes_too_or_is_a_new_response(
    app: Flask, attempt: int
) -> None:
    with app.app_context():
        form = make_form(make_account().id)
        make_answer(form, KEY)
    deleted_id = session_id(app)
    scheduled(app, form)

    together(app, [purge, allowed(send(form)), allowed(partial(make_answer, form, KEY, 1))])

    assert_counted(app, form)
    with app.app_context():
        assert db.session.get(ResponseSession, deleted_id) is None
        assert rows(app, Answer) <= 1


def test_killed_before_any_statement_it_is_finished_by_the_next(app: Flask, form: Any) -> None:
    scheduled(app, form)
    ends, at = [], 1
    with app.app_context():
        begun = {name: len(found) for name, found in dump().items()}
        while not run_cut(purge, at):
            left = {name: len(found) for name, found in dump().items()}
            whole = left["response_sessions"] == begun["response_sessions"]
            assert left["answers"] == (begun["answers"] if whole else 0)
            ends.append(whole)
            at += 1

    assert (ends[0], ends[-1]) == (True, False)
    assert_counted(app, form, 0)
    assert rows(app, ResponseDeletion) == 0


@ATTEMPTS
@pytest.mark.parametrize("is_scheduled", [True, False])
def test_alongside_a_withdrawal_it_is_gone_once_and_nothing_is_left_scheduled(
    app: Flask, form: Any, attempt: int, *, is_scheduled: bool
) -> None:
    if is_scheduled:
        scheduled(app, form)
    call = purge if is_scheduled else delete(form, session_id(app))

    result, withdrawn = together(app, [call, withdraw(form)])

    if is_scheduled:
        assert result + withdrawn == 1
    else:
        assert withdrawn is True
        assert result in (None, "not_found")
    assert rows(app, ResponseDeletion) == 0
    assert_counted(app, form, 0)
