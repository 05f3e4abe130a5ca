"""The way back from the browser: a listener on this computer, or the pasted address."""

import os
import queue
import threading
import time
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from http.server import BaseHTTPRequestHandler, HTTPServer
from urllib.parse import parse_qsl, urlsplit

from webapp.agent_cli.exits import Exit, Stopped

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
