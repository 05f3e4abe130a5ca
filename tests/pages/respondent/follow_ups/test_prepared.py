"""What respondents read of a follow-up that was prepared before anybody answered."""

from typing import Any

import pytest
from flask import Flask
from sqlalchemy import update

from tests.pages.respondent.follow_ups.conftest import SHORT
from tests.pages.respondent_client import Respondent
from webapp.base.database import db
from webapp.base.vocabulary import FollowUpAuthor, FollowUpCondition
from webapp.follow_ups.rules import Technique
from webapp.records.follow_ups import FollowUp


@pytest.mark.parametrize("writer", FollowUpAuthor)
def test_it_is_a_question_of_who_asks_and_of_no_computer(
    app: Flask, form: Any, visitor: Respondent, writer: FollowUpAuthor
) -> None:
    visitor.answer(1, SHORT)
    prepared: dict[str, Any] = {
        "technique": Technique.PREPARED,
        "reason": FollowUpCondition.IF_SHORT,
        "writer": writer,
        "question_text": "<i>What</i> then?",
    }
    with app.app_context():
        db.session.execute(update(FollowUp).values(prepared))
        db.session.commit()

    page = visitor.open("/q/1/f/1").text

    assert "A follow-up question from Robin Example." in page
    assert "&lt;i&gt;What&lt;/i&gt; then?" in page
    assert "computer" not in page
