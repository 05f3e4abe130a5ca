"""Subscriptions whose receivers listen on loopback, and what they got."""

import base64
import secrets
import threading
from collections import Counter
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import Any, NamedTuple

from flask import Flask
from sqlalchemy import select

from tests.event_factories import make_subscription
from webapp.base.database import db
from webapp.base.sealing import sealer
from webapp.events.subscriptions import secret_place
from webapp.records.events import CallbackEndpoint, EventDelivery, EventSubscription

Respond = Callable[[int], int]  # the status for the n-th request


class Got(NamedTuple):
    """One request of a receiver."""

    path: str
    headers: dict[str, str]
    body: bytes


class Receivers:
    """One server on loopback; each path is a receiver of its own."""

    def __init__(self, port: int, got: list[Got]) -> None:
        self.port = port
        self.got = got

    @property
    def origin(self) -> str:
        return f"http://127.0.0.1:{self.port}"


@contextmanager
def receivers(status: Respond = lambda _number: 204) -> Iterator[Receivers]:
    """Answers each request with `status`; requests are noted in the order in which they came."""
    got: list[Got] = []
    noting = threading.Lock()

    class Handler(BaseHTTPRequestHandler):
        def do_POST(self) -> None:
            body = self.rfile.read(int(self.headers["Content-Length"]))
            with noting:
                got.append(Got(self.path, dict(self.headers.items()), body))
                number = len(got)
            self.send_response(status(number))
            self.send_header("Content-Length", "0")
            self.end_headers()

        def log_message(self, *_: object) -> None:
            pass

    class Server(ThreadingHTTPServer):
        request_queue_size = 128
        daemon_threads = True

    server = Server(("127.0.0.1", 0), Handler)
    thread = threading.Thread(target=server.serve_forever, args=(0.02,))
    thread.start()
    try:
        yield Receivers(server.server_address[1], got)
    finally:
        server.shutdown()
        thread.join()
        server.server_close()


def new_secret() -> str:
    return "whsec_" + base64.b64encode(secrets.token_bytes(32)).decode()


def subscribe(form: Any, url: str, secret: str | None = None, **changed: Any) -> EventSubscription:
    """A live subscription to this address, with a sealed secret; needs an application context."""
    subscription_id = f"sub_{secrets.token_hex(16)}"
    sealed = sealer().seal(secret or new_secret(), place=secret_place(subscription_id))
    host = url.split("/")[2]
    made = make_subscription(
        form, **{"id": subscription_id, "url": url, "secret": sealed, "host": host} | changed
    )
    db.session.get_one(CallbackEndpoint, made.endpoint_id).host = host
    db.session.commit()
    return made


def states(app: Flask) -> Counter[str]:
    """How many deliveries are in each state."""
    with app.app_context():
        return Counter(db.session.scalars(select(EventDelivery.state)))
