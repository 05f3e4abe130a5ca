"""When a delivery is tried again, and for how long an endpoint is left alone."""

import random
import re
from datetime import UTC, datetime, timedelta
from email.utils import parsedate_to_datetime

# after the first attempt, the second and so on; after as many attempts a delivery is abandoned
RETRY_SECONDS = (1, 5, 30, 120, 600, 1800, 3600, 7200)
MAX_ATTEMPTS = len(RETRY_SECONDS) + 1
JITTER = 0.2  # of the schedule, to both sides
RETRY_AFTER_SECONDS = (1, 3600)  # the least and the most that a receiver may ask for
OPEN_AFTER_FAILURES = 5  # in a row: the circuit breaker of the endpoint opens
PROBE_SECONDS = 60  # until its first probe; doubled with each that fails
PROBE_SECONDS_MAX = 900
# a later moment was written while a clock was ahead
LONGEST_RETRY = timedelta(seconds=max(RETRY_SECONDS) * (1 + JITTER))
LONGEST_REST = timedelta(seconds=max(*RETRY_AFTER_SECONDS, PROBE_SECONDS_MAX))
_DIGITS = re.compile(r"-?[0-9]{1,12}")


def retry_delay(attempts: int) -> timedelta | None:
    """How long to wait after so many attempts, varied by JITTER; None: that was the last one."""
    if attempts >= MAX_ATTEMPTS:
        return None
    varied = random.uniform(1 - JITTER, 1 + JITTER)  # noqa: S311 (no secret)
    return timedelta(seconds=RETRY_SECONDS[attempts - 1] * varied)


def asked_delay(retry_after: str | None, *, now: datetime) -> timedelta | None:
    """What a `Retry-After` header asks for, within bounds (RFC 9110 section 10.2.3).

    None if there is none, or nothing that can be understood.
    """
    seconds = _seconds_of((retry_after or "").strip(), now)
    if seconds is None:
        return None
    least, most = RETRY_AFTER_SECONDS
    return timedelta(seconds=min(max(seconds, least), most))


def probe_delay(failures: int) -> timedelta | None:
    """For how long an endpoint rests after so many failures in a row; None: its breaker is closed.

    One that rested gets a single attempt, the probe.
    """
    doubled = failures - OPEN_AFTER_FAILURES
    if doubled < 0:
        return None
    return timedelta(seconds=min(PROBE_SECONDS * 2 ** min(doubled, 10), PROBE_SECONDS_MAX))


def _seconds_of(asked: str, now: datetime) -> float | None:
    if asked.isdecimal() and asked.isascii() and not _DIGITS.fullmatch(asked):
        return float("inf")
    if _DIGITS.fullmatch(asked):
        return int(asked)
    try:
        moment = parsedate_to_datetime(asked)
    except (ValueError, OverflowError):
        return None
    if moment.tzinfo is None:
        moment = moment.replace(tzinfo=UTC)
    return (moment - now).total_seconds()
