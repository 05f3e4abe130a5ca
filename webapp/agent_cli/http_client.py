"""HTTP calls. Redirects are not followed, so that a token goes to no other host."""

import ssl
from functools import cache
from typing import Any

import httpx2
from httpx2 import Response

from webapp.agent_cli.exits import NotNow, is_local

CALL_SECONDS = 15.0
AWAY = frozenset({502, 503, 504})  # answers of proxies whose server is away
AGAIN = frozenset({429, 500})
WORDS_MAX_CHARS = 500


def call(method: str, url: str, *, seconds: float = CALL_SECONDS, **request: Any) -> Response:
    """Send one request, through the environment's proxy except to this computer.

    Raises NotNow when there is no answer, or one that allows a repetition.
    seconds  of silence until the server counts as away
    """
    server = httpx2.URL(url).copy_with(raw_path=b"", fragment=None)
    try:
        reply = _client(local=is_local(url)).request(method, url, timeout=seconds, **request)
    except httpx2.HTTPError as error:
        raise NotNow(f"{server} is not reached: {error}", reached=False) from error
    if reply.status_code in AWAY:
        raise NotNow(f"{server} answers {reply.status_code}", reached=False)
    if reply.status_code in AGAIN:
        said = text_of(reply, "message", "error_description") or f"{server} is busy."
        raise NotNow(said, reached=True, seconds=retry_after(reply))
    return reply


@cache
def _client(*, local: bool) -> httpx2.Client:
    """Return a client that trusts this computer's certificates, not those of the package."""
    return httpx2.Client(trust_env=not local, verify=ssl.create_default_context())


def fields_of(reply: Response) -> dict[str, Any]:
    """Return the JSON object in the body; empty when the body is anything else."""
    try:
        found = reply.json()
    except (ValueError, RecursionError):
        return {}
    return found if isinstance(found, dict) else {}


def text_of(reply: Response, *names: str) -> str:
    """Return the first of these members that is a text, shortened; empty without one."""
    fields = fields_of(reply)
    texts = (fields[name] for name in names if isinstance(fields.get(name), str))
    return str(next(texts, ""))[:WORDS_MAX_CHARS]


def reason_of(reply: Response) -> str:
    """Return why OAuth refused a request (RFC 6749 section 5.2)."""
    return text_of(reply, "error_description", "error") or f"status {reply.status_code}"


def retry_after(reply: Response) -> int | None:
    """Return the seconds of the `Retry-After` header; None if it is missing or unreadable."""
    text: str = reply.headers.get("retry-after", "")
    return int(text) if text.isascii() and text.isdigit() and len(text) < 6 else None
