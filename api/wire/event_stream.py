"""Server-sent events (WHATWG HTML, section 9.2), and what a view leaves to the server with them.

The view answers the headers; the server keeps the connection and reads for all streams together.
"""

from typing import NamedTuple

import orjson

# In the WSGI environment: takes a Stream, False if there is no room for it.
LEAVE_CONNECTION = "askback.leave_connection"
COMMENT = b":\n\n"
OF_HOLDER = 4  # streams of one token at a time
ACCOUNT_SHARE = 8  # of the streams of a process, one account has one in so many at most


class StreamPosition(NamedTuple):
    """The position of a stream. Streams at equal positions are sent the same, which is read once.

    key    the wake-up after which there may be something new
    since  stamp of the last event that was sent, in milliseconds; None at the beginning
    shown  status and number of responses that were sent last
    """

    key: str
    since: int | None
    shown: tuple[str, int] | None = None


class Update(NamedTuple):
    """What a stream is sent next.

    position  of the stream after it
    more      there is more to read at once
    end       the reason why the stream ends here
    """

    frames: bytes
    position: StreamPosition
    more: bool = False
    end: str | None = None


class Stream(NamedTuple):
    """A stream as its view leaves it; `holder` is the id of its token."""

    position: StreamPosition
    holder: str
    account_id: str


def frame(event: str, data: object, event_id: str | None = None) -> bytes:
    """One event. JSON escapes CR and LF, so that the data stays on its line."""
    first = f"id: {event_id}\n" if event_id else ""
    return f"{first}event: {event}\ndata: ".encode() + orjson.dumps(data) + b"\n\n"


def end_frame(reason: str) -> bytes:
    """The last event of a stream."""
    return frame("end", {"reason": reason})
