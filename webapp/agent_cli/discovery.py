"""What a server says of its sign-in, and the registration of this program there."""

import json
import platform
import re
import time
from typing import NamedTuple
from urllib.parse import urlsplit

from webapp.agent_cli.connections import Connection, is_known, load, store
from webapp.agent_cli.exits import Exit, Stopped, is_safe
from webapp.agent_cli.http_client import Reply, call

REDIRECT = "http://127.0.0.1/callback"  # with any port (RFC 8252 section 7.3)
NAME_MAX_CHARS = 80
# servers forget clients that nobody let in within a day, or whose last connection ended long ago
NEW_CLIENT_SECONDS = 23 * 3600
USED_CLIENT_SECONDS = 170 * 86_400


class Endpoints(NamedTuple):
    """The authorization server of an installation (RFC 8414), and what its tokens are for."""

    issuer: str
    resource: str
    authorization: str
    token: str
    registration: str
    revocation: str


def discover(server: str) -> Endpoints:
    """RFC 9728, then RFC 8414. Raises Stopped, and NotNow."""
    found = _protected_resource(server, "/api")
    issuers = found.get("authorization_servers")
    issuer = str(issuers[0]) if isinstance(issuers, list) and issuers else ""
    parts = urlsplit(issuer)
    known = f"{parts.scheme}://{parts.netloc}/.well-known/oauth-authorization-server{parts.path}"
    metadata = _document(issuer, known)
    names = ("authorization", "token", "registration", "revocation")
    addresses = [str(metadata.get(f"{name}_endpoint", "")) for name in names]
    if metadata.get("issuer") != issuer or not all(map(is_safe, addresses)):
        raise Stopped(Exit.NOT_SIGNED_IN, f"{issuer} describes its sign-in wrongly.")
    return Endpoints(issuer, f"{server}/api", *addresses)


def mcp_address(server: str) -> str:
    """Where the server speaks MCP. Raises Stopped, and NotNow."""
    return str(_protected_resource(server, "/mcp/app")["resource"])


def _protected_resource(server: str, path: str) -> dict[str, object]:
    """RFC 9728, section 3.3: what it says to be is where it was asked."""
    found = _document(server, f"{server}/.well-known/oauth-protected-resource{path}")
    resource = found.get("resource")
    if resource != f"{server}{path}":
        own = str(resource).removesuffix(path)
        raise Stopped(Exit.WRONG_USE, f"That server calls itself {own}: name it with --server.")
    return found


def client_of(server: str, endpoints: Endpoints) -> Connection:
    """The connection with the client that is registered there, or is now. Alone (`changing`)."""
    known = load(server)
    if known and known.issuer == endpoints.issuer and _is_kept(known) and is_known(known):
        return known
    made = Connection(
        server=server,
        issuer=endpoints.issuer,
        token_endpoint=endpoints.token,
        revocation_endpoint=endpoints.revocation,
        client_id=_register(endpoints),
        registered_at=time.time(),
    )
    store(made)
    return made


def _is_kept(known: Connection) -> bool:
    now = time.time()
    used = known.signed_in_at > now - USED_CLIENT_SECONDS
    return bool(known.client_id) and (used or known.registered_at > now - NEW_CLIENT_SECONDS)


def _register(endpoints: Endpoints) -> str:
    """RFC 7591: a public client that comes back to this computer."""
    metadata = {
        "client_name": f"Command line on {_computer()}"[:NAME_MAX_CHARS],
        "redirect_uris": [REDIRECT],
        "grant_types": ["authorization_code", "refresh_token"],
        "token_endpoint_auth_method": "none",
    }
    headers = {"Content-Type": "application/json"}
    body = json.dumps(metadata).encode()
    reply = call("POST", endpoints.registration, headers=headers, body=body)
    client_id = reply.text("client_id")
    if reply.status != 201 or not client_id:
        raise _refused(endpoints.issuer, reply)
    return client_id


def _computer() -> str:
    """Its name, in characters that every server shows."""
    return re.sub("[^A-Za-z0-9.-]", "", platform.node()) or "a computer"


def _document(server: str, url: str) -> dict[str, object]:
    if not is_safe(url):
        raise Stopped(Exit.NOT_SIGNED_IN, f"{url} is neither https nor on this computer.")
    reply = call("GET", url, headers={"Accept": "application/json"})
    if reply.status != 200 or not reply.json():
        raise Stopped(Exit.WRONG_USE, f"At {server} there is no Askback: {url} says {reply.status}")
    return reply.json()


def _refused(issuer: str, reply: Reply) -> Stopped:
    said = reply.text("error_description", "error") or f"status {reply.status}"
    return Stopped(Exit.NOT_SIGNED_IN, f"{issuer} does not register this program: {said}")
