"""Decisions about follow-ups beside everything else that a respondent does, and after it."""

import secrets
from collections.abc import Callable
from datetime import datetime, timedelta
from functools import partial
from typing import Any

import pytest
from flask import Flask
from sqlalchemy import select

from tests.databases import both_databases
from tests.factories import make_account, make_answer, make_form
from tests.races.threads import KEY, Call, by_creator, send, skip, together, withdraw
from webapp.answers import session as sessions
from webapp.answers.follow_up_decisions import (
    LEASE,
    Claim,
    FollowUpContext,
    claim_decision,
    context_of,
    decide_by_rules,
    settle_claim,
)
from webapp.answers.session import QuestionNumber, read_open_session
from webapp.answers.trash import delete_form
from webapp.base.database import db, utc_now
from webapp.base.vocabulary import FollowUpState
from webapp.follow_ups.rules import Decision, Reason, Technique
from webapp.records.follow_ups import AskedFollowUp, FollowUp, read_follow_ups
from webapp.records.forms import close_form
from webapp.records.responses.models import Answer

SHORT = "It was slow"
WRITER = "small-model at llm.example.com"
ASKED = Decision(Reason.CHOSEN_BY_MODEL, Technique.EXAMPLE, "What happened then?", WRITER)
PREPARED = [("What came of it?", "always"), ("How was it?", "always"), ("And then?", "always")]

pytestmark = both_databases
three_times = pytest.mark.parametrize("attempt", range(3))


def answered(app: Flask, *positions: int, **fields: Any) -> Any:
    """A form with short answers to these questions."""
    given = {
        "followUpMode": "deep_dive",
        "prepared": {0: PREPARED, 1: [(f"Today: {text}", when) for text, when in PREPARED]},
    } | fields
    with app.app_context():
        form = make_form(make_account().id, **given)
        for position in positions or (0,):
            make_answer(form, KEY, position, SHORT)
    return form


def run(app: Flask, *calls: Callable[[], Any]) -> Any:
    """One after the other; what the last one returned."""
    with app.app_context():
        return [call() for call in calls][-1]


def read_context(form: Any, place: QuestionNumber) -> FollowUpContext | None:
    return context_of(read_open_session(form.share_token, KEY), place)


def situation(app: Flask, form: Any, number: int = 1) -> FollowUpContext:
    found: FollowUpContext = run(app, partial(read_context, form, QuestionNumber(number)))
    assert found
    return found


def decide(about: FollowUpContext, now: datetime | None = None) -> Callable[[], Any]:
    return partial(decide_by_rules, about, now=now or utc_now())


def correct(form: Any, text: str = "Now it is fast", position: int = 0) -> Callable[[], Any]:
    return partial(make_answer, form, KEY, position, text)


def claim(about: FollowUpContext, now: datetime | None = None) -> Callable[[], Claim | None]:
    return partial(claim_decision, about, count_call=lambda: True, now=now or utc_now())


def claimed(app: Flask, about: FollowUpContext, now: datetime | None = None) -> Claim:
    made: Claim = run(app, claim(about, now))
    assert made
    return made


def settle(made: Claim, now: datetime | None = None) -> Callable[[], Any]:
    asked = ASKED._replace(question=f"What happened then, {made.id}?")
    return partial(settle_claim, made, asked, now=now or utc_now())


def states(app: Flask) -> list[FollowUpState]:
    with app.app_context():
        return sorted(db.session.scalars(select(FollowUp.state)))


def dropped(app: Flask) -> list[bool]:
    """Of each question that was asked, whether its answer was superseded since."""
    followed = select(Answer.superseded).join(FollowUp, FollowUp.answer_id == Answer.id)
    with app.app_context():
        asked = followed.where(FollowUp.state == FollowUpState.ASKED)
        return list(db.session.scalars(asked))


@three_times
@pytest.mark.parametrize("room", [1, 2])
def test_the_rules_at_once_about_two_answers_ask_as_much_as_there_is_room_for(
    app: Flask, attempt: int, room: int
) -> None:
    form = answered(app, 0, 1, maxTotalQuestions=2 + room)

    together(app, [decide(situation(app, form, number)) for number in (1, 2)])

    assert states(app) == [FollowUpState.ASKED] * room


