"""Server-sent events (WHATWG HTML, section 9.2), and the streams that a view hands to the server.

The view sends the headers; the server keeps the connection and reads for all streams together.
"""

from typing import NamedTuple

import orjson

# Key in the WSGI environment of a function that takes a Stream; False if there is no room.
LEAVE_CONNECTION = "askback.leave_connection"
COMMENT = b":\n\n"
COMMENT_SECONDS = 15.0  # between two comments of a stream without data
OF_HOLDER = 4  # concurrent streams of one token
ACCOUNT_SHARE = 8  # an account has at most one in this many of a process's streams


class StreamPosition(NamedTuple):
    """The position of a stream. Streams at equal positions receive the same data, read once.

    key    key of the wake-up that announces changes
    since  stamp of the last event sent, in milliseconds; None at the beginning
    shown  status and number of responses as last sent
    """

    key: str
    since: int | None
    shown: tuple[str, int] | None = None


class Update(NamedTuple):
    """The next data of a stream.

    position  position of the stream after this data
    more      True if more can be read at once
    end       the reason why the stream ends here
    """

    frames: bytes
    position: StreamPosition
    more: bool = False
    end: str | None = None


class Stream(NamedTuple):
    """A stream as its view hands it over; `holder` is the id of its token."""

    position: StreamPosition
    holder: str
    account_id: str


def frame(event: str, data: object, event_id: str | None = None) -> bytes:
    """Encode one event. JSON escapes CR and LF, so that the data stays on one line."""
    first = f"id: {event_id}\n" if event_id else ""
    return f"{first}event: {event}\ndata: ".encode() + orjson.dumps(data) + b"\n\n"
