"""Uploads: rows of recordings before an answer claims them."""

import secrets
from typing import Any

import pytest
from sqlalchemy import func, select, update

from tests.databases import both_databases
from tests.factories import make_answer
from tests.voice.factories import make_voice_form, upload
from webapp.answers.answering import answer_question
from webapp.answers.public_form import RecordingShown
from webapp.answers.trash import delete_form
from webapp.base.database import db, utc_now
from webapp.base.errors import Outcome
from webapp.base.text import token_hash
from webapp.base.vocabulary import TranscriptState
from webapp.records.forms import Form, close_form
from webapp.records.responses.recordings import Recording
from webapp.voice.transcripts import claim, settle_written
from webapp.voice.uploads import check_upload, find_recording

KEY = "a" * 32

pytestmark = both_databases


@pytest.fixture
def form(app_context: None) -> Any:
    return make_voice_form()


def add(form: Any, key: str = KEY, **changed: Any) -> RecordingShown:
    return upload(form, key, **changed)


def refused(call: Any, *arguments: Any, **given: Any) -> str:
    """The code of the refusal, which stored nothing."""
    before = count()
    with pytest.raises(Outcome) as caught:
        call(*arguments, **given)
    db.session.rollback()
    assert count() == before
    return caught.value.code


def count(of: Any = Recording) -> int:
    return db.session.scalar(select(func.count()).select_from(of)) or 0


def row() -> Recording:
    return db.session.scalars(select(Recording).execution_options(populate_existing=True)).one()


def test_an_upload_is_stored_with_what_we_measured(form: Any) -> None:
    now = utc_now()

    added = add(form, position=1, upload_key="recorder-1", object_key="there.webm", now=now)

    stored = row()
    assert (stored.form_id, stored.question_id) == (form.id, form.questions[1]["id"])
    assert (stored.key_hash, stored.upload_key) == (token_hash(KEY), "recorder-1")
    assert (stored.session_id, stored.answer_id) == (None, None)
    assert (stored.media_type, stored.size, stored.duration_ms) == ("audio/webm", 4000, 1200)
    assert (stored.transcript_state, stored.next_at) == (TranscriptState.WAITING, None)
    assert (stored.created_at, stored.attempts, stored.transcript) == (now, 0, None)
    assert (added.id, added.object_key, added.claimed) == (stored.id, "there.webm", False)
    assert stored.id.startswith("att_")


def test_the_hash_of_an_address_is_erased_once_an_answer_has_its_words(form: Any) -> None:
    added = add(form, address_hash="e" * 64)
    assert row().address_hash == "e" * 64

    values = {"position": 0, "answer_text": "", "answer_key": secrets.token_urlsafe(16)}
    answer_question(form.share_token, KEY, recording_id=added.id, now=utc_now(), **values)
    held = claim(now=utc_now())
    assert held
    assert row().address_hash == "e" * 64
    settle_written(held, "Ben did.", now=utc_now())

    assert (row().answer_id is None, row().address_hash) == (False, None)


def test_the_same_upload_key_keeps_the_first(form: Any) -> None:
    first = add(form, upload_key="recorder-1")

    again = add(form, upload_key="recorder-1", size=9, duration_ms=9)

    assert again == first
    assert count() == 1


def test_the_same_upload_key_of_another_session_is_another_upload(form: Any) -> None:
    add(form, upload_key="recorder-1")
    add(form, "b" * 32, upload_key="recorder-1")

    assert count() == 2


def test_the_upload_key_of_another_question_is_refused(form: Any) -> None:
    add(form, upload_key="recorder-1")

    assert refused(add, form, upload_key="recorder-1", position=1) == "form_unreadable"


@pytest.mark.parametrize(
    ("named_host", "stored"),
    [(None, "api.example.com"), ("api.example.com", "api.example.com"), ("", ""), ("other", "")],
)
def test_only_the_host_that_the_page_named_gets_a_recording(
    form: Any, named_host: str | None, stored: str
) -> None:
    db.session.execute(update(Form).values(transcriber="api.example.com"))
    db.session.commit()

    add(form, named_host=named_host)

    assert row().transcriber == stored


def test_a_recording_is_found_by_its_own_session_and_form_only(form: Any) -> None:
    added = add(form)

    assert find_recording(form.share_token, "b" * 32, added.id) is None
    assert find_recording(make_voice_form().share_token, KEY, added.id) is None
    assert find_recording(form.share_token, KEY, "att_unknown") is None


@pytest.mark.parametrize("begun", [False, True])
def test_an_upload_is_refused_as_words_are(form: Any, *, begun: bool) -> None:
    if begun:
        make_answer(form, KEY)
    check = (form.share_token, KEY, 0)
    assert refused(check_upload, form.share_token, KEY, 2) == "question_unknown"
    assert refused(check_upload, form.share_token, KEY, -1) == "question_unknown"
    assert refused(check_upload, "no-such-form", KEY, 0) == "not_found"
    close_form(form.account_id, form.id, now=utc_now())
    assert refused(check_upload, *check) == "form_closed"
    assert refused(add, form) == "form_closed"
    delete_form(form.account_id, form.id, now=utc_now())
    assert refused(check_upload, *check) == "not_found"
    assert refused(add, form) == "not_found"
