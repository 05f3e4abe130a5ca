"""One request of the command line, and answers that break off."""

import pytest

from tests.raw_receiver import raw_receiver
from webapp.agent_cli.exits import NotNow
from webapp.agent_cli.http_client import call


def answered(text: str) -> tuple[int, bytes]:
    """Status and body of what the server sends."""
    with raw_receiver(lambda peer: peer.sendall(text.encode())) as receiver:
        reply = call("GET", receiver.origin)
    return reply.status, reply.body


@pytest.mark.parametrize("status", [200, 302, 400, 401, 404, 409])
def test_every_status_is_an_answer(status: int) -> None:
    location = "Location: http://127.0.0.1:9/\r\n"
    head = f"HTTP/1.1 {status} X\r\n{location}Connection: close\r\nContent-Length: 2\r\n\r\n"

    assert answered(f"{head}{{}}") == (status, b"{}")


@pytest.mark.parametrize("status", [200, 400, 429])
@pytest.mark.parametrize(
    "rest",
    [
        "Content-Length: 100\r\n\r\n{",
        "Content-Length: 100\r\n\r\n",
        "Transfer-Encoding: chunked\r\n\r\n64\r\n{",
    ],
)
def test_an_answer_that_breaks_off_is_none(status: int, rest: str) -> None:
    with pytest.raises(NotNow, match="is not reached") as raised:
        answered(f"HTTP/1.1 {status} X\r\n{rest}")

    assert not raised.value.reached
