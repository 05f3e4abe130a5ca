"""The worker of one process: claims due work for all free threads, and makes one attempt each."""

import logging
import threading
import time
from abc import ABC, abstractmethod
from collections.abc import Callable, Hashable, Iterator, Sequence
from contextlib import contextmanager
from typing import Any, Generic, TypeVar

from flask import Flask
from sqlalchemy.exc import SQLAlchemyError

from jobs.queue import wake_up_queue

SWEEP_SECONDS = 1.0
LOG_SECONDS = 60.0  # between two log lines about the same failure
STORE_TRIES = 5  # if the database fails, while the lease lasts
STORE_PAUSE_SECONDS = 1.0

T = TypeVar("T", bound=Hashable)
W = TypeVar("W", bound="Worker[Any]")

log = logging.getLogger("askback.jobs")


class Worker(ABC, Generic[T]):
    """Runs at most `threads` attempts at a time, each in a thread, and renews their leases.

    It looks for work when woken, when an attempt ends, and every second.

    queue  the name of the queue whose wake-ups it takes
    """

    queue: str

    def __init__(self, app: Flask, threads: int) -> None:
        self.app = app
        self.threads = threads
        self.ended = threading.Event()
        self._refused_at: float | None = None
        self._changed = threading.Condition()
        self._woken = False
        self._running: dict[T, float] = {}  # with the start time
        self._logs_at = time.monotonic()

    @abstractmethod
    def claim(self, most: int) -> Sequence[T]:
        """Lease due work, `most` items at most. Runs in an application context."""

    @abstractmethod
    def attempt(self, claimed: T) -> None:
        """Process and settle one item; must not raise."""

    @abstractmethod
    def sweep(self) -> None:
        """Renew leases and tidy up, every second. Runs in an application context."""

    @abstractmethod
    def stop(self) -> None:
        """Refuse, and leave nothing to this process, because it ends."""

    @property
    def running(self) -> dict[T, float]:
        """The attempts of this process, with their start times (`time.monotonic`)."""
        with self._changed:
            return self._running.copy()

    def take(self, ids: Sequence[str]) -> None:  # noqa: ARG002 (for overrides)
        """Look for work now; never blocks."""
        with self._changed:
            self._woken = True
            self._changed.notify_all()

    def take_when_free(self, each: str) -> None:
        """Look for work once a thread is free; until then, other processes get the jobs."""
        with self._changed:
            self._changed.wait_for(lambda: self.ended.is_set() or self._free() > 0)
        self.take([each])

    def refuse(self) -> None:
        """Stop claiming; running attempts continue. A second call changes nothing."""
        if self._refused_at is None:
            self._refused_at = time.monotonic()
        self.ended.set()
        self.take([])

    def work(self) -> None:
        """Work until nothing is due and nothing runs."""
        while self._begin_due() or self._running:
            with self._changed:
                self._changed.wait_for(lambda: self._woken or not self._running)
                self._woken = False

    def run(self) -> None:
        """Look for work and sweep until `refuse`; continue to sweep until the last attempt ends."""
        sweep_at = time.monotonic() + SWEEP_SECONDS
        while not self.ended.is_set() or self._running:
            with self._changed:
                self._changed.wait_for(lambda: self._woken, SWEEP_SECONDS)
                self._woken = False
            self._try(self._begin_due)
            if time.monotonic() >= sweep_at:
                self._try(self.sweep)
                sweep_at = time.monotonic() + SWEEP_SECONDS

    def store(self, change: Callable[[], object]) -> None:
        """Make a change in its own application context, with retries; raises the last failure."""
        for left in reversed(range(STORE_TRIES)):
            try:
                with self.app.app_context():
                    change()
                return
            except SQLAlchemyError:
                if not left:
                    raise
            time.sleep(STORE_PAUSE_SECONDS)

    def _try(self, action: Callable[[], object]) -> None:
        try:
            with self.app.app_context():
                action()
        except Exception:
            if time.monotonic() >= self._logs_at:
                self._logs_at = time.monotonic() + LOG_SECONDS
                log.exception("a sweep failed")

    def _free(self) -> int:
        return 0 if self.ended.is_set() else self.threads - len(self._running)

    def _begin_due(self) -> bool:
        """Claim work for all free threads and start it; False if nothing was claimed."""
        free = self._free()
        if free <= 0:
            return False
        with self.app.app_context():
            found = self.claim(free)
        with self._changed:
            self._running |= dict.fromkeys(found, time.monotonic())
        for each in found:
            try:
                threading.Thread(target=self._attempt, args=(each,), daemon=True).start()
            except RuntimeError:  # no thread can start: the lease expires
                self._end(each)
        return bool(found)

    def _attempt(self, claimed: T) -> None:
        try:
            self.attempt(claimed)
        finally:
            self._end(claimed)

    def _end(self, claimed: T) -> None:
        with self._changed:
            self._running.pop(claimed, None)
            self._woken = True
            self._changed.notify_all()


@contextmanager
def at_work(worker: W, *, start_after: float) -> Iterator[W]:
    """Run the worker while the block runs, with an RQ thread if Redis is configured.

    start_after  seconds until the threads begin, and import RQ
    """
    app, name = worker.app, worker.queue

    def begin() -> None:
        with app.app_context():
            wake_ups = wake_up_queue(name)
        wake_ups.take, wake_ups.take_when_free = worker.take, worker.take_when_free
        if worker.ended.wait(start_after):
            return
        if wake_ups.redis_url is not None:
            from jobs.rq_worker import work_until  # takes long to import

            arguments = (app, worker.ended, name)
            threading.Thread(target=work_until, args=arguments, name="taking", daemon=True).start()
        worker.run()

    threading.Thread(target=begin, name=name, daemon=True).start()
    try:
        yield worker
    finally:
        worker.stop()
