"""An external agent: it knows one address, OAuth and the contract."""

import re
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from http.server import BaseHTTPRequestHandler, HTTPServer
from typing import Any

import requests
from requests_oauthlib import OAuth2Session

NAME = "Rota agent"
SCOPES = ["forms:read", "responses:read", "forms:write", "offline_access"]


class Agent:
    """Registered and ready to be consented to at `address`."""

    def __init__(self, url: str, callback: str) -> None:
        self.api = f"{url}/api"
        challenge = ask("GET", f"{self.api}/forms").headers["WWW-Authenticate"]
        resource = found(ask("GET", between(challenge, 'resource_metadata="', '"')))
        issuer = resource["authorization_servers"][0]
        self._server = found(ask("GET", f"{issuer}/.well-known/oauth-authorization-server"))
        self._client = self._register(callback)
        self._session = OAuth2Session(
            self._client["client_id"], redirect_uri=callback, scope=SCOPES, pkce="S256"
        )
        endpoint = self._server["authorization_endpoint"]
        self.address, _ = self._session.authorization_url(endpoint, resource=resource["resource"])

    def _register(self, callback: str) -> dict[str, Any]:
        metadata = {
            "client_name": NAME,
            "redirect_uris": [callback],
            "grant_types": ["authorization_code", "refresh_token"],
            "token_endpoint_auth_method": "none",
        }
        return found(ask("POST", self._server["registration_endpoint"], json=metadata))

    def connect(self, callback_address: str) -> None:
        """Turn the code in the address that the browser came back to into tokens."""
        self._session.fetch_token(
            self._server["token_endpoint"],
            authorization_response=callback_address,
            include_client_id=True,
        )

    def call(self, method: str, path: str, **options: Any) -> requests.Response:
        response: requests.Response = self._session.request(method, self.api + path, **options)
        return response

    def follow(self, form_id: str) -> "Follower":
        token: str = self._session.token["access_token"]
        return Follower(f"{self.api}/forms/{form_id}/responses", token)


class Follower:
    """Asks for what is new, again and again, keeping nothing but `nextSince`."""

    def __init__(self, address: str, token: str) -> None:
        self.answers: list[dict[str, Any]] = []
        self.completed: list[str] = []
        self._address = address
        self._headers = {"Authorization": f"Bearer {token}"}
        self._since: str | None = None
        self._enough = threading.Event()
        self._thread = threading.Thread(target=self._run)

    @contextmanager
    def following(self) -> Iterator["Follower"]:
        """Ask in the background; a last time at the end."""
        self._thread.start()
        try:
            yield self
        finally:
            self._enough.set()
            self._thread.join()
        self.look()

    def look(self) -> None:
        """One call; what it returns is kept in the order it came."""
        query = {"since": self._since} if self._since else {}
        body = found(ask("GET", self._address, params=query, headers=self._headers))
        for session in body["responses"]:
            self.answers += session["answers"]
            if session["status"] == "completed":
                self.completed.append(session["responderName"])
        self._since = body["nextSince"]

    def _run(self) -> None:
        while not self._enough.wait(0.1):
            self.look()


@contextmanager
def callback() -> Iterator[str]:
    """The loopback address that an agent on this computer listens on for its code."""

    class Page(BaseHTTPRequestHandler):
        def do_GET(self) -> None:
            self.send_response(200)
            self.send_header("Content-Type", "text/html")
            self.end_headers()
            icon = '<link rel="icon" href="data:,">'
            self.wfile.write(f"<!doctype html><title>Back</title>{icon}Go on there.".encode())

        def log_message(self, *_: Any) -> None:
            """Log nothing."""

    with HTTPServer(("127.0.0.1", 0), Page) as server:
        thread = threading.Thread(target=server.serve_forever, args=(0.01,))
        thread.start()
        try:
            yield f"http://127.0.0.1:{server.server_port}/callback"
        finally:
            server.shutdown()
            thread.join()


def ask(method: str, url: str, **options: Any) -> requests.Response:
    return requests.request(method, url, timeout=30, **options)


def found(response: requests.Response) -> dict[str, Any]:
    """The JSON body of a success."""
    assert response.ok, response.text
    body: dict[str, Any] = response.json()
    return body


def between(text: str, before: str, after: str) -> str:
    match = re.search(f"{re.escape(before)}(.*?){re.escape(after)}", text)
    assert match is not None, text
    return match[1]
