"""HTTP calls, and the connection to a server: the registered client and its tokens.

All commands share them. Redirects are not followed, so that a token goes to no other host.
"""

import importlib
import json
import ssl
import time
from contextlib import AbstractContextManager, suppress
from functools import cache
from pathlib import Path
from typing import Any, NamedTuple

import httpx2
from httpx2 import Response

from webapp.agent_cli.exits import Exit, NotNow, Stopped, called_as, is_local
from webapp.agent_cli.progress import locked, short_name, uninterrupted, user_folder
from webapp.base.data_folder import replace_file

CALL_SECONDS = 15.0
AWAY = frozenset({502, 503, 504})  # answers of proxies whose server is away
AGAIN = frozenset({429, 500})
WORDS_MAX_CHARS = 500
KEYRING_SERVICE = "askback"
SPARE_SECONDS = 30  # a token that expires sooner is renewed before use
REFUSED = frozenset({"invalid_grant", "invalid_client", "unauthorized_client"})


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


class Connection(NamedTuple):
    """A registered client with its tokens; the access token expires at a Unix time."""

    server: str
    client_id: str
    expires_at: float = 0
    access_token: str = ""
    refresh_token: str = ""


SECRETS = ("access_token", "refresh_token")


def load(server: str) -> Connection | None:
    """Read the stored connection to this server. Raises Stopped if the file is unreadable."""
    path = _path(server)
    try:
        stored = json.loads(path.read_text())
        if stored.pop("in_keyring", False):
            stored |= json.loads(_keyring("get", server) or "{}")
        return Connection(**{name: stored[name] for name in Connection._fields})
    except FileNotFoundError:
        return None
    except (OSError, ValueError, TypeError, KeyError, AttributeError) as problem:
        again = f"{called_as()} sign-in"
        what = f"{path} cannot be read ({problem}). Remove it, then run: {again}"
        raise Stopped(Exit.NOT_SIGNED_IN, what) from problem


def store(connection: Connection) -> None:
    """Store the connection in the user's folder, its tokens in the keyring if that works."""
    values: dict[str, Any] = connection._asdict()
    secrets = json.dumps({name: values[name] for name in SECRETS})
    _keyring("set", connection.server, secrets)
    if _keyring("get", connection.server) == secrets:
        values |= dict.fromkeys(SECRETS, "") | {"in_keyring": True}
    replace_file(_path(connection.server), json.dumps(values, indent=1))


def remove(server: str) -> None:
    """Delete the stored connection; the caller holds its lock (`changing`)."""
    path = _path(server)
    _keyring("delete", server)
    for stored in (path, path.with_suffix(".lock")):
        stored.unlink(missing_ok=True)


def _keyring(verb: str, *arguments: str) -> Any:
    """Get, set or delete a password in the keyring; return None if that fails."""
    with suppress(Exception):  # each backend raises its own errors
        keyring = importlib.import_module("keyring")
        return getattr(keyring, f"{verb}_password")(KEYRING_SERVICE, *arguments)
    return None


def changing(server: str) -> AbstractContextManager[None]:
    """Lock the connection to this server against changes by other commands."""
    return locked(_path(server).with_suffix(".lock"))


def access_token(server: str, *, refused: str = "") -> str:
    """Return an access token; renew it first when it is `refused` or about to expire.

    A refresh token works once: one command renews, and the others wait for its result.
    Raises Stopped and NotNow.
    """
    if token := _usable(load(server), refused):
        return token
    with changing(server):
        found = load(server)
        if token := _usable(found, refused):
            return token
        if found is None or not found.refresh_token:
            raise _sign_in(server, "You are not signed in")
        with uninterrupted():  # else only the spent token may stay stored
            return _renewed(found).access_token


def token_request(connection: Connection, **form: str) -> Response:
    """Call the token endpoint. Raises NotNow."""
    form["client_id"] = connection.client_id
    return call("POST", f"{connection.server}/oauth/token", data=form)


def end_at_server(connection: Connection) -> bool:
    """End the connection at the server (RFC 7009); return whether that worked. Raises NotNow."""
    token = connection.refresh_token or connection.access_token
    form = {"client_id": connection.client_id, "token": token}
    if not token:
        return False
    return call("POST", f"{connection.server}/oauth/revoke", data=form).status_code == 200


def with_tokens(connection: Connection, answered: dict[str, object]) -> Connection:
    """Return the connection with the tokens of a response (RFC 6749 section 5.1)."""
    seconds = answered.get("expires_in")
    return connection._replace(
        access_token=str(answered.get("access_token", "")),
        refresh_token=str(answered.get("refresh_token", connection.refresh_token)),
        expires_at=time.time() + (seconds if isinstance(seconds, int | float) else 0),
    )


def _renewed(found: Connection) -> Connection:
    reply = token_request(found, grant_type="refresh_token", refresh_token=found.refresh_token)
    answered = fields_of(reply)
    if reply.status_code == 200 and answered.get("access_token"):
        renewed = with_tokens(found, answered)
        store(renewed)
        return renewed
    if text_of(reply, "error") not in REFUSED:
        raise NotNow(f"{found.server} answers {reply.status_code} to a refresh", reached=True)
    remove(found.server)
    raise _sign_in(found.server, "The connection has ended")


def _usable(found: Connection | None, refused: str) -> str:
    """Return the stored access token; empty when it should be renewed."""
    if found is None or found.access_token == refused:
        return ""
    return found.access_token if found.expires_at > time.time() + SPARE_SECONDS else ""


def _sign_in(server: str, why: str) -> Stopped:
    again = f"{called_as()} sign-in --server {server}"
    return Stopped(Exit.NOT_SIGNED_IN, f"{why}. Run: {again}")


def _path(server: str) -> Path:
    return user_folder("XDG_CONFIG_HOME", ".config") / f"connection-{short_name(server)}.json"
