"""Signs in through a browser, and signs out."""

import base64
import hashlib
import os
import platform
import re
import secrets
import select
import sys
import time
import webbrowser
from collections.abc import Iterator
from http.server import BaseHTTPRequestHandler, HTTPServer
from urllib.parse import parse_qsl, urlencode, urlsplit

from webapp.agent_cli import connections
from webapp.agent_cli.connections import Connection, call, fields_of, reason_of, text_of
from webapp.agent_cli.exits import Exit, NotNow, Stopped, tell

SCOPES = "forms:read responses:read forms:write offline_access"
REDIRECT = "http://127.0.0.1/callback"  # with any port (RFC 8252 section 7.3)
NAME_MAX_CHARS = 80
DISPLAYS = ("DISPLAY", "WAYLAND_DISPLAY")


def check_server(server: str) -> None:
    """Check that an Askback runs at this address and is its own issuer (RFC 8414).

    Raises Stopped and NotNow.
    """
    url = f"{server}/.well-known/oauth-authorization-server"
    reply = call("GET", url, headers={"Accept": "application/json"})
    issuer = text_of(reply, "issuer")
    if issuer != server or reply.status_code != 200:
        none = f"At {server} there is no Askback: {url} says {reply.status_code}"
        other = f"That server calls itself {issuer}: name it with --server."
        raise Stopped(Exit.WRONG_USE, other if issuer and reply.status_code == 200 else none)


def sign_in(server: str, *, browser: bool, seconds: float) -> None:
    """Connect this computer to an account of the server. Raises Stopped and NotNow."""
    check_server(server)
    older = connections.load(server)
    client = Connection(server, _register(server))
    verifier, state = secrets.token_urlsafe(48), secrets.token_urlsafe(24)
    with Listener(("127.0.0.1", 0), RedirectHandler) as listener:
        _show(_consent_address(client, listener.redirect, verifier, state), browser=browser)
        code = _code(listener, server, state, seconds)
        asked = {"code": code, "redirect_uri": listener.redirect, "code_verifier": verifier}
        _redeem(client, asked, older)
    tell(f"You are signed in to {server}")


def _register(server: str) -> str:
    """Register a public client that redirects to this computer (RFC 7591); return its id.

    A server that knows the same client returns its id.
    """
    computer = re.sub("[^A-Za-z0-9.-]", "", platform.node()) or "a computer"
    metadata = {
        "client_name": f"Command line on {computer}"[:NAME_MAX_CHARS],
        "redirect_uris": [REDIRECT],
        "grant_types": ["authorization_code", "refresh_token"],
        "token_endpoint_auth_method": "none",
    }
    reply = call("POST", f"{server}/oauth/register", json=metadata)
    client_id = text_of(reply, "client_id")
    if reply.status_code != 201 or not client_id:
        said = f"{server} does not register this program: {reason_of(reply)}"
        raise Stopped(Exit.NOT_SIGNED_IN, said)
    return client_id


def _consent_address(client: Connection, back: str, verifier: str, state: str) -> str:
    digest = hashlib.sha256(verifier.encode()).digest()
    asked = {
        "response_type": "code",
        "client_id": client.client_id,
        "redirect_uri": back,
        "scope": SCOPES,
        "state": state,
        "resource": f"{client.server}/api",
        "code_challenge": base64.urlsafe_b64encode(digest).rstrip(b"=").decode(),
        "code_challenge_method": "S256",
    }
    return f"{client.server}/oauth/authorize?{urlencode(asked)}"


def _show(address: str, *, browser: bool) -> None:
    """Open the address, but never in a browser that would take over this terminal."""
    has_browser = sys.platform == "darwin" or any(os.environ.get(name) for name in DISPLAYS)
    opened = browser and has_browser and webbrowser.open(address)
    tell("Say yes in the browser." if opened else "Open this address in a browser, and say yes:")
    for line in ("", f"  {address}", ""):
        tell(line)
    tell("Is the browser on another computer? Paste here the address that it ends at:")