@three_times
@pytest.mark.parametrize("first", ["rules", "claim"])
def test_two_tabs_ask_the_built_in_question_once(app: Flask, attempt: int, first: str) -> None:
    questions = ["What was it like?", "How was the end of it?", "What would you change?"]
    form = answered(app, 0, 1, 2, prepared=None, questions=questions)
    tabs = [situation(app, form, number) for number in (1, 2, 3)]
    assert {each.ruled.question for each in tabs} == {"Could you say a little more about that?"}
    begin: Any = decide(tabs[0])
    if first == "claim":
        begin = partial(settle_claim, claimed(app, tabs[0]), tabs[0].ruled, now=utc_now())

    together(app, [begin, *map(decide, tabs[1:])])

    assert states(app).count(FollowUpState.ASKED) == 1


def test_eight_claims_at_once_leave_one_that_is_settled_once(app: Flask) -> None:
    about = situation(app, answered(app))

    (made,) = filter(None, together(app, [claim(about)] * 8))

    together(app, [settle(made)] * 8)
    assert states(app) == [FollowUpState.ASKED]


def test_a_claim_that_waited_too_long_finds_its_room_taken(app: Flask) -> None:
    """The moment of the settlement is from before it had to wait for a lock."""
    form = answered(app, 0, 1, maxTotalQuestions=3)
    began, moment = utc_now(), timedelta(milliseconds=1)
    made = claimed(app, situation(app, form, 1), began)

    about = situation(app, form, 2)
    run(app, decide(about, began + LEASE + moment), settle(made, began + LEASE - moment))

    assert states(app) == [FollowUpState.ASKED, FollowUpState.NOTHING]


def test_nothing_is_decided_about_an_answer_that_is_withdrawn_while_it_is_read(
    app: Flask, monkeypatch: pytest.MonkeyPatch
) -> None:
    form = answered(app)

    def withdrawing(session_id: str) -> list[AskedFollowUp]:
        withdraw(form)()
        return read_follow_ups(session_id)

    monkeypatch.setattr(sessions, "read_follow_ups", withdrawing)
    assert run(app, partial(read_context, form, QuestionNumber(1))) is None


@three_times
def test_everything_at_once_keeps_to_the_caps(app: Flask, attempt: int) -> None:
    form = answered(app, 0, 1, maxFollowupsPerQuestion=1, maxTotalQuestions=3)
    both = [situation(app, form, number) for number in (1, 2)]
    corrections = [correct(form, secrets.token_urlsafe(4), position) for position in (0, 1)]
    settling: Any = settle(claimed(app, both[attempt % 2]))

    decisions: list[Any] = [*map(decide, both), *map(claim, both)]
    together(app, [settling, *decisions, *corrections, skip(form, attempt % 2)])

    assert states(app).count(FollowUpState.ASKED) <= 1


@three_times
@pytest.mark.parametrize("beside", [skip, withdraw, send])
@pytest.mark.parametrize("settles", [True, False])
def test_alongside_what_ends_the_answer_no_question_is_left_open(
    app: Flask, attempt: int, beside: Callable[[Any], Call], *, settles: bool
) -> None:
    form = answered(app)
    about = situation(app, form)
    deciding: Any = settle(claimed(app, about)) if settles else claim(about)

    made, _ = together(app, [deciding, beside(form)])
    if made:
        together(app, [settle(made)])

    if beside is withdraw:
        assert states(app) == []
    elif beside is skip:
        assert dropped(app) in ([], [True])
    else:
        assert states(app) in ([], [FollowUpState.NOTHING], [FollowUpState.ASKED] * settles)


# what was looked at, or claimed, before something else happened: in one order, without threads


@pytest.mark.parametrize("waited", [timedelta(0), timedelta(milliseconds=1)])
def test_a_claim_is_settled_at_any_moment_of_its_lease_and_at_none_after(
    app: Flask, waited: timedelta
) -> None:
    began = utc_now().replace(microsecond=0)
    made = claimed(app, situation(app, answered(app)), began)

    run(app, settle(made, began + timedelta(seconds=6) - timedelta(milliseconds=1) + waited))

    assert states(app) == [FollowUpState.NOTHING if waited else FollowUpState.ASKED]


MEANWHILE: dict[str, Callable[[Any], Call]] = {
    "corrected": correct,
    "taken back": skip,
    "sent": send,
    "closed": partial(by_creator, close_form),
    "in the trash": partial(by_creator, delete_form),
}


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
    end = settle(claimed(app, about)) if writer == "model" else decide(about)

    run(app, MEANWHILE[meanwhile](form), end)

    assert FollowUpState.ASKED not in states(app)
