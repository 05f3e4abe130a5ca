"""A stateful model of one form: a cursor returns what the model expects after any steps."""

import secrets
from datetime import timedelta
from typing import Any, NamedTuple

import pytest
from hypothesis import HealthCheck, settings as examples, strategies as st
from hypothesis.stateful import RuleBasedStateMachine, invariant, rule, run_state_machine_as_test

from tests.databases import both_databases
from tests.factories import make_account, make_form
from webapp.answers.answering import (
    answer_question,
    complete_response,
    skip_question,
    withdraw_response,
)
from webapp.base.database import db, utc_now
from webapp.base.errors import StateConflict
from webapp.records.forms import get_form
from webapp.records.responses.cursor import read_responses

QUESTIONS = ["Who?", "What?", "Why?"]
COMPLETION = -1
people = st.integers(0, 2)
positions = st.integers(0, 2)


class Item(NamedTuple):
    """What a cursor returns: an answer to the question at `position`, or a completion."""

    stamp: int
    person: int
    position: int
    text: str = ""


class Respondents(RuleBasedStateMachine):
    """Three people, one form, one poller. `items` is what exists, oldest first."""

    limit = "multiple"

    def __init__(self) -> None:
        super().__init__()
        account_id = make_account().id
        self.form = make_form(account_id, questions=QUESTIONS, responseLimit=self.limit)
        self.keys = [secrets.token_urlsafe(24) for _ in range(3)]
        self.now = utc_now()
        self.items: list[Item] = []
        self.since: int | None = None
        self.seen: set[Item] = set()

    @rule(person=people, position=positions, text=st.sampled_from(["Me", "é" * 300, "Mira"]))
    def answer(self, person: int, position: int, text: str) -> None:
        sent = {"answer_text": text, "answer_key": secrets.token_urlsafe(16)}
        there = [item for item in self.items if item[1:] == (person, position, text)]
        before = self.form_now().last_stamp
        if not self.does(answer_question, person, self.is_open(person), position=position, **sent):
            return
        if there:
            assert self.form_now().last_stamp == before
        else:
            self.take_away(person, position)
            self.items.append(Item(self.form_now().last_stamp, person, position, text))

    @rule(person=people, position=positions)
    def skip(self, person: int, position: int) -> None:
        if self.does(skip_question, person, self.is_open(person), position=position):
            self.take_away(person, position)

    @rule(person=people)
    def complete(self, person: int) -> None:
        repeat = self.has_completed(person)
        allowed = repeat or (self.is_open(person) and any(each[1] == person for each in self.items))
        if self.does(complete_response, person, allowed, responder_name="") and not repeat:
            self.items.append(Item(self.form_now().last_stamp, person, COMPLETION))

    @rule(person=people)
    def withdraw(self, person: int) -> None:
        withdraw_response(self.form.share_token, self.keys[person], now=utc_now())
        self.items = [item for item in self.items if item.person != person]

    @rule(seconds=st.floats(-10, 10))
    def set_the_clock(self, seconds: float) -> None:
        self.now += timedelta(seconds=seconds)

    @rule(max_items=st.integers(1, 4), max_bytes=st.sampled_from([1, 700, 10**6]))
    def poll(self, max_items: int, max_bytes: int) -> None:
        returned, self.since = self.read(self.since, max_items, max_bytes)
        assert not self.seen.intersection(returned)
        self.seen.update(returned)

    @rule(at=st.integers(0, 20), max_items=st.integers(1, 4))
    def read_from_any_cursor(self, at: int, max_items: int) -> None:
        cursors = [None, *(item.stamp for item in self.items)]
        self.read(cursors[at % len(cursors)], max_items, 10**6)

    def read(
        self, since: int | None, max_items: int, max_bytes: int
    ) -> tuple[list[Item], int | None]:
        """What a page holds, and the next cursor."""
        page = read_responses(self.form_now(), since, max_items=max_items, max_bytes=max_bytes)
        expected = self.after(since)
        held = [item for item in expected if item.stamp <= (page.next_since or 0)]
        assert expected[: len(held)] == held
        assert bool(held) == bool(expected)
        assert len(held) <= max_items
        assert page.truncated == (len(held) < len(expected))
        assert page.next_since == (held[-1].stamp if held else since)
        places = {question["id"]: at for at, question in enumerate(self.form.questions)}
        assert as_expected(held) == [
            [(places[there.question_id], there.answer_text, there.stamp) for there in entry.answers]
            for entry in page.sessions
        ]
        assert sum(len(item.text.encode()) for item in held) <= max_bytes or len(held) == 1
        return held, page.next_since

    @invariant()
    def counters_fit(self) -> None:
        form = self.form_now()
        completions = [item.stamp for item in self.items if item.position == COMPLETION]
        assert form.response_count == len(completions)
        assert form.answered_count == len({item.person for item in self.items})
        assert form.completed_stamp == (completions[-1] if completions else None)
        stamps = [item.stamp for item in self.items]
        assert stamps == sorted(set(stamps))

    def teardown(self) -> None:
        """The poller has seen everything that exists once it has read to the end."""
        while self.after(self.since):
            self.poll(3, 10**6)
        assert set(self.items) <= self.seen
        db.session.rollback()

    def does(self, use_case: Any, person: int, allowed: bool, **sent: Any) -> bool:  # noqa: FBT001
        """Call the use case; True when it went through, which it must exactly if allowed."""
        try:
            use_case(self.form.share_token, self.keys[person], now=self.now, **sent)
        except StateConflict:
            db.session.rollback()
            assert not allowed
            return False
        assert allowed
        return True

    def has_completed(self, person: int) -> bool:
        return any(item[1:3] == (person, COMPLETION) for item in self.items)

    def is_open(self, person: int) -> bool:
        whose = range(3) if self.limit == "one" else [person]
        return not any(map(self.has_completed, whose))

    def take_away(self, person: int, position: int) -> None:
        self.items = [item for item in self.items if item[1:3] != (person, position)]

    def after(self, since: int | None) -> list[Item]:
        return [item for item in self.items if item.stamp > (since or 0)]

    def form_now(self) -> Any:
        return get_form(self.form.account_id, self.form.id)


class OneRespondent(Respondents):
    """The same with a form that takes one response in all."""

    limit = "one"


def as_expected(items: list[Item]) -> list[list[tuple[int, str, int]]]:
    """Answers by session, sessions in the order of their first item."""
    sessions: dict[int, list[tuple[int, str, int]]] = {}
    for item in items:
        answers = sessions.setdefault(item.person, [])
        if item.position != COMPLETION:
            answers.append((item.position, item.text, item.stamp))
    return list(sessions.values())


@both_databases
@pytest.mark.parametrize("runs", [12, pytest.param(500, marks=pytest.mark.prove)])
@pytest.mark.parametrize("machine", [Respondents, OneRespondent])
@pytest.mark.usefixtures("app_context")
def test_a_cursor_returns_what_the_model_expects(
    machine: type[RuleBasedStateMachine], runs: int
) -> None:
    run_state_machine_as_test(
        machine,
        settings=examples(
            max_examples=runs,
            stateful_step_count=40,
            deadline=None,
            derandomize=True,
            suppress_health_check=list(HealthCheck),
        ),
    )
