"""A real server on a free loopback port in a thread of the test, and raw bytes to send to it."""

import socket
import threading
from collections.abc import Iterator
from contextlib import contextmanager

from flask import Flask

from tests.services import free_port
from webapp.app.factory import create_app
from webapp.app.server import Server
from webapp.base.config import Settings
from webapp.base.database import db


def own_address(settings: Settings) -> Settings:
    """The same settings on a port of their own."""
    port = free_port()
    return settings.model_copy(update={"port": port, "public_url": f"http://127.0.0.1:{port}"})


def new_app(settings: Settings) -> Flask:
    """An application of its own, to which a test may add routes."""
    return create_app(own_address(settings))


@contextmanager
def serving(app: Flask) -> Iterator[Server]:
    """The application behind the real server; stopped at the end."""
    server = Server(app, app.config["SETTINGS"])
    ready = threading.Event()
    thread = threading.Thread(target=server.run, args=[ready.set], name="server")
    thread.start()
    try:
        assert ready.wait(20)
        yield server
    finally:
        server.stop()
        thread.join(20)
        with app.app_context():
            db.engine.dispose()


def connect(app: Flask) -> socket.socket:
    """A connection to the served application that gives up after 10 s."""
    return socket.create_connection(("127.0.0.1", app.config["SETTINGS"].port), timeout=10)


def exchange(app: Flask, sent: bytes) -> bytes:
    """Everything the server answers to raw bytes, until it closes the connection."""
    with connect(app) as connection:
        connection.sendall(sent)
        return b"".join(iter(lambda: connection.recv(65_536), b""))


def get(app: Flask, path: str, *headers: str) -> bytes:
    """The raw answer to one GET."""
    host = f"Host: 127.0.0.1:{app.config['SETTINGS'].port}"
    lines = [f"GET {path} HTTP/1.1", host, "Connection: close", *headers, "", ""]
    return exchange(app, "\r\n".join(lines).encode())
