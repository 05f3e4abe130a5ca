"""HTTP by the standard library: one request, its answer whole, no redirect followed."""

import http.client
import json
import urllib.error
import urllib.request
from collections.abc import Mapping
from http.client import HTTPResponse as Answer
from typing import NamedTuple
from urllib.parse import urlsplit

from webapp.agent_cli.exits import NotNow, is_local

ANSWER_MAX_BYTES = 16 * 1024 * 1024  # a page of answers has at most 512 KiB before JSON escapes it
CALL_SECONDS = 15.0
FORM = "application/x-www-form-urlencoded"
AWAY = frozenset({502, 503, 504})  # what proxies answer for a server that is away
AGAIN = frozenset({429, 500})
WORDS_MAX_CHARS = 500


class Reply(NamedTuple):
    """What a server answered; header names in lower case."""

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


class _EveryStatus(urllib.request.HTTPErrorProcessor):
    """An error is an answer, and so is a redirect: a token never follows it to another host."""

    def http_response(self, request: urllib.request.Request, response: Answer) -> Answer:  # noqa: ARG002
        return response

    https_response = http_response


def call(
    method: str,
    url: str,
    *,
    headers: Mapping[str, str] | None = None,
    body: bytes | None = None,
    seconds: float = CALL_SECONDS,
) -> Reply:
    """One request. Raises NotNow when there is no answer, or one that asks to come again.

    seconds  of silence until the server counts as away
    """
    asked = urllib.request.Request(url, body, dict(headers or {}), method=method)  # noqa: S310
    try:
        with _opener(url).open(asked, timeout=seconds) as answer:
            reply = _read(answer)
    except urllib.error.URLError as error:
        raise NotNow(f"{_host(url)} is not reached: {error.reason}", reached=False) from error
    except (OSError, http.client.HTTPException) as error:
        raise NotNow(f"{_host(url)} is not reached: {error!r}", reached=False) from error
    return _checked(url, reply)


def _opener(url: str) -> urllib.request.OpenerDirector:
    """Through the proxy of the environment, except to this computer."""
    proxies: dict[str, str] | None = {} if is_local(url) else None
    return urllib.request.build_opener(_EveryStatus, urllib.request.ProxyHandler(proxies))


def _read(answer: Answer) -> Reply:
    """Raises OSError or HTTPException, also for a body that ends early."""
    names = {name.lower(): value for name, value in answer.headers.items()}
    body = answer.read(ANSWER_MAX_BYTES)
    if answer.length and len(body) < ANSWER_MAX_BYTES:
        raise http.client.IncompleteRead(body, answer.length)
    return Reply(answer.status, names, body)


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
