"""Signing in by a browser, and out."""

import base64
import hashlib
import os
import queue
import secrets
import sys
import threading
import time
import webbrowser
from collections.abc import Iterator, Mapping
from contextlib import contextmanager, suppress
from dataclasses import replace
from http.server import BaseHTTPRequestHandler, HTTPServer
from urllib.parse import parse_qsl, urlencode, urlsplit

from webapp.agent_cli.connections import (
    Connection,
    changing,
    end_at_server,
    load,
    remove,
    store,
    token_request,
    with_tokens,
)
from webapp.agent_cli.discovery import Endpoints, client_of, discover
from webapp.agent_cli.exits import Exit, NotNow, Stopped, tell

STDIN = 0
PATH = "/callback"
PAGE = b"""<!doctype html><html lang="en"><meta charset="utf-8"><title>Askback</title>
<meta name="viewport" content="width=device-width"><meta name="color-scheme" content="light dark">
<link rel="icon" href="data:,"><p>Go back to your terminal. You can close this page."""
TICK_SECONDS = 0.2  # between looks whether the listener should end


class Redirects:
    """The addresses that the browser came back to, as they arrive."""

    def __init__(self) -> None:
        self.address = ""
        self._arrived: queue.Queue[str] = queue.Queue()

    def arrive(self, address: str) -> None:
        """An address that a browser opened here, or that was pasted."""
        self._arrived.put(address)

    def parameters(self, state: str, seconds: float) -> dict[str, str]:
        """Those of the first redirect with this `state`; others are ignored, anybody can send them.

        Raises Stopped after so many seconds.
        """
        ends = time.monotonic() + seconds
        while (left := ends - time.monotonic()) > 0:
            try:
                address = self._arrived.get(timeout=min(left, 1))
            except queue.Empty:
                continue
            found = dict(parse_qsl(urlsplit(address).query, keep_blank_values=True))
            if found.get("state") == state:
                return found
        raise Stopped(Exit.NOT_SIGNED_IN, "Nobody said yes or no in the browser in time.")


@contextmanager
def listening() -> Iterator[Redirects]:
    """Listen on a free port of this computer, and on standard input for a pasted address."""
    redirects = Redirects()

    class Listener(BaseHTTPRequestHandler):
        """Takes the redirect and nothing else."""

        def do_GET(self) -> None:
            """Any page could open this address: what counts is the state in it."""
            if urlsplit(self.path).path != PATH:
                self.send_error(404)
                return
            redirects.arrive(self.path)
            self.send_response(200)
            self.send_header("Content-Type", "text/html; charset=utf-8")
            self.send_header("Content-Length", str(len(PAGE)))
            self.send_header("Referrer-Policy", "no-referrer")
            self.end_headers()
            self.wfile.write(PAGE)

        def log_message(self, *_: object) -> None:
            """Log nothing: the address holds the code."""

    Listener.timeout = 5  # a connection that sends nothing keeps the next one waiting
    with HTTPServer(("127.0.0.1", 0), Listener) as server:
        redirects.address = f"http://127.0.0.1:{server.server_port}{PATH}"
        threads = [threading.Thread(target=server.serve_forever, args=(TICK_SECONDS,))]
        threads.append(threading.Thread(target=_read_pasted, args=(redirects,), daemon=True))
        for thread in threads:
            thread.start()
        try:
            yield redirects
        finally:
            server.shutdown()
            threads[0].join()


def _read_pasted(redirects: Redirects) -> None:
    """Line by line, past the buffer of `sys.stdin`: Python cannot end while a thread holds that."""
    typed = b""
    with suppress(OSError):
        while chunk := os.read(STDIN, 4096):
            *lines, typed = (typed + chunk).split(b"\n")
            for line in lines:
                redirects.arrive(line.decode(errors="replace").strip())


SCOPES = "forms:read responses:read forms:write offline_access"
DISPLAYS = ("DISPLAY", "WAYLAND_DISPLAY")


def sign_in(server: str, *, browser: bool, seconds: float) -> None:
    """Connect this computer to an account of the server. Raises Stopped, and NotNow."""
    endpoints = discover(server)
    with changing(server):
        client = client_of(server, endpoints)
    verifier, state = secrets.token_urlsafe(48), secrets.token_urlsafe(24)
    with listening() as redirects:
        asked = _consent_address(endpoints, client, redirects.address, verifier, state)
        _show(asked, browser=browser)
        found = redirects.parameters(state, seconds)
        code = _checked_code(found, endpoints)
        _redeem(client, endpoints, code, redirects.address, verifier)
    tell(f"You are signed in to {server}")


