"""What both wire formats of models have in common."""

import time

import httpx2

from webapp.integrations.guarded_client import Bounds, guarded_client

ANSWER_MAX_BYTES = 64 * 1024
REPLY_MAX_TOKENS = 300  # of a question with at most 200 characters, in JSON


def model_client(url: str, headers: dict[str, str], ends: float) -> httpx2.Client:
    """For one question to a model, over at `ends` of the monotonic clock."""
    left = max(ends - time.monotonic(), 0.001)
    return guarded_client(url, headers, Bounds(ends, httpx2.Timeout(left), ANSWER_MAX_BYTES))
