"""Extension objects, created unbound and bound by `webapp.app.create_app`."""

import math
import re
import time
from collections.abc import Callable, Iterable
from http import HTTPStatus
from ipaddress import IPv4Address, IPv6Address, IPv6Network, ip_address
from typing import TypeAlias, cast

from flask import Flask, Response, g, request
from flask_babel import Babel
from flask_limiter import Limiter, RateLimitExceeded, RequestLimit
from flask_login import LoginManager
from flask_wtf import CSRFProtect
from htmx_flask import Htmx

from webapp.config import Settings, settings
from webapp.web.rate_limit_storage import LimitStorage
from webapp.web.request_kind import RequestKind, request_kind

UNITS = (("hour", 3600), ("minute", 60), ("second", 1))
UNREADABLE_ADDRESS = "an address that cannot be read"
WITH_PORT = re.compile(r"\[([^\[\]]+)\](?::\d+)?|([\d.]+):\d+")

Judge: TypeAlias = Callable[[Response], bool]  # whether a call counts after all


def client_network() -> str:
    """Whom a limit by address counts: an IPv4 address, or the /64 network of an IPv6 one.

    All whose address cannot be read count together.
    """
    address = client_address()
    if isinstance(address, IPv6Address):
        return str(IPv6Network((int(address), 64), strict=False))
    return str(address or UNREADABLE_ADDRESS)


def client_address() -> IPv4Address | IPv6Address | None:
    """The network address of this request; None when it cannot be read."""
    text, port = request.remote_addr or "", request.environ.get("REMOTE_PORT", "")
    # waitress takes the end of a forwarded ::ffff:203.0.113.9 for a port
    return read_address(f"{text}:{port}" if "." in port else text)


def read_address(text: str) -> IPv4Address | IPv6Address | None:
    """An address as proxies write it, with or without port and brackets; None for anything else.

    IPv4 addresses mapped into IPv6 are told as IPv4.
    """
    written = WITH_PORT.fullmatch(text)
    try:
        address = ip_address((written[1] or written[2]) if written else text)
    except ValueError:
        return None
    return (address.ipv4_mapped if isinstance(address, IPv6Address) else None) or address


def is_failure(response: Response) -> bool:
    """Whether a try failed; a fault of ours says nothing about what was tried."""
    return HTTPStatus.BAD_REQUEST <= response.status_code < HTTPStatus.INTERNAL_SERVER_ERROR


class DecoratorLimiter(Limiter):
    """Limits that count a call before it works, and give it back when it should not count.

    What `deduct_when` says of the response decides on giving back. A refused call counts nowhere.
    The limits of the API are decorators; a look before its routes would cost every call. So would
    one before the pages of respondents, whose posts alone are limited.
    """

    def init_app(self, app: Flask) -> None:
        super().init_app(app)
        app.after_request(self._give_back)

    def _check_request_limit(
        self,
        callable_name: str | None = None,
        in_middleware: bool = True,  # noqa: FBT001, FBT002
    ) -> None:
        if not settings().write_limits or (in_middleware and _has_none_before_its_route()):
            return
        counted = g.setdefault("limits_counted", set())
        if callable_name in counted:  # the view runs once more
            return
        try:
            super()._check_request_limit(callable_name, in_middleware)
            self._count_conditional()
        finally:
            self.context.conditional_deductions.clear()
        if callable_name:
            counted.add(callable_name)

    def _count_conditional(self) -> None:
        """All or none. Testing alone would let parallel calls pass that are counted too late."""
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
        g.limits_taken = [*g.get("limits_taken", ()), *taken]

    def _give_back(self, response: Response) -> Response:
        taken = g.pop("limits_taken", ())
        self._uncount(key for counts, key in taken if not counts(response))
        return response

    def _uncount(self, keys: Iterable[str]) -> None:
        for key in keys:
            cast(LimitStorage, self.storage).give_back(key)


def _has_none_before_its_route() -> bool:
    kind = request_kind()
    return kind is RequestKind.API or (
        kind is RequestKind.RESPONDENT_PAGE and request.method != "POST"
    )


babel = Babel()
csrf = CSRFProtect()
htmx = Htmx()
limiter = DecoratorLimiter(client_network, strategy="moving-window", key_prefix="askback")
login = LoginManager()


def init_limiter(app: Flask, config: Settings) -> None:
    """Bind the limiter to this process and, where there is one, to Redis."""
    app.config["RATELIMIT_STORAGE_URI"] = "askback://"
    app.config["RATELIMIT_STORAGE_OPTIONS"] = {"redis_url": config.redis_url}
    limiter.init_app(app)


def seconds_to_wait(error: RateLimitExceeded) -> int:
    """Until the oldest counted call leaves the window; the whole window if nobody can tell."""
    current = limiter.current_limit
    window: int = error.limit.limit.get_expiry()
    reset_at = current.window.reset_time if current else time.time() + window
    return min(window, max(1, math.ceil(reset_at - time.time())))


def is_first_refusal(reached: RequestLimit) -> bool:
    """Whether the limit has refused nobody else within its window, among those it counts together.

    Itself a limit of one, so that it holds for all processes with one Redis.
    """
    once = type(reached.limit)(1, reached.limit.multiples, namespace="refusals")
    return limiter.limiter.hit(once, *reached.request_args)


def limit_in_words(error: RateLimitExceeded) -> str:
    """`the limit of publishes is 10 per minute`, `the limit of requests is 2 per 10 seconds`"""
    limit, counted = error.limit.limit, error.limit.error_message or "requests"
    unit = limit.GRANULARITY.name
    period = unit if limit.multiples == 1 else f"{limit.multiples} {unit}s"
    return f"the limit of {counted} is {limit.amount} per {period}"


def time_in_words(seconds: int) -> str:
    """`1 second`, `42 seconds`, `12 minutes`, `3 hours`; rounded up."""
    unit, length = next(each for each in UNITS if seconds >= 2 * each[1] or each[1] == 1)
    number = math.ceil(seconds / length)
    return f"{number} {unit}{'s' if number > 1 else ''}"