class RedirectHandler(BaseHTTPRequestHandler):
    """Handles the redirect to this computer and refuses all else."""

    timeout = 5  # a silent connection blocks the next one for so long
    page = b"""<!doctype html><html lang="en"><meta charset="utf-8"><title>Askback</title>
<meta name="viewport" content="width=device-width"><meta name="color-scheme" content="light dark">
<link rel="icon" href="data:,"><p>Go back to your terminal. You can close this page."""

    def do_GET(self) -> None:
        """Accept the address unchecked; `_code` checks its state, as any page can open it."""
        if urlsplit(self.path).path != urlsplit(REDIRECT).path:
            self.send_error(404)
            return
        self.server.addresses.append(self.path)  # type: ignore[attr-defined]
        self.send_response(200)
        self.send_header("Content-Type", "text/html; charset=utf-8")
        self.send_header("Content-Length", str(len(self.page)))
        self.send_header("Referrer-Policy", "no-referrer")
        self.end_headers()
        self.wfile.write(self.page)

    def log_message(self, *_: object) -> None:
        """Log nothing, because the address contains the code."""


class Listener(HTTPServer):
    """Receives the address at which the browser ends, by its request or pasted by a person."""

    def __init__(self, *arguments: object) -> None:
        super().__init__(*arguments)  # type: ignore[arg-type]
        self.redirect = f"http://127.0.0.1:{self.server_port}{urlsplit(REDIRECT).path}"
        self.addresses: list[str] = []

    def arriving(self, seconds: float) -> Iterator[str]:
        """Yield the addresses as they arrive, for `seconds`."""
        ends, stdin = time.monotonic() + seconds, sys.__stdin__
        sources, typed = [self.fileno(), *([stdin.fileno()] if stdin else [])], b""
        while (left := ends - time.monotonic()) > 0:
            ready, _, _ = select.select(sources, [], [], left)
            if self.fileno() in ready:
                self.handle_request()
            elif ready:
                chunk = os.read(ready[0], 4096)
                *lines, typed = (typed + chunk).split(b"\n")
                self.addresses += [line.decode(errors="replace").strip() for line in lines]
                sources = sources if chunk else sources[:1]
            while self.addresses:
                yield self.addresses.pop(0)


def _code(listener: Listener, server: str, state: str, seconds: float) -> str:
    """Return the code of the first redirect with this `state`; ignore others: anybody can send one.

    The redirect has to name this server as its issuer (RFC 9207). Raises Stopped.
    """
    for address in listener.arriving(seconds):
        found = dict(parse_qsl(urlsplit(address).query, keep_blank_values=True))
        if found.get("state") != state:
            continue
        if found.get("iss") != server:
            raise Stopped(Exit.NOT_SIGNED_IN, "That answer came from another server; begin again.")
        if "error" in found:
            said = found.get("error_description") or found["error"]
            raise Stopped(Exit.NOT_SIGNED_IN, f"You are not signed in: {said}")
        return found.get("code", "")
    raise Stopped(Exit.NOT_SIGNED_IN, "Nobody said yes or no in the browser in time.")


def _redeem(client: Connection, asked: dict[str, str], older: Connection | None) -> None:
    """Exchange the code for tokens, store them, and end the older connection."""
    asked |= {"grant_type": "authorization_code", "resource": f"{client.server}/api"}
    reply = connections.token_request(client, **asked)
    answered = fields_of(reply)
    if reply.status_code != 200 or not answered.get("access_token"):
        raise Stopped(Exit.NOT_SIGNED_IN, f"You are not signed in: {reason_of(reply)}")
    with connections.changing(client.server):
        connections.store(connections.with_tokens(client, answered))
    try:
        if older and older.refresh_token:  # else the page Agents lists both
            connections.end_at_server(older)
    except NotNow:
        tell("The older connection could not be ended; the page Agents lists it.")
    granted = str(answered.get("scope", SCOPES)).split()
    if missing := [scope for scope in SCOPES.split() if scope not in granted]:
        tell(f"You did not allow {', '.join(missing)}; commands that need it will be refused.")


def sign_out(server: str) -> None:
    """End the connection, and in any case remove what is stored. Raises Stopped if it may go on."""
    code, why = Exit.NOT_SIGNED_IN, ""
    with connections.changing(server):
        try:
            found = connections.load(server)
            if found and not connections.end_at_server(found):
                why = f"{server} has not ended the connection."
        except Stopped:
            why = "What was stored here cannot be read."
        except NotNow as reason:
            code, why = code if reason.reached else Exit.NOT_REACHED, f"{reason}."
        connections.remove(server)
    if why:
        may_go_on = "The page Agents lists the connection if it goes on."
        raise Stopped(code, f"{why} What was stored here is removed. {may_go_on}")
    tell(f"You are signed out of {server}")
