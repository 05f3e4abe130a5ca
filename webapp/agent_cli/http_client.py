"""HTTP: one request, its answer whole, no redirect followed: a token goes to no other host."""

import json
import ssl
from collections.abc import Mapping
from typing import NamedTuple
from urllib.parse import urlsplit

import httpx2

from webapp.agent_cli.exits import NotNow, is_local

ANSWER_MAX_BYTES = 16 * 1024 * 1024  # a page of answers has at most 512 KiB before JSON escapes it
CALL_SECONDS = 15.0
AWAY = frozenset({502, 503, 504})  # what proxies answer for a server that is away
AGAIN = frozenset({429, 500})
WORDS_MAX_CHARS = 500


class Reply(NamedTuple):
    """What a server answered."""

    status: int
    headers: Mapping[str, str]
    body: bytes

    def json(self) -> dict[str, object]:
        """The object in the body; empty when it holds anything else."""
        try:
            found = json.loads(self.body)
        except (ValueError, RecursionError):
            return {}
        return found if isinstance(found, dict) else {}

    def text(self, *names: str) -> str:
        """The first of these members that is a text, shortened; empty without one."""
        found = self.json()
        texts = (found[name] for name in names if isinstance(found.get(name), str))
        return str(next(texts, ""))[:WORDS_MAX_CHARS]


def call(
    method: str,
    url: str,
    *,
    headers: Mapping[str, str] | None = None,
    body: bytes | None = None,
    form: Mapping[str, str] | None = None,
    seconds: float = CALL_SECONDS,
) -> Reply:
    """One request, through the proxy of the environment except to this computer.

    Raises NotNow when there is no answer, or one that asks to come again.
    seconds  of silence until the server counts as away
    """
    found = b""
    trusted = ssl.create_default_context()  # of this computer, not of the package
    client = httpx2.Client(trust_env=not is_local(url), verify=trusted, timeout=seconds)
    try:
        with (
            client,
            client.stream(method, url, headers=headers, content=body, data=form) as answer,
        ):
            for part in answer.iter_bytes():
                found += part
                if len(found) > ANSWER_MAX_BYTES:
                    break
    except httpx2.HTTPError as error:
        raise NotNow(f"{_host(url)} is not reached: {error}", reached=False) from error
    return _checked(url, Reply(answer.status_code, answer.headers, found))


def _checked(url: str, reply: Reply) -> Reply:
    if reply.status in AWAY:
        raise NotNow(f"{_host(url)} answers {reply.status}", reached=False)
    if reply.status in AGAIN:
        said = reply.text("message", "error_description") or f"{_host(url)} is busy."
        raise NotNow(said, reached=True, seconds=retry_after(reply))
    return reply


def retry_after(reply: Reply) -> int | None:
    """The seconds of the `Retry-After` header; None without one that can be read."""
    text = reply.headers.get("retry-after", "")
    return int(text) if text.isascii() and text.isdigit() and len(text) < 6 else None


def _host(url: str) -> str:
    parts = urlsplit(url)
    return f"{parts.scheme}://{parts.netloc}"
