"""Uploads: rows of recordings before an answer claims them."""

import secrets
from typing import Any

import pytest
from sqlalchemy import func, select

from tests.databases import both_databases
from tests.factories import make_answer
from tests.voice.factories import make_voice_form, upload
from webapp.answers.answering import answer_question
from webapp.answers.session import RecordingShown
from webapp.answers.trash import delete_form
from webapp.base.database import db, utc_now
from webapp.base.errors import Outcome
from webapp.records.forms import close_form
from webapp.records.responses.recordings import Recording
from webapp.voice.transcripts import claim, settle_written
from webapp.voice.uploads import check_upload

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


def test_the_same_upload_key_of_another_session_is_another_upload(form: Any) -> None:
    add(form, upload_key="recorder-1")
    add(form, "b" * 32, upload_key="recorder-1")

    assert count() == 2


def test_the_upload_key_of_another_question_is_refused(form: Any) -> None:
    add(form, upload_key="recorder-1")

    assert refused(add, form, upload_key="recorder-1", position=1) == "form_unreadable"


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
