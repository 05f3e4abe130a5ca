"""The parts that write an answer or a completion: each defined once, all of them or none stored."""

import re
from functools import partial
from pathlib import Path
from typing import Any, cast

import psycopg._queries as psycopg_queries
import pytest
from sqlalchemy import Table, Update, bindparam, select, update

from tests.bulk import dump
from tests.databases import both_databases, on_postgresql
from tests.factories import make_account, make_answer, make_form
from tests.query_plans import statements_of
from webapp.database import db, utc_now
from webapp.domain.forms.models import Form
from webapp.domain.respondents.answer_writes import Attachments, NewAnswer, store_answer
from webapp.domain.respondents.answering import complete_response
from webapp.domain.respondents.device_transfer import DeviceTransfer, create_transfer_link
from webapp.domain.respondents.session_state import read_session_state
from webapp.domain.responses.counters import QuestionCount
from webapp.domain.responses.models import Answer, ResponseSession
from webapp.domain.shared.vocabulary import QuestionKind, ResponseType

WEBAPP = Path(__file__).parents[3] / "webapp"
KEY = "a" * 32
LINK = cast(Table, DeviceTransfer.__table__)
first_or_later = pytest.mark.parametrize("earlier", [[], ["Before"]])
CLAIM = update(LINK).where(LINK.c.id == bindparam("link")).values(claimed_by=bindparam("id"))


@pytest.fixture
def form(app_context: None) -> Any:
    return make_form(make_account().id)


@pytest.fixture
def link(form: Any) -> DeviceTransfer:
    """A stored row that an answer can claim."""
    make_answer(form, "b" * 32)
    create_transfer_link(form.share_token, "b" * 32, now=utc_now())
    return db.session.scalars(select(DeviceTransfer)).one()


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
    return store_answer(read_session_state(form.share_token, KEY), answer, now=utc_now(), **given)


def stored() -> list[Answer]:
    return list(db.session.scalars(select(Answer).order_by(Answer.stamp)))


def session() -> ResponseSession:
    return db.session.scalars(select(ResponseSession)).one()


def claimed_by(link: DeviceTransfer) -> str | None:
    return db.session.scalar(select(DeviceTransfer.claimed_by).where(DeviceTransfer.id == link.id))


@pytest.mark.parametrize(
    "part",
    [
        r"last_stamp < ",
        r"insert\(_ANSWERS\)|INSERT INTO answers|insert\(Answer\)",
        r"superseded = |superseded=True",
        r"insert_into\(_QUESTIONS\)|INSERT INTO question_counts",
        r"insert_into\(_SESSIONS\)|INSERT INTO response_sessions|insert\(ResponseSession\)",
    ],
)
def test_each_part_is_defined_once_in_the_code(part: str) -> None:
    code = (path for path in WEBAPP.rglob("*.py") if "migrations" not in path.parts)

    assert sum(len(re.findall(part, path.read_text())) for path in code) == 1


@both_databases
@first_or_later
def test_every_field_of_an_answer_is_stored(form: Any, earlier: list[str]) -> None:
    for text in earlier:
        store(form, new_answer(form, text))

    assert store(form, follow_up(form, response_type=ResponseType.VOICE))

    *_, answer = stored()
    assert (answer.question_id, answer.question_text, answer.answer_text) == (
        "q_why",
        "Why?",
        "Because",
    )
    assert (answer.response_type, answer.question_kind) == ("voice", "followup")
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
    state = read_session_state(form.share_token, KEY)
    store(form, new_answer(form, "Mira"))
    before = dump()

    assert not store_answer(state, new_answer(form, "Robin"), now=utc_now())
    assert dump() == before


@both_databases
@first_or_later
def test_an_answer_claims_its_attachments(
    form: Any, link: DeviceTransfer, earlier: list[str]
) -> None:
    for text in earlier:
        store(form, follow_up(form, text))

    assert store(form, new_answer(form, attachments=Attachments(CLAIM, {"link": link.id})))
    assert claimed_by(link) == stored()[-1].id


@both_databases
@first_or_later
def test_an_answer_to_a_full_form_claims_no_attachments(
    form: Any, link: DeviceTransfer, earlier: list[str]
) -> None:
    for text in earlier:
        store(form, follow_up(form, text))
    before = dump()
    answer = new_answer(form, attachments=Attachments(CLAIM, {"link": link.id}))

    assert not store(form, answer, form_bytes_max=1)
    assert dump() == before


@on_postgresql
@pytest.mark.parametrize("claim", [None, CLAIM])
def test_an_answer_is_one_statement_that_the_driver_keeps(
    form: Any, link: DeviceTransfer, claim: Update | None
) -> None:
    """psycopg parses longer statements, and those with more parameters, each time."""
    attachments = None if claim is None else Attachments(claim, {"link": link.id})
    answers = [new_answer(form, text, attachments=attachments) for text in ("first", "corrected")]

    for answer in answers:
        state = read_session_state(form.share_token, KEY)
        call = partial(store_answer, state, answer, now=utc_now())
        ((sql, values),) = statements_of(call)
        assert len(sql) <= psycopg_queries.MAX_CACHED_STATEMENT_LENGTH
        assert len(values) <= psycopg_queries.MAX_CACHED_STATEMENT_PARAMS


@both_databases
def test_answers_and_completions_take_their_stamps_one_after_the_other(form: Any) -> None:
    make_answer(form, KEY)

    complete_response(form.share_token, KEY, responder_name="", now=form.published_at)

    (answer,) = stored()
    newest = db.session.scalar(select(Form.last_stamp).where(Form.id == form.id))
    assert session().completed_stamp == newest == answer.stamp + 1
