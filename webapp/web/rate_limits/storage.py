"""Storage of rate limits: the memory of this process and, if configured, Redis.

Every call is counted in memory, so that no process passes more than its limit however Redis fails.
Redis adds the counts of the other processes.
"""

import logging
import time
from collections import deque
from collections.abc import Callable
from contextlib import suppress
from dataclasses import dataclass
from threading import Lock
from typing import Any, TypeVar

from limits.storage import MovingWindowSupport, RedisStorage, Storage

REDIS_SECONDS = 0.25  # to connect, and for each response
ERRORS_BEFORE_PAUSE = 3
PAUSE_SECONDS = 5.0
BREATH_SECONDS = 0.5  # after a single error: further counts of the same request do not wait
SWEEP_SECONDS = 60.0

log = logging.getLogger("askback.limits")

T = TypeVar("T")


@dataclass(slots=True, eq=False)
class Call:
    """One counted call, equal to itself alone; `shared` if Redis counted it, too."""

    moment: float
    shared: bool = False


class Memory:
    """The calls of the moving window of each key, oldest first."""

    def __init__(self) -> None:
        self._lock = Lock()
        self._windows: dict[str, tuple[int, deque[Call]]] = {}
        self._swept_at = time.time()

    def take(self, key: str, most: int, seconds: int) -> Call | None:
        """Count one call, unless `most` of the last `seconds` are counted already."""
        now = time.time()
        with self._lock:
            self._sweep(now)
            calls = self._windows.setdefault(key, (seconds, deque()))[1]
            self._forget(calls, now - seconds)
            if len(calls) >= most:
                return None
            calls.append(Call(now))
            return calls[-1]

    def give_back(self, key: str) -> bool:
        """Uncount the newest call; True if Redis counted it, too."""
        with self._lock:
            calls = self._windows.get(key, (0, deque[Call]()))[1]
            return bool(calls) and calls.pop().shared

    def take_back(self, key: str, call: Call) -> None:
        """Uncount this very call; others may have been counted after it."""
        with self._lock, suppress(KeyError, ValueError):  # forgotten meanwhile
            self._windows[key][1].remove(call)

    def window(self, key: str, seconds: int) -> tuple[float, int]:
        """The time of the oldest counted call (the current time without one), and their number."""
        now = time.time()
        with self._lock:
            calls = self._windows.get(key, (0, deque[Call]()))[1]
            self._forget(calls, now - seconds)
            return (calls[0].moment if calls else now), len(calls)

    def clear(self, key: str | None = None) -> None:
        """Forget the calls of one key, or everything."""
        with self._lock:
            if key is None:
                self._windows.clear()
            else:
                self._windows.pop(key, None)

    def _forget(self, calls: deque[Call], before: float) -> None:
        while calls and calls[0].moment < before:
            calls.popleft()

    def _sweep(self, now: float) -> None:
        if now - self._swept_at < SWEEP_SECONDS:
            return
        self._swept_at = now
        self._windows = {
            key: (seconds, calls)
            for key, (seconds, calls) in self._windows.items()
            if calls and calls[-1].moment >= now - seconds
        }


class LimitStorage(Storage, MovingWindowSupport):
    """The storage of all limits; none of its methods raises errors of Redis."""

    STORAGE_SCHEME = ["askback"]  # noqa: RUF012
    base_exceptions = ()

    def __init__(self, uri: str = "", *, redis_url: str | None = None, **_options: Any) -> None:
        super().__init__(uri)
        self._memory = Memory()
        self._redis = _redis(redis_url) if redis_url else None
        self._errors = 0
        self._paused_until = 0.0

    def acquire_entry(self, key: str, limit: int, expiry: int, amount: int = 1) -> bool:
        """Count a call; False, and nothing is counted, when the limit is reached."""
        call = self._memory.take(key, limit, expiry)
        if call is None:
            return False
        shared = self._ask(lambda redis: redis.acquire_entry(key, limit, expiry, amount))
        if shared is None:
            return True
        self._errors = 0
        if not shared:
            self._memory.take_back(key, call)
        call.shared = shared
        return shared

    def give_back(self, key: str) -> None:
        """Uncount a call that was counted here."""
        if self._memory.give_back(key):
            self._ask(lambda redis: redis.storage.lpop(redis.prefixed_key(key)))

    def get_moving_window(self, key: str, limit: int, expiry: int) -> tuple[float, int]:
        """The time of the oldest counted call, and their number, by the larger count."""
        here = self._memory.window(key, expiry)
        shared = self._ask(lambda redis: redis.get_moving_window(key, limit, expiry))
        return max(here, shared or here, key=lambda window: window[1])

    def clear(self, key: str) -> None:
        self._memory.clear(key)
        self._ask(lambda redis: redis.clear(key))

    def reset(self) -> int | None:
        self._memory.clear()
        return self._ask(lambda redis: redis.reset())

    def check(self) -> bool:
        return True

    def incr(self, key: str, expiry: int, amount: int = 1) -> int:
        raise NotImplementedError

    def get(self, key: str) -> int:
        raise NotImplementedError

    def get_expiry(self, key: str) -> float:
        raise NotImplementedError

    def _ask(self, question: Callable[[RedisStorage], T]) -> T | None:
        """The response of Redis; None if it is not configured, paused or failing."""
        now = time.monotonic()
        if self._redis is None or now < self._paused_until:
            return None
        if self._errors:  # only one call waits for Redis to fail; concurrent ones skip it
            self._paused_until = now + 2 * REDIS_SECONDS
        try:
            answer = question(self._redis)
        except Exception as error:
            self._failed(error)
            return None
        self._paused_until = 0.0
        return answer

    def _failed(self, error: Exception) -> None:
        self._errors += 1
        pause = PAUSE_SECONDS if self._errors >= ERRORS_BEFORE_PAUSE else BREATH_SECONDS
        self._paused_until = time.monotonic() + pause
        log.warning(
            "Redis did not count a call; this process counts alone for %s s: %s",
            pause,
            type(error).__name__,
        )


def redis_options(seconds: float) -> dict[str, Any]:
    """Options of a client with a time-out of `seconds` to connect and for each response."""
    from redis.backoff import NoBackoff  # takes long to import
    from redis.retry import Retry

    return {
        "socket_connect_timeout": seconds,
        "socket_timeout": seconds,
        # the default of the client is ten retries: seconds per request while Redis is unavailable
        "retry": Retry(NoBackoff(), 0),
    }


def _redis(url: str) -> RedisStorage:
    return RedisStorage(url.replace("unix://", "redis+unix://"), **redis_options(REDIS_SECONDS))
