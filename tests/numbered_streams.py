"""A served application whose streams are sent numbered events, without a database."""

import threading
import time
from collections import Counter
from collections.abc import Collection, Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass, field

from flask import Flask, Response, request

from api.wire.event_stream import LEAVE_CONNECTION, News, Place, Stream, frame
from tests.event_streams import EventStream, open_stream
from webapp.app.server import Server
from webapp.app.streams import Streams

KEY = "frm_1"


@dataclass
class Numbers:
    """A feed whose events are numbered; streams stand at a number."""

    stored: list[bytes] = field(default_factory=list)
    ends: dict[str, str] = field(default_factory=dict)
    reads: Counter[Place] = field(default_factory=Counter)
    most: int = 50
    fails: bool = False

    def read(self, places: Collection[Place]) -> Mapping[Place, News]:
        if self.fails:
            raise ConnectionError("the database is away")
        self.reads.update(places)
        return {place: news for place in places if (news := self._after(place))}

    def ended(self, holders: Collection[str]) -> Mapping[str, str]:
        return {holder: self.ends[holder] for holder in holders if holder in self.ends}

    def _after(self, place: Place) -> News | None:
        first = place.since or 0
        found = self.stored[first : first + self.most]
        stands = first + len(found)
        more = stands < len(self.stored)
        return News(b"".join(found), place._replace(since=stands), more) if found else None

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
        path = f"/test/stream?holder={holder or time.monotonic()}&since={since}"
        with open_stream(self.port, path, **how) as opened:  # type: ignore[arg-type]
            yield opened

    @property
    def count(self) -> int:
        return len(self.streams)


def leave() -> Response:
    place = Place(KEY, request.args.get("since", 0, int) or None)
    holder = request.args["holder"]
    taken = request.environ[LEAVE_CONNECTION](Stream(place, holder, f"account of {holder}"))
    if "fails" in request.args:
        raise ValueError("after leaving its connection")
    return Response(iter(()), 200 if taken else 429, mimetype="text/event-stream")
