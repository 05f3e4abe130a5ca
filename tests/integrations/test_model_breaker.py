"""When the model is asked, and when its service has a rest."""

from contextlib import ExitStack

import pytest

from webapp.follow_ups.model_breaker import (
    CALLS_AT_ONCE,
    ModelBreaker,
    ModelFailed,
    ModelRefused,
    ModelResting,
)


class Clock:
    """Seconds that pass as a test says."""

    now = 1000.0

    def __call__(self) -> float:
        return self.now


@pytest.fixture
def clock() -> Clock:
    return Clock()


@pytest.fixture
def breaker(clock: Clock) -> ModelBreaker:
    return ModelBreaker(clock)


def call(breaker: ModelBreaker, error: Exception | None = None) -> None:
    with breaker.call():
        if error:
            raise error


def fail(breaker: ModelBreaker, times: int) -> None:
    for _ in range(times):
        with pytest.raises(ModelFailed, match="status 500"):
            call(breaker, ModelFailed("it answered with status 500"))


def test_a_reply_between_failures_counts(breaker: ModelBreaker) -> None:
    fail(breaker, 2)
    call(breaker)
    fail(breaker, 2)

    call(breaker)


@pytest.mark.parametrize(
    "error", [ModelRefused("it refused"), KeyError("a bug"), KeyboardInterrupt()]
)
def test_what_says_nothing_bad_of_the_service_opens_nothing(
    breaker: ModelBreaker, error: Exception
) -> None:
    for _ in range(5):
        with pytest.raises(type(error)):
            call(breaker, error)

    call(breaker)


def test_after_the_rest_one_call_tries_at_a_time(breaker: ModelBreaker, clock: Clock) -> None:
    fail(breaker, 3)
    clock.now += 60

    with breaker.call(), pytest.raises(ModelResting):
        call(breaker)
    call(breaker)


def test_a_trial_that_fails_begins_another_rest(breaker: ModelBreaker, clock: Clock) -> None:
    fail(breaker, 3)
    clock.now += 60
    fail(breaker, 1)
    clock.now += 59
    with pytest.raises(ModelResting):
        call(breaker)
    clock.now += 1

    call(breaker)


def test_a_trial_that_says_nothing_lets_another_try(breaker: ModelBreaker, clock: Clock) -> None:
    fail(breaker, 3)
    clock.now += 60
    with pytest.raises(KeyError):
        call(breaker, KeyError("a bug"))

    fail(breaker, 1)


def test_calls_that_began_before_change_nothing(breaker: ModelBreaker, clock: Clock) -> None:
    with breaker.call():
        fail(breaker, 3)
    with pytest.raises(ModelResting):
        call(breaker)

    clock.now += 30
    with pytest.raises(ModelResting):
        call(breaker)


def test_so_many_run_at_once_and_no_more(breaker: ModelBreaker) -> None:
    with ExitStack() as running:
        for _ in range(CALLS_AT_ONCE):
            running.enter_context(breaker.call())
        for _ in range(5):
            with pytest.raises(ModelResting, match=f"{CALLS_AT_ONCE} calls"):
                call(breaker)

    call(breaker)
