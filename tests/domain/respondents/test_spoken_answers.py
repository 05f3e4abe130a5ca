"""Answers with a recording: given, repeated, corrected, skipped, withdrawn and refused."""

import secrets
from typing import Any

import pytest
from sqlalchemy import select

from tests.bulk import dump
from tests.databases import both_databases
from tests.factories import limit_form_bytes
from tests.voice.factories import make_recording, make_voice_form
from webapp.answers import answering
from webapp.answers.session import QuestionNumber
from webapp.base.database import db, utc_now
from webapp.base.errors import Outcome
from webapp.records.forms import Form
from webapp.records.responses.models import Answer
from webapp.records.responses.recordings import ObjectDeletion, Recording

KEY = "a" * 32
OTHER = "b" * 32
SIZE = 4000  # of a recording, in bytes

pytestmark = both_databases


@pytest.fixture
def form(app_context: None) -> Any:
    return make_voice_form()


def upload(form: Any, key: str = KEY, position: int = 0, size: int = SIZE) -> Recording:
    recording = make_recording(form, key, position, size=size)
    db.session.commit()
    return recording


def give(form: Any, recording_id: str = "", text: str = "", **given: Any) -> int | None:
    sent = {"position": 0, "answer_key": secrets.token_urlsafe(16)} | given
    session = answering.answer_question(
        form.share_token, KEY, answer_text=text, recording_id=recording_id, now=utc_now(), **sent
    ).session
    place = session.steps.next_place(QuestionNumber(1))
    return place and place.number - 1


def skip(form: Any) -> None:
    answering.skip_question(form.share_token, KEY, position=0, now=utc_now())


def current() -> Answer:
    return db.session.scalars(select(Answer).where(Answer.superseded.is_(False))).one()


def taken(form: Any) -> int:
    """Of the room of the form, in bytes."""
    return db.session.scalar(select(Form.answer_bytes).where(Form.id == form.id)) or 0


def kept() -> dict[str, str | None]:
    """The answer of each recording that is there."""
    return {row[0]: row[1] for row in db.session.execute(select(Recording.id, Recording.answer_id))}


def to_erase() -> set[str]:
    return set(db.session.scalars(select(ObjectDeletion.object_key)))


def refused(call: Any, *arguments: Any, **given: Any) -> str:
    """The code of the refusal, which stored nothing."""
    before = dump()
    with pytest.raises(Outcome) as caught:
        call(*arguments, **given)
    db.session.rollback()
    assert dump() == before
    return caught.value.code


def test_the_recordings_that_answers_have_count_for_the_form(form: Any) -> None:
    asked = len(form.questions[0]["text"])

    first = upload(form)
    assert taken(form) == 0
    give(form, first.id)
    assert taken(form) == SIZE + asked
    give(form, first.id, "Me")
    assert taken(form) == SIZE + 2 * asked + 2
    give(form, upload(form, size=3 * SIZE).id, "Me")
    assert taken(form) == 3 * SIZE + 3 * asked + 4
    give(form, text="Typed")
    assert taken(form) == 4 * asked + 9
    give(form, upload(form).id)
    skip(form)
    assert taken(form) == 5 * asked + 9
    give(form, upload(form).id)
    answering.withdraw_response(form.share_token, KEY, now=utc_now())
    assert taken(form) == 0


def test_a_form_has_room_for_a_recording_up_to_the_last_byte(
    form: Any, monkeypatch: pytest.MonkeyPatch
) -> None:
    recording, most = upload(form), SIZE + len(form.questions[0]["text"])

    for room in (1, most - 1):
        limit_form_bytes(monkeypatch, room)
        assert refused(give, form, recording.id) == "form_full"
    limit_form_bytes(monkeypatch, most)
    give(form, recording.id)
    assert refused(give, form, recording.id, ".") == "form_full"
    give(form, text=".")  # gives the room of the recording back


def test_a_repeat_after_a_correction_stores_nothing(form: Any) -> None:
    recording = upload(form)
    give(form, recording.id, answer_key="render-1")
    give(form, recording.id, "Me", answer_key="render-2")
    before = dump()

    assert give(form, recording.id, answer_key="render-1") == 1
    assert give(form, recording.id, "Me") == 1  # the current answer sent again
    assert dump() == before


def test_an_answer_key_with_another_recording_is_refused(form: Any) -> None:
    give(form, upload(form).id, "Me", answer_key="render-1")
    other = upload(form)

    assert refused(give, form, other.id, "Me", answer_key="render-1") == "answer_differs"
    assert refused(give, form, text="Me", answer_key="render-1") == "answer_differs"


def test_a_page_that_showed_no_words_may_give_others_or_another_recording(form: Any) -> None:
    first, second = upload(form), upload(form)
    give(form, first.id, "What was heard")

    give(form, first.id, "What was said", blank=True)
    assert current().answer_text == "What was said"

    third = upload(form)
    give(form, third.id, blank=True)
    assert current().answer_text == ""
    assert to_erase() == {first.object_key, second.object_key}


@pytest.mark.parametrize("typed", [True, False])
def test_typing_or_skipping_instead_erases_what_was_uploaded(form: Any, *, typed: bool) -> None:
    recording, somebody = upload(form), upload(form, OTHER)

    if typed:
        give(form, text="Me")
    else:
        skip(form)

    assert kept() == {somebody.id: None}
    assert to_erase() == {recording.object_key}


def test_withdrawing_erases_every_recording_of_the_session(form: Any) -> None:
    mine = [upload(form), upload(form, position=1)]
    somebody = upload(form, OTHER)
    give(form, mine[0].id)

    answering.withdraw_response(form.share_token, KEY, now=utc_now())

    assert kept() == {somebody.id: None}
    assert to_erase() == {each.object_key for each in mine}


def test_a_recording_of_somebody_or_something_else_is_refused(form: Any) -> None:
    somebody = upload(form, OTHER)
    of_another_form = make_recording(make_voice_form(), KEY, question_id=form.questions[0]["id"])
    strange = [somebody, upload(form, position=1), of_another_form]

    for recording_id in [*(each.id for each in strange), "att_unknown", "\U0001f600" * 50]:
        assert refused(give, form, recording_id, "Me") == "recording_unknown"
    give(form, text="Me")
    for recording_id in [*(each.id for each in strange), "att_unknown"]:
        assert refused(give, form, recording_id, "You") == "recording_unknown"
