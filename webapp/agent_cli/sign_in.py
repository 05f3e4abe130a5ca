"""`askback sign-in`: OAuth 2.0 with PKCE, and a browser on this computer or on another one."""

import base64
import hashlib
import os
import secrets
import sys
import time
import webbrowser
from collections.abc import Mapping
from dataclasses import replace
from urllib.parse import urlencode

from webapp.agent_cli.connections import (
    Connection,
    changing,
    end_at_server,
    load,
    store,
    token_request,
    with_tokens,
)
from webapp.agent_cli.discovery import Endpoints, client_of, discover
from webapp.agent_cli.exits import Exit, NotNow, Stopped, tell
from webapp.agent_cli.redirects import listening

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
