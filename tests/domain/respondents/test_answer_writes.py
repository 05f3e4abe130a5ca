"""The parts that write an answer or a completion: each defined once, all of them or none stored."""

from typing import Any

import pytest
from sqlalchemy import select, update

from tests.bulk import dump
from tests.databases import both_databases
from tests.factories import make_account, make_answer, make_form
from tests.voice.factories import make_recording, make_voice_form
from webapp.answers.answer_writes import NewAnswer, store_answer
from webapp.answers.answering import complete_response
from webapp.answers.session import read_open_session
from webapp.base.database import db, utc_now
from webapp.base.text import token_hash
from webapp.base.vocabulary import QuestionKind
from webapp.records.forms import Form
from webapp.records.responses.counters import QuestionCount
from webapp.records.responses.models import Answer, ResponseSession
from webapp.records.responses.recordings import ObjectDeletion, Recording

KEY = "a" * 32
first_or_later = pytest.mark.parametrize("earlier", [[], ["Before"]])


@pytest.fixture
def form(app_context: None) -> Any:
    return make_form(make_account().id)


@pytest.fixture
def voice_form(app_context: None) -> Any:
    return make_voice_form()


def uploaded(form: Any, key: str = KEY, **changed: Any) -> str:
    """The id of a recording that no answer has claimed."""
    recording_id: str = make_recording(form, key, **changed).id
    db.session.commit()
    return recording_id


def new_answer(form: Any, text: str = "Me", **given: Any) -> NewAnswer:
    question = form.questions[0]
    return NewAnswer(question["id"], question["text"], text, f"render of {text}", **given)


def follow_up(form: Any, text: str = "Because", **given: Any) -> NewAnswer:
    return new_answer(form, text, **given)._replace(
        question_id="q_why",
        question_text="Why?",
        question_kind=QuestionKind.FOLLOW_UP,
        parent_question_id=form.questions[0]["id"],
    )


def store(form: Any, answer: NewAnswer, **given: Any) -> bool:
    return store_answer(read_open_session(form.share_token, KEY), answer, now=utc_now(), **given)


def stored() -> list[Answer]:
    return list(db.session.scalars(select(Answer).order_by(Answer.stamp)))


def session() -> ResponseSession:
    return db.session.scalars(select(ResponseSession)).one()


def session_of(key: str) -> ResponseSession:
    of_key = select(ResponseSession).where(ResponseSession.key_hash == token_hash(key))
    return db.session.scalars(of_key).one()


def recordings() -> dict[str, tuple[str | None, str | None]]:
    """Answer and session by id of the recording."""
    found = db.session.execute(select(Recording.id, Recording.answer_id, Recording.session_id))
    return {row.id: (row.answer_id, row.session_id) for row in found}


@both_databases
@first_or_later
def test_every_field_of_an_answer_is_stored(form: Any, earlier: list[str]) -> None:
    for text in earlier:
        store(form, new_answer(form, text))

    assert store(form, follow_up(form))

    *_, answer = stored()
    assert (answer.question_id, answer.question_text, answer.answer_text) == (
        "q_why",
        "Why?",
        "Because",
    )
    assert (answer.response_type, answer.question_kind) == ("text", "followup")
    assert answer.parent_question_id == form.questions[0]["id"]
    assert session().answered["q_why"] == answer.id


@both_databases
def test_an_answer_is_typed_and_scripted_unless_it_says_otherwise(form: Any) -> None:
    store(form, new_answer(form))

    (answer,) = stored()
    assert (answer.response_type, answer.question_kind) == ("text", "scripted")
    assert answer.parent_question_id is None


@both_databases
def test_a_follow_up_counts_for_its_session_but_not_by_question(form: Any) -> None:
    store(form, new_answer(form))
    store(form, follow_up(form))

    assert session().answer_count == 2
    counted = db.session.execute(select(QuestionCount.question_id, QuestionCount.answered))
    assert [tuple(row) for row in counted] == [(form.questions[0]["id"], 1)]


@both_databases
def test_a_session_that_has_changed_stores_nothing(form: Any) -> None:
    store(form, new_answer(form))
    state = read_open_session(form.share_token, KEY)
    store(form, new_answer(form, "Mira"))
    before = dump()

    assert not store_answer(state, new_answer(form, "Robin"), now=utc_now())
    assert dump() == before


@both_databases
@first_or_later
def test_an_answer_claims_its_recording_and_deletes_the_others(
    voice_form: Any, earlier: list[str]
) -> None:
    for text in earlier:
        store(voice_form, new_answer(voice_form, text))
    mine, other = uploaded(voice_form), uploaded(voice_form)
    elsewhere = uploaded(voice_form, position=1)
    somebody = uploaded(voice_form, "b" * 32)

    assert store(voice_form, new_answer(voice_form, recording_id=mine))

    answer = stored()[-1]
    assert answer.response_type == "voice"
    unclaimed = {elsewhere: (None, None), somebody: (None, None)}
    assert recordings() == {mine: (answer.id, session().id)} | unclaimed
    assert other not in recordings()
    assert len(list(db.session.scalars(select(ObjectDeletion)))) == 1


@both_databases
@first_or_later
def test_a_follow_up_claims_a_recording_too(voice_form: Any, earlier: list[str]) -> None:
    for text in earlier:
        store(voice_form, follow_up(voice_form, text))
    mine = uploaded(voice_form, question_id="q_why")

    assert store(voice_form, follow_up(voice_form, recording_id=mine))
    assert recordings() == {mine: (stored()[-1].id, session().id)}


@both_databases
@first_or_later
def test_an_answer_to_a_full_form_claims_no_recording(voice_form: Any, earlier: list[str]) -> None:
    for text in earlier:
        store(voice_form, new_answer(voice_form, text))
    mine = uploaded(voice_form)
    uploaded(voice_form)
    before = dump()

    answer = new_answer(voice_form, recording_id=mine)
    assert not store(voice_form, answer, form_bytes_max=1)
    assert dump() == before


@both_databases
@first_or_later
def test_a_recording_that_cannot_be_claimed_stores_nothing(
    voice_form: Any, earlier: list[str]
) -> None:
    for text in earlier:
        store(voice_form, new_answer(voice_form, text))
    other_form = make_voice_form()
    strange = [
        uploaded(voice_form, "b" * 32),
        uploaded(voice_form, position=1),
        uploaded(other_form, question_id=voice_form.questions[0]["id"]),
        "att_unknown",
    ]
    uploaded(voice_form)
    before = dump()

    for recording_id in strange:
        assert not store(voice_form, new_answer(voice_form, recording_id=recording_id))
    assert dump() == before


@both_databases
def test_a_recording_of_another_answer_is_not_claimed(voice_form: Any) -> None:
    mine = uploaded(voice_form)
    store(voice_form, new_answer(voice_form, recording_id=mine))
    make_answer(voice_form, "b" * 32)
    others = db.session.scalars(
        select(ResponseSession.answered).where(ResponseSession.id != session_of(KEY).id)
    ).one()
    held_by = next(iter(others.values()))
    db.session.execute(update(Recording).values(answer_id=held_by))
    db.session.commit()
    before = dump()

    assert not store(voice_form, new_answer(voice_form, "Again", recording_id=mine))
    assert dump() == before


@both_databases
def test_answers_and_completions_take_their_stamps_one_after_the_other(form: Any) -> None:
    make_answer(form, KEY)

    complete_response(form.share_token, KEY, responder_name="", now=form.published_at)

    (answer,) = stored()
    newest = db.session.scalar(select(Form.last_stamp).where(Form.id == form.id))
    assert session().completed_stamp == newest == answer.stamp + 1
