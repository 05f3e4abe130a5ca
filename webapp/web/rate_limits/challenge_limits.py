"""How many challenges are sent: each is a request to an address that somebody outside named.

Those of a host are limited by its failures alone: one host takes the events of many accounts.
"""

from limits import RateLimitItem, parse

from webapp.config import settings
from webapp.domain.shared.errors import RateLimited
from webapp.web.rate_limits.limiter import (
    limiter,
    rate_in_words,
    seconds_until_free,
    time_in_words,
)

OF_ACCOUNT = parse("30/minute")
FAILED_OF_HOST = parse("10/minute")


def count_challenge(account_id: str, host: str) -> None:
    """Count one of an account, about to be sent to a host with its port. Raises RateLimited."""
    if not settings().write_limits:
        return
    if not limiter.limiter.test(FAILED_OF_HOST, *_failures(host)):
        raise _reached("failed challenges of one host", FAILED_OF_HOST, _failures(host))
    if not limiter.limiter.hit(OF_ACCOUNT, "challenges", account_id):
        raise _reached("challenges", OF_ACCOUNT, ("challenges", account_id))


def count_failed_challenge(host: str) -> None:
    """Count one that a host with its port has failed."""
    if settings().write_limits:
        limiter.limiter.hit(FAILED_OF_HOST, *_failures(host))


def _failures(host: str) -> tuple[str, str]:
    return "challenge_failures", host


def _reached(counted: str, limit: RateLimitItem, key: tuple[str, str]) -> RateLimited:
    seconds = seconds_until_free(limit, key)
    return RateLimited(
        f"Too many write operations: {rate_in_words(counted, limit)}.",
        f"Send the same request again in {time_in_words(seconds)}.",
        seconds,
    )
