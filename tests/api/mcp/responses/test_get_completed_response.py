"""`get_completed_response`: everything of one response, in fragments, exactly."""

from typing import Any

import pytest
from flask import Flask

from tests.api.mcp.conftest import Host, Hosted
from tests.api.mcp.responses.reading import (
    completed,
    fragment_pages,
    quoted,
    rebuilt,
    refused,
    stored_text,
)
from tests.databases import both_databases
from tests.factories import make_account, make_answer, make_form
from webapp.base.database import db, write_transaction
from webapp.records.responses.completed import PAGE_BYTES
from webapp.records.responses.models import Answer

TOOL = "get_completed_response"
LONG = {
    "20,000 code points of emoji": ("👩🏽‍🚒🏴󠁧󠁢󠁳󠁣󠁴󠁿" * 2_000)[:20_000],
    "20,000 quotes and line breaks": '"\n' * 10_000,
}
LONG |= {"100 KB": "x" * 100_000, "100 KB of emoji": "🜂" * 25_000, "one byte more": "ä" * 12_288}


def answers_of(response_id: str) -> dict[str, tuple[str, str]]:
    rows = db.select(Answer).where(Answer.session_id == response_id, Answer.superseded.is_(False))
    found = db.session.scalars(
        rows.order_by(Answer.stamp).execution_options(populate_existing=True)
    )
    return {row.id: (row.question_text, row.answer_text) for row in found}


@both_databases
@pytest.mark.parametrize("text", LONG.values(), ids=LONG)
def test_stored_texts_of_any_length_are_rebuilt_exactly(
    app: Flask, hosted: Hosted, form: Any, text: str
) -> None:
    with app.app_context():
        response_id = completed(app, form, "First", "Second")
        stored_text(response_id, text)
        expected = answers_of(response_id)

    pages = fragment_pages(hosted(form.account_id), form, response_id)

    assert list(rebuilt(pages).items()) == list(expected.items())
    assert all(page["nextCursor"] for page in pages[:-1])
    for page in pages:
        parts = [each["questionText"] + each["answerText"] for each in page["exchanges"]]
        assert sum(len(part.encode()) for part in parts) <= PAGE_BYTES


@both_databases
def test_a_cursor_from_before_a_correction_is_refused(
    app: Flask, hosted: Hosted, form: Any
) -> None:
    host = hosted(form.account_id)
    response_id = completed(app, form, "x" * 20_000, "y" * 20_000)
    cursor = fragment_pages(host, form, response_id)[0]["nextCursor"]
    first = db.select(Answer.id).where(Answer.session_id == response_id).limit(1)
    corrected = {"id": "ans_corrected", "stamp": Answer.stamp + 10_000, "answer_text": "Late words"}
    with app.app_context(), write_transaction() as connection:
        changed = db.update(Answer).where(Answer.id == first.scalar_subquery())
        connection.execute(changed.values(corrected))

    said = refused(host, TOOL, formId=form.id, responseId=response_id, cursor=cursor)

    assert (said["code"], said["resolution"][:11]) == ("invalid_cursor", "Begin again")
    again = rebuilt(fragment_pages(host, form, response_id))
    with app.app_context():
        assert again == answers_of(response_id)


@both_databases
def test_a_response_of_another_account_or_form_is_not_found(
    app: Flask, hosted: Hosted, form: Any
) -> None:
    host = hosted(form.account_id)
    with app.app_context():
        others = make_form(make_account().id), make_form(form.account_id)
    of_others = [completed(app, each, "x") for each in others]

    refusals = [
        refused(host, TOOL, formId=form.id, responseId=response_id)
        for response_id in (*of_others, "ses_unknown", "é" * 500)
    ]

    assert {said["code"] for said in refusals} == {"not_found"}
    assert len({str(said) for said in refusals}) == 1


def test_a_response_that_is_not_sent_is_refused_and_one_without_answers_is_empty(
    host: Host, form: Any
) -> None:
    with host.app.app_context():
        make_answer(form, "a" * 32, text="Half of it")
        half = db.session.scalars(db.select(Answer.session_id)).one()
        whole = completed(host.app, form, "x")
        with write_transaction() as connection:
            connection.execute(db.update(Answer).values(superseded=True))

    said = refused(host, TOOL, formId=form.id, responseId=half)
    page = quoted(host, TOOL, formId=form.id, responseId=whole)

    assert said["code"] == "response_not_completed"
    assert "Half of it" not in str(said)
    assert (page["exchanges"], page["nextCursor"]) == ([], None)
