"""Rate limits: the keys they count by, the storage of the counts, and the words of a refusal."""

import logging
import math
import re
import time
from collections import defaultdict, deque
from collections.abc import Callable, Iterable
from contextlib import suppress
from http import HTTPStatus
from ipaddress import IPv4Address, IPv6Address, IPv6Network, ip_address
from threading import Lock
from typing import Any, TypeAlias, TypeVar, cast

from flask import Flask, Response, after_this_request, g, request
from flask_limiter import Limiter, RateLimitExceeded, RequestLimit
from limits import RateLimitItem
from limits.storage import MovingWindowSupport, RedisStorage, Storage

from webapp.base.config import Settings, settings
from webapp.web.request_kind import PROGRAMS, RequestKind, request_kind
from webapp.web.wakeups import waited

WITH_PORT = re.compile(r"\[([^\[\]]+)\](?::\d+)?|([\d.]+):\d+")


def client_network() -> str:
    """Return the key of limits by address: an IPv4 address, or the /64 network of an IPv6 address.

    Requests with an unreadable address share one key.
    """
    address = client_address()
    if isinstance(address, IPv6Address):
        return str(IPv6Network((int(address), 64), strict=False))
    return str(address or "an address that cannot be read")


def client_address() -> IPv4Address | IPv6Address | None:
    """Return the network address of this request; None when it is unreadable.

    Proxies may add a port and brackets. An IPv4 address mapped into IPv6 is returned as IPv4.
    """
    text = request.remote_addr or ""
    written = WITH_PORT.fullmatch(text)
    try:
        address = ip_address((written[1] or written[2]) if written else text)
    except ValueError:
        return None
    return (address.ipv4_mapped if isinstance(address, IPv6Address) else None) or address


REDIS_SECONDS = 0.25  # to connect, and for each response
PAUSE_SECONDS = 2.0  # after an error
SWEEP_SECONDS = 60.0

log = logging.getLogger("askback.limits")

T = TypeVar("T")


class Memory:
    """The counted calls of each key: when they leave its moving window, oldest first."""

    def __init__(self) -> None:
        self._lock = Lock()
        self._windows: defaultdict[str, deque[float]] = defaultdict(deque)
        self._swept_at = time.time()

    def take(self, key: str, most: int, seconds: int) -> bool:
        """Count one call, unless the last `seconds` have `most` counted calls already."""
        now = time.time()
        with self._lock:
            if now >= self._swept_at + SWEEP_SECONDS:
                self._sweep(now)
            calls = self._live(key, now)
            if len(calls) >= most:
                return False
            calls.append(now + seconds)
            return True

    def give_back(self, key: str) -> None:
        """Uncount the newest call."""
        with self._lock, suppress(IndexError):
            self._windows[key].pop()

    def window(self, key: str, seconds: int) -> tuple[float, int]:
        """Return the time of the oldest call, or now without one, and the number of calls."""
        now = time.time()
        with self._lock:
            calls = self._live(key, now)
            return (calls[0] - seconds if calls else now), len(calls)

    def _live(self, key: str, now: float) -> deque[float]:
        calls = self._windows[key]
        while calls and calls[0] < now:
            calls.popleft()
        return calls

    def _sweep(self, now: float) -> None:
        self._swept_at = now
        for key in list(self._windows):
            if not self._live(key, now):
                del self._windows[key]


class LimitStorage(Storage, MovingWindowSupport):
    """The storage of all limits. Its methods never raise errors of Redis."""

    STORAGE_SCHEME = ["askback"]  # noqa: RUF012
    base_exceptions = ()

    def __init__(self, uri: str = "", *, redis_url: str | None = None, **_options: Any) -> None:
        super().__init__(uri)
        self._memory = Memory()
        self._redis: RedisStorage | None = None
        if redis_url:
            redis_url = redis_url.replace("unix://", "redis+unix://")
            self._redis = RedisStorage(redis_url, **redis_options(REDIS_SECONDS))
        self._paused_until = 0.0

    def acquire_entry(self, key: str, limit: int, expiry: int, amount: int = 1) -> bool:
        """Count a call here and in Redis and return True; where a limit is reached, in neither."""
        if not self._memory.take(key, limit, expiry):
            return False
        shared = self._ask(lambda redis: redis.acquire_entry(key, limit, expiry, amount))
        if shared is False:
            self._memory.give_back(key)
        return shared is not False

    def give_back(self, key: str) -> None:
        """Uncount a call."""
        self._memory.give_back(key)
        self._ask(lambda redis: redis.storage.lpop(redis.prefixed_key(key)))

    def get_moving_window(self, key: str, limit: int, expiry: int) -> tuple[float, int]:
        """Return the time of the oldest call and the number of calls, by the larger count."""
        here = self._memory.window(key, expiry)
        shared = self._ask(lambda redis: redis.get_moving_window(key, limit, expiry))
        return max(here, shared or here, key=lambda window: window[1])

    def reset(self) -> int | None:
        self._memory = Memory()
        return self._ask(lambda redis: redis.reset())

    def get(self, *_: object) -> int:
        """Not implemented: nothing that we use of the two libraries calls it."""
        raise NotImplementedError

    incr = get_expiry = check = clear = get  # type: ignore[assignment]

    def _ask(self, question: Callable[[RedisStorage], T]) -> T | None:
        """Return the response of Redis; None if it is not configured, paused or failing."""
        now = time.monotonic()
        if self._redis is None or now < self._paused_until:
            return None
        if self._paused_until:  # only one call tries Redis after an error; others skip it
            self._paused_until = now + 2 * REDIS_SECONDS
        try:
            answer = question(self._redis)
        except Exception as error:
            self._paused_until = time.monotonic() + PAUSE_SECONDS
            log.warning("Redis counted no call, this process did: %s", type(error).__name__)
            return None
        self._paused_until = 0.0
        return answer


