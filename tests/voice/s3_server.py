"""A local server that speaks S3, with one bucket; it keeps everything in memory."""

import http.client
import subprocess
import sys
from collections.abc import Iterator
from contextlib import contextmanager, suppress

from tests.command import ROOT, environment
from tests.services import free_port, wait_until

BUCKET = "askback-recordings"
KEYS = {
    "AWS_ACCESS_KEY_ID": "only-for-tests",
    "AWS_SECRET_ACCESS_KEY": "only-for-tests",
    "AWS_REGION": "us-east-1",
}


def reached_at(port: int) -> dict[str, str]:
    """The variables of an installation that keeps recordings there."""
    return KEYS | {"AWS_ENDPOINT_URL": f"http://127.0.0.1:{port}", "AWS_ALLOW_HTTP": "true"}


@contextmanager
def s3_server() -> Iterator[int]:
    """The port of a server with an empty bucket; ended with the block."""
    port = free_port()
    command = [sys.executable, "-m", "moto.server", "-H", "127.0.0.1", "-p", str(port)]
    process = subprocess.Popen(
        command,
        cwd=ROOT,
        env=environment({}),
        stdout=subprocess.DEVNULL,
        stderr=subprocess.DEVNULL,
    )
    try:
        wait_until(lambda: _has_bucket(port), "starting a server that speaks S3")
        yield port
    finally:
        process.kill()
        process.wait()


def _has_bucket(port: int) -> bool:
    connection = http.client.HTTPConnection("127.0.0.1", port, timeout=10)
    with suppress(OSError, http.client.HTTPException):
        connection.request("PUT", f"/{BUCKET}")
        return connection.getresponse().status == 200
    connection.close()
    return False
