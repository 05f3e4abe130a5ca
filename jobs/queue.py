"""Wake-ups, which RQ carries between processes."""

import logging
import queue
import threading
import time
from collections.abc import Callable, Sequence
from contextlib import suppress
from typing import TYPE_CHECKING, NamedTuple, cast

from flask import Flask, current_app

from webapp.base.config import Settings

if TYPE_CHECKING:
    from redis import Redis


class Kind(NamedTuple):
    """A queue of RQ and the function of its jobs, whose only argument is an id."""

    name: str
    function: str
    extension: str


DELIVERIES = Kind("askback-deliveries", "jobs.deliver.wake", "wake_up_queue")
TRANSCRIPTIONS = Kind(
    "askback-transcriptions", "jobs.transcribe.wake", "transcription_wake_up_queue"
)
BEGUN = "begun"  # in place of an id: somebody begins to record
REDIS_SECONDS = 0.3  # to connect, and for each answer
HANDED_OVER = 1000  # ids that wait in this process
ENQUEUED_AT_ONCE = 64  # wake-ups: each goes on with whatever is due
WAITING_IN_REDIS = 64
REST_SECONDS = 0.02  # after enqueuing: what comes meanwhile goes together
FULL_REST_SECONDS = 0.2  # where nothing was enqueued: a look each time would cost requests theirs
WAKE_UP_SECONDS = 60  # after which one that nobody took is void

log = logging.getLogger("askback.deliveries")


class WakeUpQueue:
    """Where this process hands its wake-ups to.

    take  without Redis: wakes what works in this process, if anything does
    """

    def __init__(self, redis_url: str | None, kind: Kind = DELIVERIES) -> None:
        self.kind = kind
        self.redis_url = redis_url
        self.take: Callable[[Sequence[str]], None] = lambda ids: None
        self._ids: queue.Queue[str] = queue.Queue(HANDED_OVER)
        self._starting = threading.Lock()
        self._started = self._failed = False
        self._client: Redis | None = None

    def hand_over(self, ids: Sequence[str]) -> None:
        """Leave the ids to a thread that enqueues them; what finds no room is dropped."""
        if not ids:
            return
        if self.redis_url is None:
            self.take(ids)
            return
        with suppress(queue.Full):
            for each in ids:
                self._ids.put_nowait(each)
        if not self._started:
            self._start()

    def _start(self) -> None:
        with self._starting, suppress(RuntimeError):  # no thread could start: the next call tries
            if not self._started:
                threading.Thread(target=self._pass_on, name="wake-ups", daemon=True).start()
                self._started = True

    def client(self, seconds: float = REDIS_SECONDS) -> "Redis":
        """A client that gives up after so many seconds of silence, and tries nothing again."""
        from redis import Redis  # takes long to import
        from redis.backoff import NoBackoff
        from redis.retry import Retry

        return Redis.from_url(
            self.redis_url or "",
            retry=Retry(NoBackoff(), 0),
            socket_connect_timeout=min(seconds, REDIS_SECONDS),
            socket_timeout=seconds,
        )

    def _pass_on(self) -> None:
        while True:
            ids = [self._ids.get()]
            with suppress(queue.Empty):
                while True:
                    ids.append(self._ids.get_nowait())
            time.sleep(REST_SECONDS if self._try_to_enqueue(ids) else FULL_REST_SECONDS)

    def _try_to_enqueue(self, ids: Sequence[str]) -> bool:
        """False if none was enqueued: enough of them wait, or Redis is away."""
        try:
            enqueued = self._enqueue(ids)
        except Exception:
            if not self._failed:
                log.warning("no wake-up was enqueued: all is done a second later", exc_info=True)
            self._failed = True
            return False
        self._failed = False
        return enqueued

    def _enqueue(self, ids: Sequence[str]) -> bool:
        from rq import Queue  # takes long to import, so not before the server listens
        from rq.serializers import JSONSerializer

        if self._client is None:
            self._client = self.client()
        waiting = Queue(self.kind.name, connection=self._client, serializer=JSONSerializer)
        if waiting.count >= WAITING_IN_REDIS:
            return False
        wake_ups = (
            Queue.prepare_data(
                self.kind.function,
                (each,),
                timeout=-1,  # any other would start a timer thread for each
                result_ttl=0,
                ttl=WAKE_UP_SECONDS,
                failure_ttl=WAKE_UP_SECONDS,
            )
            for each in ids[:ENQUEUED_AT_ONCE]
        )
        waiting.enqueue_many(list(wake_ups))
        return True


def init_app(app: Flask, config: Settings) -> None:
    """Give the application its own queues of wake-ups; nothing is started or connected."""
    for kind in (DELIVERIES, TRANSCRIPTIONS):
        app.extensions[kind.extension] = WakeUpQueue(config.redis_url, kind)


def wake_up_queue(kind: Kind = DELIVERIES) -> WakeUpQueue:
    """The queue of this kind of the current application."""
    return cast(WakeUpQueue, current_app.extensions[kind.extension])


def hand_over(delivery_ids: Sequence[str]) -> None:
    """Wake a worker that delivers these, soon; never blocks and never raises."""
    wake_up_queue().hand_over(delivery_ids)


def hand_over_recordings(recording_ids: Sequence[str]) -> None:
    """Wake a worker that transcribes these, soon; for BEGUN, it gets ready. As `hand_over`."""
    wake_up_queue(TRANSCRIPTIONS).hand_over(recording_ids)
