"""A recording's row never goes without a note that its object is to be erased."""

import secrets

from flask import Flask
from sqlalchemy import select

from tests.databases import both_databases
from tests.factories import make_account, make_answer, make_form
from tests.voice.factories import make_recording
from webapp.answers.answering import withdraw_response
from webapp.base.database import db, utc_now
from webapp.records.responses.recordings import ObjectDeletion, Recording


@both_databases
def test_what_deletes_a_recording_notes_its_object_in_the_same_transaction(app: Flask) -> None:
    with app.app_context():
        recording = make_recording(make_form(make_account().id), secrets.token_urlsafe(24))
        key = recording.object_key
        db.session.commit()

        db.session.delete(recording)
        db.session.flush()
        noted = db.session.get_one(ObjectDeletion, key).noted_at
        db.session.rollback()

        assert abs(noted - utc_now().timestamp() * 1000) < 60_000
        assert db.session.get(ObjectDeletion, key) is None


@both_databases
def test_withdrawing_deletes_recordings_that_no_answer_claimed(app: Flask) -> None:
    with app.app_context():
        form, session_key = make_form(make_account().id), secrets.token_urlsafe(24)
        make_answer(form, session_key)
        mine = make_recording(form, session_key).object_key
        other = make_recording(form, secrets.token_urlsafe(24)).object_key
        db.session.commit()

        withdraw_response(form.share_token, session_key, now=utc_now())

        assert list(db.session.scalars(select(Recording.object_key))) == [other]
        assert list(db.session.scalars(select(ObjectDeletion.object_key))) == [mine]
