"""When the model is asked, and when its service has a rest."""

from contextlib import ExitStack

import pytest

from webapp.follow_ups.model_exchange import (
    CALLS_AT_ONCE,
    ModelBreaker,
    ModelFailed,
    ModelRefused,
    ModelResting,
)

ERRORS = {
    "fails": ModelFailed("it answered with status 500"),
    "refuses": ModelRefused("it refused"),
    "breaks": KeyError("a bug"),
    "ends": KeyboardInterrupt(),
}


class Calls:
    """Calls of a breaker whose clock goes as a test says."""

    def __init__(self) -> None:
        self.now = 1000.0
        self.breaker = ModelBreaker(lambda: self.now)

    def do(self, steps: str) -> None:
        """Seconds pass, and calls that work, rest, or end as in ERRORS."""
        for step in steps.split():
            if step[0] == "+":
                self.now += int(step)
            elif step == "works":
                with self.breaker.call():
                    pass
            elif step == "rests":
                with pytest.raises(ModelResting), self.breaker.call():
                    pass
            else:
                with pytest.raises(type(ERRORS[step])) as caught, self.breaker.call():
                    raise ERRORS[step]
                assert caught.value is ERRORS[step]


@pytest.fixture
def calls() -> Calls:
    return Calls()


@pytest.mark.parametrize(
    "steps",
    [
        "fails fails works fails fails works",
        "refuses refuses refuses refuses works",
        "breaks breaks breaks breaks works",
        "ends ends ends ends works",
        "fails fails fails rests +59 rests +1 fails +59 rests +1 works works",
        "fails fails fails +60 breaks fails rests",  # a trial that says nothing lets another try
    ],
)
def test_three_failures_in_a_row_are_followed_by_a_minute_of_rest(calls: Calls, steps: str) -> None:
    calls.do(steps)


def test_after_the_rest_one_call_tries_at_a_time(calls: Calls) -> None:
    calls.do("fails fails fails +60")
    with calls.breaker.call():
        calls.do("rests")
    calls.do("works")


def test_calls_that_began_before_change_nothing(calls: Calls) -> None:
    with calls.breaker.call():
        calls.do("fails fails fails")
    calls.do("rests +30 rests")


def test_so_many_run_at_once_and_no_more(calls: Calls) -> None:
    with ExitStack() as running:
        for _ in range(CALLS_AT_ONCE):
            running.enter_context(calls.breaker.call())
        calls.do("rests " * 5)
    calls.do("works")
