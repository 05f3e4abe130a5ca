"""A local https server that plays the site of a client with a metadata document."""

import json
import time
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from http.server import BaseHTTPRequestHandler
from pathlib import Path
from typing import Any

from tests.pinning import Pinned
from tests.tls import certified, https_server

HOST = "agent.example"
CLIENT_ID = f"https://{HOST}/client.json"
REDIRECT = f"https://{HOST}/callback"


def document(**changed: Any) -> dict[str, Any]:
    values = {
        "client_id": CLIENT_ID,
        "client_name": "Document agent",
        "redirect_uris": [REDIRECT],
        "grant_types": ["authorization_code", "refresh_token"],
        "token_endpoint_auth_method": "none",
    } | changed
    return {name: value for name, value in values.items() if value is not None}


@dataclass
class Site:
    """What the server answers next, and the paths, bodies and headers it was sent."""

    pinned: tuple[Pinned, ...] = ()
    status: int = 200
    body: bytes = b""
    headers: dict[str, str] = field(default_factory=lambda: {"Content-Type": "application/json"})
    drip_seconds: float = 0
    read_seconds: float = 0
    asked: list[str] = field(default_factory=list)
    posted: list[bytes] = field(default_factory=list)
    received: list[dict[str, str]] = field(default_factory=list)

    def serve(self, body: object, **headers: str) -> None:
        self.body = body if isinstance(body, bytes) else json.dumps(body).encode()
        self.headers |= {name.replace("_", "-"): value for name, value in headers.items()}


@contextmanager
def running_site(folder: Path, names: tuple[str, ...] = (HOST,)) -> Iterator[Site]:
    """The server, with a certificate of a private authority for `names`."""
    authority = certified(folder, *names)
    site = Site()
    with https_server(authority, _handler(site)) as port:
        site.pinned = (Pinned(HOST, port, str(authority.ca_file)),)
        yield site


def _handler(site: Site) -> type[BaseHTTPRequestHandler]:
    class Handler(BaseHTTPRequestHandler):
        def do_GET(self) -> None:
            site.asked.append(self.path)
            site.received.append(dict(self.headers))
            self.send_response(site.status)
            for name, value in site.headers.items():
                self.send_header(name, value)
            self.send_header("Content-Length", str(len(site.body)))
            self.end_headers()
            self._send_body()

        def do_POST(self) -> None:
            time.sleep(site.read_seconds)
            site.posted.append(self.rfile.read(int(self.headers["Content-Length"])))
            self.do_GET()

        def _send_body(self) -> None:
            step = 1 if site.drip_seconds else max(1, len(site.body))
            for start in range(0, len(site.body), step):
                try:
                    self.wfile.write(site.body[start : start + step])
                    self.wfile.flush()
                except OSError:
                    return
                time.sleep(site.drip_seconds)

        def log_message(self, *_arguments: object) -> None:
            """Quiet."""

    return Handler
