"""What both wire formats of models have in common."""

import time

import httpx2

from webapp.base.guarded_client import TOO_LONG, Bounds, guarded_client, reason_of
from webapp.follow_ups.model_breaker import ModelFailed, ModelLate, ModelRefused

ANSWER_MAX_BYTES = 64 * 1024
OF_THE_REQUEST = (400, 413, 422)  # statuses that say nothing about other requests
REPLY_MAX_TOKENS = 300  # of a question with at most 200 characters, in JSON


def model_client(url: str, headers: dict[str, str], ends: float) -> httpx2.Client:
    """For one question to a model, over at `ends` of the monotonic clock."""
    left = max(ends - time.monotonic(), 0.001)
    return guarded_client(url, headers, Bounds(ends, httpx2.Timeout(left), ANSWER_MAX_BYTES))


def refused_with(status: int) -> ModelFailed:
    """The failure that an answer of this status is."""
    kind = ModelRefused if status in OF_THE_REQUEST else ModelFailed
    return kind(f"it answered with status {status}")


def broken_by(error: Exception) -> ModelFailed:
    """The failure that an SDK wraps in this error."""
    what = reason_of(error.__cause__)
    if what == TOO_LONG:
        return ModelRefused(what)
    late = isinstance(error.__cause__, httpx2.TimeoutException)
    return (ModelLate if late else ModelFailed)(f"{type(error).__name__}: {what}")
