"""Streams of answers: one coroutine for each connection that a view left to the server.

Streams that ask in the same turn of the loop share one read for each position. A slow client stops
only its own coroutine, so that no data piles up for it.
"""

import asyncio
import logging
import time
from collections.abc import AsyncIterator, Awaitable, Callable, Mapping, MutableMapping
from contextlib import asynccontextmanager, suppress
from functools import partial
from typing import Any

from flask import Flask, g

from api import agents
from api.wire import event_stream
from api.wire.event_stream import Stream, StreamPosition, Update
from webapp.base.database import utc_now
from webapp.drafts import agent_tokens
from webapp.web.wakeups import LOOK_SECONDS, NoSlot, Slots, Wakeups

STREAM_SECONDS = 900.0
UNREAD_SECONDS = 30.0  # after which a client that reads nothing gets no more
PATIENCE_SECONDS = 2.0  # for one statement
READ_AT_ONCE = 64  # positions, each of which may return a page

Message = MutableMapping[str, Any]
Receive = Callable[[], Awaitable[Message]]
Send = Callable[[Message], Awaitable[None]]
Read = tuple[Update | None, str | None]  # new frames, and the reason to end

log = logging.getLogger("askback.streams")


class Streams:
    """All streams of one process.

    most  how many may be open at a time
    run   calls a function in a thread
    """

    def __init__(
        self, app: Flask, most: int, run: Callable[..., Awaitable[Any]], wakeups: Wakeups
    ) -> None:
        self._app, self._run, self._wakeups = app, run, wakeups
        self.slots = Slots(most)  # by token and by account
        self._of_account = max(event_stream.OF_HOLDER, most // event_stream.ACCOUNT_SHARE)
        self._asked: dict[StreamPosition, list[tuple[Stream, asyncio.Future[Read]]]] = {}
        self._reading: asyncio.Task[None] | None = None

    def reserve(self, stream: Stream) -> bool:
        """Reserve a slot for a stream; return False if there is none, or the server stops."""
        holders = {stream.holder: event_stream.OF_HOLDER, stream.account_id: self._of_account}
        with suppress(NoSlot):
            if not self._wakeups.stopped:
                self.slots.reserve(holders)
                return True
        return False

    def release(self, stream: Stream) -> None:
        """Release the slot of a stream."""
        self.slots.release(stream.holder, stream.account_id)

    async def serve(self, stream: Stream, receive: Receive, send: Send) -> None:
        """Send updates until the stream ends or its client leaves, then release its slot.

        Raises TimeoutError when the client reads nothing.
        """
        begun = time.monotonic()
        end_at, comment_at = begun + STREAM_SECONDS, begun + event_stream.COMMENT_SECONDS
        position = stream.position
        try:
            async with listening(self._wakeups, position.key, receive) as (woken, leaving):
                while not leaving.done():
                    update, end = await self._read(stream._replace(position=position))
                    more = bool(update and update.more)
                    if update and not end:
                        position, end = update.position, update.end
                        await _send(send, update.frames)
                    elif time.monotonic() >= comment_at:
                        comment_at += event_stream.COMMENT_SECONDS
                        await _send(send, event_stream.COMMENT)
                    if self._wakeups.stopped and not more:
                        end = end or "stopping"
                    if end or time.monotonic() >= end_at:
                        last = event_stream.frame("end", {"reason": end or "time"})
                        return await _send(send, last, more=False)
                    if not more:
                        # all streams look at the same time, and share one read
                        await wake_up(woken, LOOK_SECONDS - time.monotonic() % LOOK_SECONDS)
        finally:
            self.release(stream)

    async def _read(self, stream: Stream) -> Read:
        if not self._asked:  # streams woken together share one read
            self._reading = asyncio.create_task(self._read_for_all())
        answer: asyncio.Future[Read] = asyncio.Future()
        self._asked.setdefault(stream.position, []).append((stream, answer))
        return await answer

    async def _read_for_all(self) -> None:
        asked, self._asked = self._asked, {}
        while asked:
            taken = {position: asked.pop(position) for position in list(asked)[:READ_AT_ONCE]}
            holders = {stream.holder for each in taken.values() for stream, _ in each}
            found, ended = await self._run(self._look, list(taken), holders)
            for position, each in taken.items():
                for stream, answer in each:
                    if not answer.done():  # else its client has left
                        answer.set_result((found.get(position), ended.get(stream.holder)))

    def _look(
        self, positions: list[StreamPosition], holders: set[str]
    ) -> tuple[Mapping[StreamPosition, Update], Mapping[str, str]]:
        """Return updates and ended tokens; neither if the database does not answer.

        Tokens are read after the answers: no answer is newer than the end of a token.
        """
        try:
            with self._app.app_context():
                g.patience = PATIENCE_SECONDS
                updates = agents.read_updates(positions)
                return updates, agent_tokens.ended_tokens(holders, now=utc_now())
        except Exception:
            log.warning("the streams could not be read", exc_info=True)
            return {}, {}


@asynccontextmanager
async def listening(
    wakeups: Wakeups, key: str, receive: Receive
) -> AsyncIterator[tuple[asyncio.Event, asyncio.Task[None]]]:
    """Yield an event that wake-ups for `key` set, and a task that ends when the client leaves."""
    woken, loop = asyncio.Event(), asyncio.get_running_loop()
    leaving = asyncio.create_task(_left(receive, woken))
    try:
        with wakeups.listening(key, partial(loop.call_soon_threadsafe, woken.set)):
            yield woken, leaving
    finally:
        leaving.cancel()


async def wake_up(woken: asyncio.Event, seconds: float) -> None:
    """Wait for the event, at most until it is time to look again."""
    with suppress(TimeoutError):
        async with asyncio.timeout(min(LOOK_SECONDS, seconds)):
            await woken.wait()
    woken.clear()


async def _left(receive: Receive, woken: asyncio.Event) -> None:
    """Discard what the client sends; when it has left, set `woken`."""
    while (await receive())["type"] != "http.disconnect":
        pass
    woken.set()


async def _send(send: Send, data: bytes, *, more: bool = True) -> None:
    async with asyncio.timeout(UNREAD_SECONDS):
        await send({"type": "http.response.body", "body": data, "more_body": more})
