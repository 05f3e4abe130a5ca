"""Extension objects, created unbound and bound by `webapp.app.create_app`."""

import math
import time
from contextlib import suppress
from ipaddress import IPv6Address, IPv6Network, ip_address
from typing import Any

from flask import Flask, request
from flask_babel import Babel
from flask_limiter import Limiter, RateLimitExceeded
from flask_login import LoginManager
from flask_wtf import CSRFProtect
from htmx_flask import Htmx
from redis.backoff import NoBackoff
from redis.exceptions import RedisError
from redis.retry import Retry

from webapp.config import Settings, settings

REDIS_SECONDS = 0.25  # a request waits at most twice that long for a Redis that hangs


def client_network() -> str:
    """Whom a limit by address counts: the IPv4 address, or the /64 network of an IPv6 one."""
    address = ip_address(request.remote_addr or "127.0.0.1")
    if isinstance(address, IPv6Address) and not address.ipv4_mapped:
        return str(IPv6Network((address, 64), strict=False))
    return str(address)


class DecoratorLimiter(Limiter):
    """The limits of the API are decorators; a look before its routes would cost every call.

    So would one before the pages of respondents, whose posts alone are limited, and those only
    where limits are on.
    """

    def _check_request_limit(
        self,
        callable_name: str | None = None,
        in_middleware: bool = True,  # noqa: FBT001, FBT002
    ) -> None:
        idle = request.blueprint == "api" or (
            request.blueprint == "respond"
            and (request.method != "POST" or not settings().write_limits)
        )
        if not (in_middleware and idle):
            super()._check_request_limit(callable_name, in_middleware)


babel = Babel()
csrf = CSRFProtect()
htmx = Htmx()
# Without Redis, or while it is away, each process counts for itself: the same limits, never none.
limiter = DecoratorLimiter(
    client_network,
    strategy="moving-window",
    key_prefix="askback",
    in_memory_fallback_enabled=True,
    swallow_errors=True,
)
login = LoginManager()


def init_limiter(app: Flask, config: Settings) -> None:
    """Bind the limiter: to Redis where there is one, else to the memory of this process."""
    if config.redis_url is None:
        app.config["RATELIMIT_STORAGE_URI"] = "memory://"
    else:
        app.config["RATELIMIT_STORAGE_URI"] = config.redis_url.replace("unix://", "redis+unix://")
        app.config["RATELIMIT_STORAGE_OPTIONS"] = _REDIS_OPTIONS
    limiter.init_app(app)


def seconds_to_wait(error: RateLimitExceeded) -> int:
    """Until the oldest counted call leaves the window; the whole window if nobody can tell."""
    current = limiter.current_limit
    window: int = error.limit.limit.get_expiry()
    with suppress(RedisError):
        reset_at = current.window.reset_time if current else time.time() + window
        return min(window, max(1, math.ceil(reset_at - time.time())))
    return window


# the client's own default is ten retries: seconds per request while Redis is away
_REDIS_OPTIONS: dict[str, Any] = {
    "socket_connect_timeout": REDIS_SECONDS,
    "socket_timeout": REDIS_SECONDS,
    "retry": Retry(NoBackoff(), 0),
}
