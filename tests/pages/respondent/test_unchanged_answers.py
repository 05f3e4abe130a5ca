"""Back and Continue without a change keep id and stamp of the answer."""

from typing import Any

from flask import Flask
from sqlalchemy import select

from tests.databases import both_databases
from tests.pages.respondent_client import Respondent, heading
from webapp.base.database import db
from webapp.records.forms import Form
from webapp.records.responses.models import Answer


def kept(app: Flask) -> list[tuple[Any, ...]]:
    """Id and stamp of every answer, and the newest stamp of the form."""
    with app.app_context():
        rows = select(Answer.id, Answer.stamp, Form.last_stamp).join(
            Form, Form.id == Answer.form_id
        )
        return [tuple(row) for row in db.session.execute(rows.order_by(Answer.stamp))]


@both_databases
def test_back_and_continue_keep_the_answer(app: Flask, respondent: Respondent) -> None:
    following = heading(respondent.answer(1, "Me\r\nand you"))
    before = kept(app)
    respondent.post("/q/1/open")

    page = respondent.answer(1, "Me\r\nand you")

    assert heading(page) == following
    assert kept(app) == before


@both_databases
def test_back_with_other_text_is_a_correction(app: Flask, respondent: Respondent) -> None:
    respondent.answer(1, "Me")
    before = kept(app)
    respondent.post("/q/1/open")

    respondent.answer(1, "Mira")

    assert len(kept(app)) == 2
    assert kept(app)[0][0] == before[0][0]
