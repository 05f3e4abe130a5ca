"""Follow-up questions on the results pages: under their answers, explained, filtered and found."""

from typing import Any

import pytest

from tests.factories import make_answer, make_follow_up, make_follow_up_answer, make_form
from tests.pages.creator_client import Creator, plain, without_marks
from webapp.answers.answering import skip_question
from webapp.base.database import db, utc_now
from webapp.follow_ups.rules import Reason, Technique

KEY, OTHER = "k" * 32, "o" * 32


@pytest.fixture
def form(ann: Creator) -> Any:
    """Two people: one was asked twice and answered once, the other never."""
    with ann.context():
        form = make_form(ann.account.id, title="Rota talks", followUpMode="deep_dive")
        make_answer(form, OTHER, text="Nobody did")
        make_answer(form, KEY, text="It was cold")
        example = {"technique": Technique.EXAMPLE, "reason": Reason.NO_EXAMPLE}
        asked = make_follow_up(form, KEY, question_text="For <i>example</i>?", **example)
        make_follow_up_answer(form, KEY, asked, "The gnorw one")
        by_model = {"reason": Reason.CHOSEN_BY_MODEL, "writer": "<b>qwen3 at 10.0.0.9:8080"}
        make_follow_up(form, KEY, depth=2, **by_model)
        db.session.commit()
        return form


@pytest.mark.parametrize("view", ["", "/people", "/questions/1", "?q=example", "/people?sent="])
def test_each_view_shows_question_answer_and_how_it_came_about(
    ann: Creator, form: Any, view: str
) -> None:
    view = view.replace("example", "GNORW")
    page = without_marks(ann.page(f"/forms/{form.id}{view}").text)
    words = plain(page)

    assert "For &lt;i&gt;example&lt;/i&gt;?" in page
    assert "The gnorw one" in page
    why = "Follow-up · built-in rules · asked for an example, because there was none"
    assert why in words
    model = "Follow-up · &lt;b&gt;qwen3 at 10.0.0.9:8080"
    assert f"Not answered. {model} · asked what came of it, as the model decided" in words


def test_what_was_skipped_or_dropped_says_so(ann: Creator, form: Any) -> None:
    with ann.context():
        skipped = make_follow_up(form, OTHER)
        db.session.commit()
        db.session.execute(
            db.text("UPDATE response_sessions SET skipped = :ids WHERE id = :id"),
            {"ids": f'["{skipped.id}"]', "id": skipped.session_id},
        )
        db.session.commit()
        make_answer(form, KEY, text="It was warm")

    words = plain(ann.page(f"/forms/{form.id}").text)

    assert "Skipped. Follow-up" in words
    assert "because there was none; the answer before it was changed since" in words


@pytest.mark.parametrize("view", ["", "/people"])
def test_an_answer_that_was_taken_back_leaves_its_place(ann: Creator, form: Any, view: str) -> None:
    with ann.context():
        asked = make_follow_up(form, OTHER)
        db.session.commit()
        skip_question(form.share_token, OTHER, position=0, now=utc_now())
        make_follow_up_answer(form, OTHER, asked, "the needle")

    words = plain(ann.page(f"/forms/{form.id}{view}?q=needle").text)

    assert "Who changed it?" in words
    assert "Taken back. What happened as a result? the needle" in words
