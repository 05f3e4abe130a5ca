"""What was looked at, or claimed, before something else happened: in one order, without threads."""

from collections.abc import Callable
from datetime import timedelta
from functools import partial
from typing import Any

import pytest
from flask import Flask

from tests.databases import both_databases
from tests.factories import make_answer
from tests.races.test_follow_ups import (
    KEY,
    SHORT,
    act,
    answered,
    claim,
    claimed,
    dropped,
    read_context,
    settle,
    situation,
    states,
)
from webapp.answers.answering import answer_question, complete_response, skip_question
from webapp.answers.follow_up_decisions import decide_by_rules, pass_on
from webapp.answers.steps import QuestionNumber
from webapp.answers.trash import delete_form
from webapp.base.database import utc_now
from webapp.base.vocabulary import FollowUpState
from webapp.records.forms import close_form

VAGUE = "It is sometimes annoying to use"
HEDGED = "Maybe, it depends on the day and the team I am working with"

pytestmark = both_databases
both_writers = pytest.mark.parametrize("writer", ["rules", "model"])


@both_writers
@pytest.mark.parametrize("room", [1, 2])
def test_about_two_answers_to_one_question_as_much_is_asked_as_there_is_room_for(
    app: Flask, room: int, writer: str
) -> None:
    """Each was looked at before the other was decided about."""
    form = answered(app, maxFollowupsPerQuestion=1 + room)
    with app.app_context():
        decide_by_rules(situation(app, form), now=utc_now())
        give = {"position": 0, "answer_key": "k" * 32, "now": utc_now()}
        answer_question(form.share_token, KEY, follow_up=1, answer_text=VAGUE, **give)
        make_answer(form, KEY, 0, HEDGED)
        both = [read_context(form, QuestionNumber(1, depth)) for depth in (0, 1)]
        for about in filter(None, both):
            made = claim(about)() if writer == "model" else None
            settle(made)() if made else decide_by_rules(about, now=utc_now())

    assert None not in both
    # what was prepared for one question is asked once
    assert states(app) == [FollowUpState.ASKED] * (1 + room if writer == "model" else 2)


@both_writers
def test_what_is_decided_about_a_changed_answer_takes_no_room(app: Flask, writer: str) -> None:
    form = answered(app, maxFollowupsPerQuestion=1)
    first = claimed(app, situation(app, form))
    with app.app_context():
        make_answer(form, KEY, 0, "Now it is fast")
    about = situation(app, form)
    with app.app_context():
        if writer == "rules":
            decide_by_rules(about, now=utc_now())
        else:
            settle(claimed(app, about))()
        settle(first)()

    assert states(app) == [FollowUpState.ASKED, FollowUpState.NOTHING]
    assert dropped(app) == [False]


@pytest.mark.parametrize("waited", [timedelta(0), timedelta(milliseconds=1)])
def test_a_claim_is_settled_at_any_moment_of_its_lease_and_at_none_after(
    app: Flask, waited: timedelta
) -> None:
    began = utc_now().replace(microsecond=0)
    made = claimed(app, situation(app, answered(app)), began)
    with app.app_context():
        settle(made, began + timedelta(seconds=6) - timedelta(milliseconds=1) + waited)()

    assert states(app) == [FollowUpState.NOTHING if waited else FollowUpState.ASKED]


def test_no_model_is_to_decide_about_grief(app: Flask) -> None:
    form = answered(app)
    with app.app_context():
        make_answer(form, KEY, 0, "My mother died of it in March")
        assert claim(situation(app, form))() is None

    assert states(app) == []


def test_a_dropped_question_is_not_asked_again_once_it_was_passed_on(app: Flask) -> None:
    form = answered(app)
    with app.app_context():
        decide_by_rules(situation(app, form), now=utc_now())
        make_answer(form, KEY, 0, HEDGED)
        make_answer(form, KEY, 0, SHORT)
        about = situation(app, form)
        pass_on(about, now=utc_now())
        decide_by_rules(about, now=utc_now())

    assert states(app) == [FollowUpState.ASKED, FollowUpState.NOTHING]
    assert dropped(app) == [True]


def test_passing_on_leaves_what_was_asked_before_it(app: Flask) -> None:
    about = situation(app, answered(app))
    with app.app_context():
        decide_by_rules(about, now=utc_now())
        pass_on(about, now=utc_now())

    assert states(app) == [FollowUpState.ASKED]


@pytest.mark.parametrize(
    ("meanwhile", "writer"),
    [
        *((each, by) for each in ("corrected", "taken back", "sent") for by in ("rules", "model")),
        ("closed", "model"),
        ("in the trash", "model"),
    ],
)
def test_nothing_is_asked_about_what_is_not_open_any_more(
    app: Flask, meanwhile: str, writer: str
) -> None:
    form = answered(app)
    about = situation(app, form)
    made = claimed(app, about) if writer == "model" else None
    actions: dict[str, Callable[[], Any]] = {
        "corrected": partial(make_answer, form, KEY, 0, "Now it is fast"),
        "taken back": act(skip_question, form, position=0),
        "sent": act(complete_response, form, responder_name=""),
        "closed": partial(close_form, form.account_id, form.id, now=utc_now()),
        "in the trash": partial(delete_form, form.account_id, form.id, now=utc_now()),
    }
    with app.app_context():
        actions[meanwhile]()
        settle(made)() if made else decide_by_rules(about, now=utc_now())

    assert FollowUpState.ASKED not in states(app)
