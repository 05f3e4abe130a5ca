"""A stateful model of one form: a cursor returns what the model expects after any steps."""

import secrets
from dataclasses import dataclass
from datetime import timedelta
from typing import Any

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
from webapp.records.forms import close_form, get_form, reopen_form
from webapp.records.responses.cursor import ResponsePage, read_responses

QUESTIONS = 3
PEOPLE = 3
COMPLETION = -1

people = st.integers(0, PEOPLE - 1)
positions = st.integers(0, QUESTIONS - 1)
answer_texts = st.text(
    st.characters(exclude_categories=["Cs"], exclude_characters="\0"), min_size=1, max_size=300
).filter(str.strip)


@dataclass(frozen=True)
class Item:
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
        questions = [f"Question {number}?" for number in range(QUESTIONS)]
        account = make_account()
        self.form = make_form(account.id, questions=questions, responseLimit=self.limit)
        self.keys = [secrets.token_urlsafe(24) for _ in range(PEOPLE)]
        self.now = utc_now()
        self.open = True
        self.items: list[Item] = []
        self.last_sent: dict[int, dict[str, Any]] = {}
        self.since: int | None = None
        self.seen: set[Item] = set()

    # --- what people do ---

    @rule(person=people, position=positions, text=answer_texts)
    def answer(self, person: int, position: int, text: str) -> None:
        sent = {
            "position": position,
            "answer_text": text,
            "answer_key": secrets.token_urlsafe(16),
        }
        allowed = self.takes_answers() and not self.completed(person)
        unchanged = self.current_text(person, position) == text
        before = self.last_stamp()
        if not self.does(answer_question, person, allowed=allowed, **sent):
            return
        if unchanged:
            assert self.last_stamp() == before
        else:
            self.take_away(person, position)
            self.items.append(Item(self.last_stamp(), person, position, text))
            self.last_sent[person] = sent

    @rule(person=people)
    def press_again(self, person: int) -> None:
        """The newest answer of this person once more, as a retry sends it."""
        if person in self.last_sent and not self.completed(person):
            before = self.last_stamp()
            self.does(answer_question, person, allowed=True, **self.last_sent[person])
            assert self.last_stamp() == before

    @rule(person=people, position=positions)
    def skip(self, person: int, position: int) -> None:
        allowed = self.takes_answers() and not self.completed(person)
        if self.does(skip_question, person, allowed=allowed, position=position):
            self.take_away(person, position)

    @rule(person=people)
    def complete(self, person: int) -> None:
        repeat = self.completed(person)
        allowed = repeat or (self.takes_answers() and bool(self.of(person)))
        if self.does(complete_response, person, allowed=allowed, responder_name="") and not repeat:
            self.items.append(Item(self.last_stamp(), person, COMPLETION))

    @rule(person=people)
    def withdraw(self, person: int) -> None:
        withdraw_response(self.form.share_token, self.keys[person], now=utc_now())
        self.items = [item for item in self.items if item.person != person]
        self.last_sent.pop(person, None)

    @rule()
    def close(self) -> None:
        close_form(self.form.account_id, self.form.id, now=self.now)
        self.open = False

    @rule()
    def reopen(self) -> None:
        reopen_form(self.form.account_id, self.form.id, now=self.now)
        self.open = True

    @rule(seconds=st.floats(-10, 10))
    def set_the_clock(self, seconds: float) -> None:
        self.now += timedelta(seconds=seconds)

    # --- what an agent reads ---

    @rule(max_items=st.integers(1, 4), max_bytes=st.sampled_from([1, 700, 10**6]))
    def poll(self, max_items: int, max_bytes: int) -> None:
        page = self.read(self.since, max_items, max_bytes)
        returned = [item for item in self.after(self.since) if item.stamp <= (page.next_since or 0)]
        assert not self.seen.intersection(returned)
        self.seen.update(returned)
        self.since = page.next_since

    @rule(at=st.integers(0, 20), max_items=st.integers(1, 4))
    def read_from_any_cursor(self, at: int, max_items: int) -> None:
        cursors = [None, *(item.stamp for item in self.items)]
        self.read(cursors[at % len(cursors)], max_items, 10**6)

    def read(self, since: int | None, max_items: int, max_bytes: int) -> ResponsePage:
        """A page, after it was compared with what the model would return."""
        page = read_responses(self.form_now(), since, max_items=max_items, max_bytes=max_bytes)
        expected = self.after(since)
        held = [item for item in expected if item.stamp <= (page.next_since or 0)]
        assert expected[: len(held)] == held
        assert bool(held) == bool(expected)
        assert len(held) <= max_items
        assert page.truncated == (len(held) < len(expected))
        assert page.next_since == (held[-1].stamp if held else since)
        assert self.as_returned(page) == as_expected(held)
        weight = sum(len(item.text.encode()) for item in held)
        assert weight <= max_bytes or len(held) == 1
        return page

    def as_returned(self, page: ResponsePage) -> list[list[tuple[int, str, int]]]:
        """The answers on a page by session; a session in it may have none."""
        places = {question["id"]: at for at, question in enumerate(self.form.questions)}
        return [
            [(places[there.question_id], there.answer_text, there.stamp) for there in entry.answers]
            for entry in page.sessions
        ]

    # --- what always holds ---

    @invariant()
    def counters_fit(self) -> None:
        form = self.form_now()
        completions = [item for item in self.items if item.position == COMPLETION]
        assert form.response_count == len(completions)
        assert form.answered_count == len({item.person for item in self.items})
        assert form.completed_stamp == (completions[-1].stamp if completions else None)

    @invariant()
    def stamps_rise(self) -> None:
        stamps = [item.stamp for item in self.items]
        assert stamps == sorted(set(stamps))

    def teardown(self) -> None:
        """The poller has seen everything that exists once it has read to the end."""
        while self.after(self.since):
            self.poll(3, 10**6)
        assert set(self.items) <= self.seen
        db.session.rollback()

    # --- the model ---

    def does(self, use_case: Any, person: int, *, allowed: bool, **sent: Any) -> bool:
        """Call the use case; True when it went through, which it must exactly if allowed."""
        try:
            use_case(self.form.share_token, self.keys[person], now=self.now, **sent)
        except StateConflict:
            db.session.rollback()
            assert not allowed
            return False
        assert allowed
        return True

    def takes_answers(self) -> bool:
        full = self.limit == "one" and any(item.position == COMPLETION for item in self.items)
        return self.open and not full

    def of(self, person: int) -> list[Item]:
        return [item for item in self.items if item.person == person]

    def current_text(self, person: int, position: int) -> str | None:
        texts = [item.text for item in self.of(person) if item.position == position]
        return texts[0] if texts else None

    def completed(self, person: int) -> bool:
        return any(item.position == COMPLETION for item in self.of(person))

    def take_away(self, person: int, position: int) -> None:
        self.items = [
            item for item in self.items if (item.person, item.position) != (person, position)
        ]

    def after(self, since: int | None) -> list[Item]:
        return [item for item in self.items if item.stamp > (since or 0)]

    def form_now(self) -> Any:
        return get_form(self.form.account_id, self.form.id)

    def last_stamp(self) -> int:
        stamp: int = self.form_now().last_stamp
        return stamp


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


def explore(machine: type[RuleBasedStateMachine], runs: int) -> None:
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


@both_databases
@pytest.mark.parametrize("runs", [12, pytest.param(500, marks=pytest.mark.prove)])
@pytest.mark.parametrize("machine", [Respondents, OneRespondent])
@pytest.mark.usefixtures("app_context")
def test_a_cursor_returns_what_the_model_expects(
    machine: type[RuleBasedStateMachine], runs: int
) -> None:
    explore(machine, runs)
