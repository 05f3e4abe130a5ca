"""The limiter of all routes, and how a reached limit is described."""

import math
import time
from collections.abc import Callable, Iterable
from http import HTTPStatus
from typing import TypeAlias, cast

from flask import Flask, Response, after_this_request, g, request
from flask_limiter import Limiter, RateLimitExceeded, RequestLimit
from limits import RateLimitItem

from webapp.config import Settings, settings
from webapp.web.rate_limits.client_address import client_network
from webapp.web.rate_limits.storage import LimitStorage
from webapp.web.request_kind import PROGRAMS, RequestKind, request_kind
from webapp.web.wakeups import waited

UNITS = (("hour", 3600), ("minute", 60), ("second", 1))

AGENT_TOKENS = "agent_tokens"  # one count for those made by agents and by creators

Judge: TypeAlias = Callable[[Response], bool]  # whether a call counts, judged by its response


def is_failure(response: Response) -> bool:
    """True for a failed attempt (4xx); a server error says nothing about the attempt."""
    return HTTPStatus.BAD_REQUEST <= response.status_code < HTTPStatus.INTERNAL_SERVER_ERROR


class DecoratorLimiter(Limiter):
    """Counts a call before its view runs, and uncounts it when it should not count after all.

    `deduct_when` decides that by the response. A refused call is counted by no limit. Limits of the
    API are decorators; a check before routing would slow down every call. So would one for the
    pages of respondents, of which only POST is limited.
    """

    def _check_request_limit(
        self,
        callable_name: str | None = None,
        in_middleware: bool = True,  # noqa: FBT001, FBT002
    ) -> None:
        if not settings().write_limits or waited():
            return
        if in_middleware and _has_none_before_its_route():
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
        """Count by all limits or by none. Test-then-count would let parallel calls pass."""
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
            taken.clear()  # a failure of a later hook makes another response
            return response

    def _uncount(self, keys: Iterable[str]) -> None:
        for key in keys:
            cast(LimitStorage, self.storage).give_back(key)


def _has_none_before_its_route() -> bool:
    kind = request_kind()
    return kind in PROGRAMS or (kind is RequestKind.RESPONDENT_PAGE and request.method != "POST")


limiter = DecoratorLimiter(client_network, strategy="moving-window", key_prefix="askback")


def init_limiter(app: Flask, config: Settings) -> None:
    """Bind the limiter to the memory of this process and to Redis, if configured."""
    app.config["RATELIMIT_STORAGE_URI"] = "askback://"
    app.config["RATELIMIT_STORAGE_OPTIONS"] = {"redis_url": config.redis_url}
    limiter.init_app(app)


def seconds_to_wait(error: RateLimitExceeded) -> int:
    """Seconds until the oldest counted call leaves the window; the whole window if unknown."""
    current = limiter.current_limit
    window: int = error.limit.limit.get_expiry()
    return _seconds_until(current.window.reset_time if current else time.time() + window, window)


def seconds_until_free(limit: RateLimitItem, key: tuple[str, ...]) -> int:
    """The same for a limit that is counted by hand."""
    return _seconds_until(
        limiter.limiter.get_window_stats(limit, *key).reset_time, limit.get_expiry()
    )


def _seconds_until(moment: float, most: int) -> int:
    return min(most, max(1, math.ceil(moment - time.time())))


def is_first_refusal(reached: RequestLimit) -> bool:
    """True for the first refusal of this limit and key within its window.

    Itself a limit of one, so it holds across all processes that share one Redis.
    """
    once = type(reached.limit)(1, reached.limit.multiples, namespace="refusals")
    return limiter.limiter.hit(once, *reached.request_args)


def limit_in_words(error: RateLimitExceeded) -> str:
    """`the limit of publishes is 10 per minute`, `the limit of requests is 2 per 10 seconds`"""
    return rate_in_words(str(error.limit.error_message or "requests"), error.limit.limit)


def rate_in_words(counted: str, limit: RateLimitItem) -> str:
    """The same for a limit that is counted by hand."""
    unit = limit.GRANULARITY.name
    period = unit if limit.multiples == 1 else f"{limit.multiples} {unit}s"
    return f"the limit of {counted} is {limit.amount} per {period}"


def time_in_words(seconds: int) -> str:
    """`1 second`, `42 seconds`, `12 minutes`, `3 hours`; rounded up."""
    unit, length = next(each for each in UNITS if seconds >= 2 * each[1] or each[1] == 1)
    number = math.ceil(seconds / length)
    return f"{number} {unit}{'s' if number > 1 else ''}"
