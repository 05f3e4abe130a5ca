"""Where calls are counted: in the memory of this process and, where there is one, in Redis.

Every call is counted in memory, so that a Redis that fails, in whatever way and at whatever step,
lets no process pass more than its limit. Redis adds what the other processes counted.
"""

import logging
import time
from collections import deque
from collections.abc import Callable
from dataclasses import dataclass
from threading import Lock
from typing import Any, TypeVar

from limits.storage import MovingWindowSupport, RedisStorage, Storage
from redis.backoff import NoBackoff
from redis.retry import Retry

REDIS_SECONDS = 0.25  # to connect, and to answer
ERRORS_BEFORE_PAUSE = 3
PAUSE_SECONDS = 5.0
BREATH_SECONDS = 0.5  # after a single error: what the same request counts next does not wait again
SWEEP_SECONDS = 60.0

log = logging.getLogger("askback.limits")

T = TypeVar("T")


@dataclass(slots=True)
class Call:
    """One counted call; `shared` when Redis counted it, too."""

    moment: float
    shared: bool = False


class Memory:
    """Per key the calls of its moving window, oldest first."""

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
        """Uncount the newest call; True when Redis counted that call, too."""
        with self._lock:
            calls = self._windows.get(key, (0, deque[Call]()))[1]
            return bool(calls) and calls.pop().shared

    def window(self, key: str, seconds: int) -> tuple[float, int]:
        """The moment of the oldest counted call, or now, and how many there are."""
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
    """The storage behind every limit; none of its methods raises what Redis raises."""

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
            self._memory.give_back(key)
        call.shared = shared
        return shared

    def give_back(self, key: str) -> None:
        """Uncount a call that was counted here."""
        if self._memory.give_back(key):
            self._ask(lambda redis: redis.storage.lpop(redis.prefixed_key(key)))

    def get_moving_window(self, key: str, limit: int, expiry: int) -> tuple[float, int]:
        """The oldest counted call and their number, by whoever counted more."""
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
        """What Redis answers; None without one, while it is paused, and when it fails."""
        now = time.monotonic()
        if self._redis is None or now < self._paused_until:
            return None
        if self._errors:  # one call finds out; those beside it do not wait
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
    """Of a client that takes at most `seconds` to connect and as long for each answer."""
    return {
        "socket_connect_timeout": seconds,
        "socket_timeout": seconds,
        # the client's own default is ten retries: seconds per request while Redis is away
        "retry": Retry(NoBackoff(), 0),
    }


def _redis(url: str) -> RedisStorage:
    return RedisStorage(url.replace("unix://", "redis+unix://"), **redis_options(REDIS_SECONDS))
