"""Wake-ups between processes, carried by RQ."""

import logging
import threading
import time
from collections import deque
from collections.abc import Callable, Sequence
from contextlib import suppress
from typing import Any, cast

from flask import Flask, current_app

from webapp.base.config import Settings
from webapp.web.limiter import redis_options

DELIVERIES, TRANSCRIPTIONS = "askback-deliveries", "askback-transcriptions"
WAKE = "jobs.queue.wake"  # the function of all jobs
BEGUN = "begun"  # instead of an id, when somebody begins to record
REDIS_SECONDS = 0.3  # to connect, and for each reply
ENQUEUED_AT_ONCE = 64  # few wake-ups suffice: each takes any due work
WAITING_IN_REDIS = 64
REST_SECONDS = 0.02  # after enqueuing; wake-ups that arrive meanwhile form one batch
FULL_REST_SECONDS = 0.2  # if nothing was enqueued: constant checks would slow requests down
WAKE_UP_SECONDS = 60  # until an untaken wake-up expires

log = logging.getLogger("askback.deliveries")


class WakeUpQueue:
    """Passes the wake-ups of this process on, to Redis if it is configured.

    take, take_when_free  wake the worker of this process, if there is one
    """

    def __init__(self, redis_url: str | None, name: str = DELIVERIES) -> None:
        self.name, self.redis_url = name, redis_url
        self.take: Callable[[Sequence[str]], None] = lambda ids: None
        self.take_when_free: Callable[[str], None] = lambda each: None
        self._ids: deque[str] = deque(maxlen=ENQUEUED_AT_ONCE)
        self._arrived = threading.Event()
        self._starting = threading.Lock()
        self._started = self._failed = False
        self._client: Any = None

    def hand_over(self, ids: Sequence[str]) -> None:
        """Queue the ids for a thread that enqueues them in Redis; drop ids that do not fit."""
        if not ids:
            return
        if self.redis_url is None:
            self.take(ids)
            return
        self._ids.extend(ids)
        self._arrived.set()
        with self._starting, suppress(RuntimeError):  # no thread could start: the next call retries
            if not self._started:
                threading.Thread(target=self._pass_on, name="wake-ups", daemon=True).start()
                self._started = True

    def client(self, seconds: float = REDIS_SECONDS) -> Any:
        """Return a client of Redis that waits so long for a reply, and retries nothing."""
        from redis import Redis  # takes long to import

        bounds = redis_options(REDIS_SECONDS) | {"socket_timeout": seconds}
        return Redis.from_url(self.redis_url or "", **bounds)

    def _pass_on(self) -> None:
        while self._arrived.wait():
            self._arrived.clear()
            try:
                ids = [self._ids.popleft() for _ in range(len(self._ids))]
                enqueued, self._failed = self._enqueue(ids), False
            except Exception:
                if not self._failed:
                    log.warning("no wake-up was enqueued: all is done later", exc_info=True)
                enqueued, self._failed = False, True
            time.sleep(REST_SECONDS if enqueued else FULL_REST_SECONDS)

    def _enqueue(self, ids: Sequence[str]) -> bool:
        """Return False if nothing was enqueued, because enough wake-ups wait."""
        from rq import Queue  # takes long to import, so only after the server listens
        from rq.serializers import JSONSerializer

        if self._client is None:
            self._client = self.client()
        waiting = Queue(self.name, connection=self._client, serializer=JSONSerializer)
        if waiting.count >= WAITING_IN_REDIS:
            return False
        wake_ups = [
            Queue.prepare_data(
                WAKE,
                (self.name, each),
                timeout=-1,  # a time-out would start a timer thread for each job
                result_ttl=0,
                ttl=WAKE_UP_SECONDS,
                failure_ttl=WAKE_UP_SECONDS,
            )
            for each in ids
        ]
        waiting.enqueue_many(wake_ups)
        return True


def init_app(app: Flask, config: Settings) -> None:
    """Give the application its own wake-up queues; starts and connects nothing."""
    for name in (DELIVERIES, TRANSCRIPTIONS):
        app.extensions[name] = WakeUpQueue(config.redis_url, name)


def wake_up_queue(name: str) -> WakeUpQueue:
    """Return the queue of this name of the current application."""
    return cast(WakeUpQueue, current_app.extensions[name])


def wake(name: str, each: str) -> None:
    """Run a wake-up job: the worker of this process takes whatever is due first."""
    wake_up_queue(name).take_when_free(each)


def hand_over(delivery_ids: Sequence[str]) -> None:
    """Wake a worker for these deliveries soon; never blocks and never raises."""
    wake_up_queue(DELIVERIES).hand_over(delivery_ids)


def hand_over_recordings(recording_ids: Sequence[str]) -> None:
    """Wake a worker for these recordings soon; BEGUN loads the model. Never blocks or raises."""
    wake_up_queue(TRANSCRIPTIONS).hand_over(recording_ids)
