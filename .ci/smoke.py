"""Run `make run` in a fresh clone with an empty HOME, and end it with Ctrl-C."""

import os
import signal
import socket
import subprocess
import sys
import tempfile
import time
import urllib.request
from pathlib import Path
from typing import IO

START_SECONDS = 240  # with an empty package cache
STOP_SECONDS = 10


def main() -> None:
    with tempfile.TemporaryDirectory(prefix="askback-smoke-") as place:
        copy, home = Path(place, "copy"), Path(place, "home")
        home.mkdir()
        subprocess.run(["git", "clone", "-q", ".", str(copy)], check=True)
        with Path(place, "log").open("w+") as log:
            try:
                seconds = smoke(copy, home, log)
            except BaseException:
                log.seek(0)
                print(log.read())
                raise
    print(f"smoke start: first page after {seconds:.0f} s with installation, Ctrl-C ended it")


def smoke(copy: Path, home: Path, log: IO[str]) -> float:
    """Start the server, open the first page and stop; return seconds until the first page."""
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        port = probe.getsockname()[1]
    kept = {name: value for name, value in os.environ.items() if not name.startswith("ASKBACK_")}
    environment = kept | {"HOME": str(home), "PORT": str(port)}
    began = time.monotonic()
    server = subprocess.Popen(
        ["make", "run"], cwd=copy, env=environment, stdout=log, stderr=log, start_new_session=True
    )
    try:
        wait_for(f"http://127.0.0.1:{port}/healthz", server)
        with urllib.request.urlopen(f"http://127.0.0.1:{port}/", timeout=10) as first_page:
            if b"<title>" not in first_page.read():
                sys.exit("the first page is no page")
        seconds = time.monotonic() - began
        os.killpg(server.pid, signal.SIGINT)
        server.wait(STOP_SECONDS)
        log.seek(0)
        if "everything answered is saved" not in log.read():
            sys.exit("Ctrl-C did not end it cleanly")
    finally:
        if server.poll() is None:
            os.killpg(server.pid, signal.SIGKILL)
    return seconds


def wait_for(address: str, server: subprocess.Popen[bytes]) -> None:
    deadline = time.monotonic() + START_SECONDS
    while True:
        if server.poll() is not None:
            sys.exit(f"make run ended with {server.returncode}")
        try:
            urllib.request.urlopen(address, timeout=2).close()
        except OSError:
            if time.monotonic() > deadline:
                sys.exit(f"no answer from {address} after {START_SECONDS} s")
            time.sleep(0.2)
        else:
            return


if __name__ == "__main__":
    main()