def _consent_address(
    endpoints: Endpoints, client: Connection, back: str, verifier: str, state: str
) -> str:
    digest = hashlib.sha256(verifier.encode()).digest()
    asked = {
        "response_type": "code",
        "client_id": client.client_id,
        "redirect_uri": back,
        "scope": SCOPES,
        "state": state,
        "resource": endpoints.resource,
        "code_challenge": base64.urlsafe_b64encode(digest).rstrip(b"=").decode(),
        "code_challenge_method": "S256",
    }
    return f"{endpoints.authorization}?{urlencode(asked)}"


def _show(address: str, *, browser: bool) -> None:
    opened = browser and _has_browser() and webbrowser.open(address)
    tell("Say yes in the browser." if opened else "Open this address in a browser, and say yes:")
    for line in ("", f"  {address}", ""):
        tell(line)
    tell("Is the browser on another computer? Paste here the address that it ends at:")


def _has_browser() -> bool:
    """A browser that shows its pages in this terminal would take it over."""
    return sys.platform == "darwin" or any(os.environ.get(name) for name in DISPLAYS)


def _checked_code(found: Mapping[str, str], endpoints: Endpoints) -> str:
    """The code of a redirect that this authorization server made (RFC 9207). Raises Stopped."""
    if found.get("iss") != endpoints.issuer:
        raise Stopped(Exit.NOT_SIGNED_IN, "That answer came from another server; begin again.")
    if "error" in found:
        said = found.get("error_description") or found["error"]
        raise Stopped(Exit.NOT_SIGNED_IN, f"You are not signed in: {said}")
    return found.get("code", "")


def _redeem(client: Connection, endpoints: Endpoints, code: str, back: str, verifier: str) -> None:
    """The code for tokens, which take the place of older ones; the older connection ends."""
    asked = {"code": code, "redirect_uri": back, "code_verifier": verifier}
    reply = token_request(
        replace(client, token_endpoint=endpoints.token),
        grant_type="authorization_code",
        resource=endpoints.resource,
        **asked,
    )
    answered = reply.json()
    if reply.status != 200 or not answered.get("access_token"):
        said = reply.text("error_description", "error") or f"status {reply.status}"
        raise Stopped(Exit.NOT_SIGNED_IN, f"You are not signed in: {said}")
    with changing(client.server):
        older = load(client.server)
        fresh = replace(
            client,
            token_endpoint=endpoints.token,
            revocation_endpoint=endpoints.revocation,
            signed_in_at=time.time(),
            refresh_token="",
        )
        store(with_tokens(fresh, answered))
    _end(older)
    _tell_missing(str(answered.get("scope", SCOPES)).split())


def _end(older: Connection | None) -> None:
    """The connection that was replaced, so that it is not listed any more (RFC 7009)."""
    if older is None or not older.refresh_token:
        return
    try:
        end_at_server(older)
    except NotNow:
        tell("The older connection could not be ended; the page Agents lists it.")


def _tell_missing(granted: list[str]) -> None:
    if missing := [scope for scope in SCOPES.split() if scope not in granted]:
        tell(f"You did not allow {', '.join(missing)}; commands that need it will be refused.")


MAY_GO_ON = "What was stored here is removed. The page Agents lists the connection if it goes on."


def sign_out(server: str) -> None:
    """Forget the server, also where it cannot be reached; Stopped is raised then."""
    with changing(server):
        failure = _end_at(server)
        remove(server)
    if failure:
        raise failure
    tell(f"You are signed out of {server}")


def _end_at(server: str) -> Stopped | None:
    """End the connection, if there is one. Returns how the command ends where it may go on."""
    try:
        found = load(server)
        if found is None or not found.signed_in_at or end_at_server(found):
            return None
        code, why = Exit.NOT_SIGNED_IN, f"{server} has not ended the connection."
    except Stopped:
        code, why = Exit.NOT_SIGNED_IN, "What was stored here cannot be read."
    except NotNow as reason:
        code = Exit.NOT_SIGNED_IN if reason.reached else Exit.NOT_REACHED
        why = f"{reason}."
    return Stopped(code, f"{why} {MAY_GO_ON}")