def redis_options(seconds: float) -> dict[str, Any]:
    """Return the options of a client that waits `seconds` to connect and for each response."""
    from redis.backoff import NoBackoff  # takes long to import
    from redis.retry import Retry

    return {
        "socket_connect_timeout": seconds,
        "socket_timeout": seconds,
        # by default the client retries ten times, which takes seconds while Redis is unavailable
        "retry": Retry(NoBackoff(), 0),
    }


UNITS = (("hour", 3600), ("minute", 60), ("second", 1))

AGENT_TOKENS = "agent_tokens"  # agents and creators share the count of new tokens

Judge: TypeAlias = Callable[[Response], bool]  # tells from its response whether a call counts


def is_failure(response: Response) -> bool:
    """Return whether the attempt failed (4xx); a server error says nothing about it."""
    return HTTPStatus.BAD_REQUEST <= response.status_code < HTTPStatus.INTERNAL_SERVER_ERROR


class DecoratorLimiter(Limiter):
    """Counts a call before its view runs; `deduct_when` decides by the response whether it stays.

    No limit counts a refused call. Limits of the API are decorators, because a check before routing
    would slow down every call. For the same reason only POST is limited on respondent pages.
    """

    def _check_request_limit(
        self,
        callable_name: str | None = None,
        in_middleware: bool = True,  # noqa: FBT001, FBT002
    ) -> None:
        if not settings().write_limits or waited():
            return
        kind = request_kind()
        shown = kind is RequestKind.RESPONDENT_PAGE and request.method != "POST"
        if in_middleware and (shown or kind in PROGRAMS):
            return
        counted = g.setdefault("limits_counted", set())
        if callable_name in counted:  # a repeated run of the view
            return
        try:
            super()._check_request_limit(callable_name, in_middleware)
            self._count_conditional()
        finally:
            self.context.conditional_deductions.clear()
        if callable_name:
            counted.add(callable_name)

    def _count_conditional(self) -> None:
        """Count the call by all limits or by none; to test first would let parallel calls pass."""
        taken: list[tuple[Judge, str]] = []
        for limit, arguments in self.context.conditional_deductions.items():
            if not self.limiter.hit(limit.limit, *arguments):
                self._uncount(key for _, key in taken)
                full = RequestLimit(self, limit.limit, arguments, True, limit.shared)  # noqa: FBT003
                self.context.view_rate_limit = full
                if limit.on_breach:
                    limit.on_breach(full)
                raise RateLimitExceeded(limit)
            taken.append((cast(Judge, limit.deduct_when), limit.limit.key_for(*arguments)))

        @after_this_request
        def give_back(response: Response) -> Response:
            self._uncount(key for counts, key in taken if not counts(response))
            taken.clear()  # if a later hook fails, this one runs again
            return response

    def _uncount(self, keys: Iterable[str]) -> None:
        for key in keys:
            cast(LimitStorage, self.storage).give_back(key)


limiter = DecoratorLimiter(client_network, strategy="moving-window", key_prefix="askback")


def init_limiter(app: Flask, config: Settings) -> None:
    """Bind the limiter to the memory of this process, and to Redis if that is configured."""
    app.config["RATELIMIT_STORAGE_URI"] = "askback://"
    app.config["RATELIMIT_STORAGE_OPTIONS"] = {"redis_url": config.redis_url}
    limiter.init_app(app)


def seconds_to_wait(error: RateLimitExceeded) -> int:
    """Return the seconds until the oldest call leaves the window; the whole window if unknown."""
    current = limiter.current_limit
    window: int = error.limit.limit.get_expiry()
    return _seconds_until(current.window.reset_time if current else time.time() + window, window)


def seconds_until_free(limit: RateLimitItem, key: tuple[str, ...]) -> int:
    """Return the seconds until a limit without a decorator admits another call for this key."""
    return _seconds_until(
        limiter.limiter.get_window_stats(limit, *key).reset_time, limit.get_expiry()
    )


def _seconds_until(moment: float, most: int) -> int:
    return min(most, max(1, math.ceil(moment - time.time())))


def is_first_refusal(reached: RequestLimit) -> bool:
    """Return whether this is the first refusal of this limit and key within its window.

    The check is itself a limit of one, so it covers all processes that share one Redis.
    """
    once = type(reached.limit)(1, reached.limit.multiples, namespace="refusals")
    return limiter.limiter.hit(once, *reached.request_args)


def limit_in_words(error: RateLimitExceeded) -> str:
    """Return for example `the limit of publishes is 10 per minute` or `… is 2 per 10 seconds`."""
    return rate_in_words(str(error.limit.error_message or "requests"), error.limit.limit)


def rate_in_words(counted: str, limit: RateLimitItem) -> str:
    """Return the same sentence for any limit; `counted` is a plural noun such as `requests`."""
    unit = limit.GRANULARITY.name
    period = unit if limit.multiples == 1 else f"{limit.multiples} {unit}s"
    return f"the limit of {counted} is {limit.amount} per {period}"


def time_in_words(seconds: int) -> str:
    """Return for example `1 second`, `42 seconds`, `12 minutes` or `3 hours`; rounded up."""
    unit, length = next(each for each in UNITS if seconds >= 2 * each[1] or each[1] == 1)
    number = math.ceil(seconds / length)
    return f"{number} {unit}{'s' if number > 1 else ''}"
