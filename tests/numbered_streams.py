"""A served application whose streams are sent numbered events, without a database."""

import secrets
import threading
from collections import Counter
from collections.abc import Collection, Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass, field

from flask import Flask, Response, request

from api.wire.event_stream import LEAVE_CONNECTION, Stream, StreamPosition, Update, frame
from tests.event_streams import EventStream, open_stream
from webapp.app.server import Server
from webapp.app.streams import Streams

KEY = "frm_1"


@dataclass
class Numbers:
    """A feed whose events are numbered; streams stand at a number."""

    stored: list[bytes] = field(default_factory=list)
    ends: dict[str, str] = field(default_factory=dict)
    reads: Counter[StreamPosition] = field(default_factory=Counter)
    most: int = 50
    fails: bool = False

    def read(self, positions: Collection[StreamPosition]) -> Mapping[StreamPosition, Update]:
        if self.fails:
            raise ConnectionError("the database is away")
        self.reads.update(positions)
        return {position: update for position in positions if (update := self._after(position))}

    def ended(self, holders: Collection[str]) -> Mapping[str, str]:
        return {holder: self.ends[holder] for holder in holders if holder in self.ends}

    def _after(self, position: StreamPosition) -> Update | None:
        first = position.since or 0
        found = self.stored[first : first + self.most]
        shown_to = first + len(found)
        more = shown_to < len(self.stored)
        return Update(b"".join(found), position._replace(since=shown_to), more) if found else None

    def add(self, app: Flask, text: str = "x") -> None:
        self.stored.append(frame("answer", text, str(len(self.stored))))
        app.extensions["wakeups"].notify(KEY)


@dataclass
class Served:
    app: Flask
    feed: Numbers
    server: Server
    thread: threading.Thread

    @property
    def streams(self) -> Streams:
        return self.server.streams

    @property
    def port(self) -> int:
        return int(self.app.config["SETTINGS"].port)

    @contextmanager
    def stream(self, holder: str = "", since: int = 0, **how: str) -> Iterator[EventStream]:
        path = f"/test/stream?holder={holder or secrets.token_hex(8)}&since={since}"
        with open_stream(self.port, path, **how) as opened:  # type: ignore[arg-type]
            yield opened

    @property
    def count(self) -> int:
        return self.streams.slots._taken


def leave() -> Response:
    position = StreamPosition(KEY, request.args.get("since", 0, int) or None)
    holder = request.args["holder"]
    taken = request.environ[LEAVE_CONNECTION](Stream(position, holder, f"account of {holder}"))
    if "fails" in request.args:
        raise ValueError("after leaving its connection")
    return Response(iter(()), 200 if taken else 429, mimetype="text/event-stream")
