"""Circuit breaker for calls of the model in one process: limits concurrent calls, stops while the
service fails, and defines how calls fail.
"""

import threading
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import cast

from flask import current_app

from webapp.records.follow_ups import ModelOutcome

CALLS_AT_ONCE = 16  # half of the server threads
FAILURES_IN_A_ROW = 3
REST_SECONDS = 60.0
MODEL_SECONDS = 4.0  # in total, from the DNS lookup to the last byte of the reply


class ModelFailed(Exception):
    """There is no reply; the rules decide instead.

    The reason is for the log: it contains no prompt, answer or reply, and no secret.
    """

    outcome = ModelOutcome.FAILED.value


class ModelLate(ModelFailed):
    """The model exceeded the time limit."""

    outcome = ModelOutcome.LATE.value


class ModelRefused(ModelFailed):
    """The service works but returned nothing usable for this answer; another answer may succeed."""


class ModelResting(ModelFailed):
    """The service was not called: it failed a moment ago, or enough calls run."""

    outcome = ""


class ModelBreaker:
    """Opens for REST_SECONDS after FAILURES_IN_A_ROW; then a single call tests the service.

    A refusal is no failure: one person's answer must not take the model from others.
    """

    def __init__(self, clock: Callable[[], float] = time.monotonic) -> None:
        self._clock = clock
        self._lock = threading.Lock()
        self._running = 0
        self._failures = 0
        self._opened_until: float | None = None
        self._trying = False

    @property
    def rests(self) -> bool:
        """Whether a call would be refused now because earlier calls failed."""
        with self._lock:
            return self._is_open()

    @contextmanager
    def call(self) -> Iterator[None]:
        """Guard one call of the model; a ModelFailed raised inside counts as a failure.

        Raises ModelResting.
        """
        with self._lock:
            if self._running >= CALLS_AT_ONCE:
                raise ModelResting(f"{CALLS_AT_ONCE} calls run")
            if self._is_open():
                raise ModelResting("it failed a moment ago")
            self._running += 1
            trial = self._trying = self._opened_until is not None  # tests the service
        worked: bool | None = None  # another exception says nothing about the service
        try:
            yield
            worked = True
        except ModelFailed as error:
            worked = isinstance(error, ModelRefused)
            raise
        finally:
            self._settle(trial=trial, worked=worked)

    def _is_open(self) -> bool:
        until = self._opened_until
        return until is not None and (self._trying or self._clock() < until)

    def _settle(self, *, trial: bool, worked: bool | None) -> None:
        with self._lock:
            self._running -= 1
            if trial:
                self._trying = False
            if worked is None or (self._opened_until is not None and not trial):
                return  # a call from before the breaker opened tells nothing about it now
            self._failures = 0 if worked else self._failures + 1
            self._opened_until = None
            if self._failures >= FAILURES_IN_A_ROW:
                self._opened_until = self._clock() + REST_SECONDS


def model_breaker() -> ModelBreaker:
    """Return the breaker of the current application."""
    return cast(ModelBreaker, current_app.extensions.setdefault("model_breaker", ModelBreaker()))
