"""Calls of the model in one process: how many at once, none while its service fails, and how
calls fail.
"""

import threading
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import cast

from flask import current_app

from webapp.records.follow_ups import ModelOutcome

CALLS_AT_ONCE = 16  # half of the threads of the server
FAILURES_IN_A_ROW = 3
REST_SECONDS = 60.0
MODEL_SECONDS = 4.0  # for everything, from the name of the host to the last byte of the reply


class ModelFailed(Exception):
    """There is no reply, and the rules decide.

    The reason is for the log: it holds no word of a prompt, an answer or a reply, and no secret.
    """

    outcome = ModelOutcome.FAILED.value


class ModelLate(ModelFailed):
    """It took longer than anybody waits."""

    outcome = ModelOutcome.LATE.value


class ModelRefused(ModelFailed):
    """The service works, and wrote nothing of use about this answer: another may be different."""


class ModelResting(ModelFailed):
    """Nobody was asked: the service failed a moment ago, or has enough to do."""

    outcome = ""


class ModelBreaker:
    """Opens for REST_SECONDS after FAILURES_IN_A_ROW; then one call tries whether it works again.

    A refusal is no failure: what one person writes must not take the model from others.
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
        """Whether a call would be refused at this moment because others failed."""
        with self._lock:
            return self._is_open()

    @contextmanager
    def call(self) -> Iterator[None]:
        """Around one call of the model; ModelFailed that rises in it counts as a failure.

        Raises ModelResting.
        """
        with self._lock:
            if self._running >= CALLS_AT_ONCE:
                raise ModelResting(f"{CALLS_AT_ONCE} calls run")
            if self._is_open():
                raise ModelResting("it failed a moment ago")
            self._running += 1
            trial = self._trying = self._opened_until is not None  # whether it works again
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
                return  # of a call that began before the breaker opened nothing is to be learnt
            self._failures = 0 if worked else self._failures + 1
            self._opened_until = None
            if self._failures >= FAILURES_IN_A_ROW:
                self._opened_until = self._clock() + REST_SECONDS


def model_breaker() -> ModelBreaker:
    """The breaker of the current application."""
    return cast(ModelBreaker, current_app.extensions.setdefault("model_breaker", ModelBreaker()))
