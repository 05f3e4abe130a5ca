"""A module of ours in a process of its own: started when needed, one request at a time.

It gets open files instead of paths, and of the environment only what finds Python and its
libraries. It ends when nobody asked it anything for a while, and when this process ends, for then
its standard input does.
"""

import json
import logging
import os
import socket
import subprocess
import sys
import threading
import time
from collections import deque
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager, suppress
from functools import cache
from pathlib import Path

from webapp.voice.child_requests import Answer, Request

ROOT = Path(__file__).resolve().parents[2]
REQUESTS = "webapp.voice.child_requests"
ENVIRONMENT = ("PATH", "LD_LIBRARY_PATH", "LANG", "LC_ALL", "TMPDIR")
START_SECONDS = 30.0  # reading the libraries from a cold, busy disk
END_SECONDS = 5.0
IDLE_SECONDS = 60.0
ANSWER_MAX_BYTES = 2 * 1024**2  # the words of a long recording, escaped
WAITING = 16  # requests that wait for their turn, one of a worker thread each
WAIT_SECONDS = 20.0

log = logging.getLogger("askback.children")


class ChildBusy(Exception):
    """Too many requests wait, or this one waited for too long."""


class ChildFailed(Exception):
    """It could not be started; the message says why."""


class ChildKilled(Exception):
    """The request took more time or memory than it may, or got something that is no answer."""


class ChildProcess:
    """At most one process that answers by `module`, for all threads of this one."""

    def __init__(
        self,
        module: str,
        *,
        environment: Sequence[str] = (),
        fixed: Mapping[str, str] | None = None,
        idle_seconds: float = IDLE_SECONDS,
        waiting: int = WAITING,
        wait_seconds: float = WAIT_SECONDS,
    ) -> None:
        self._command = [sys.executable, "-P", "-m", REQUESTS, module, str(idle_seconds)]
        self._inherited = (*ENVIRONMENT, *environment)
        self._fixed = dict(fixed or {})
        self._turn = _Turn()
        self._places = threading.BoundedSemaphore(waiting + 1)
        self._wait_seconds = wait_seconds
        self._running: _Running | None = None

    def call(
        self,
        request: Request,
        files: Sequence[int],
        *,
        seconds: float,
        wait_seconds: float | None = None,
    ) -> Answer:
        """The answer to a request about open files, which takes at most `seconds`.

        wait_seconds  for its turn; None: as for the others

        Raises ChildBusy, ChildFailed, ChildKilled.
        """
        wait = self._wait_seconds if wait_seconds is None else wait_seconds
        with self._one_at_a_time(time.monotonic() + wait):
            try:
                return self._ask({**request, "seconds": seconds}, files, seconds)
            except BaseException:
                self.end()
                raise

    def end(self) -> None:
        """Kill the process, if one runs; the next request starts another."""
        running, self._running = self._running, None
        if running is not None:
            running.end()

    def start(self) -> Answer:
        """What its `prepare` says; raises ChildBusy, ChildFailed."""
        with self._one_at_a_time(time.monotonic() + self._wait_seconds):
            return self._started().ready

    @property
    def pid(self) -> int | None:
        """Of the process that runs; None while none does."""
        running = self._running
        return running.process.pid if running and running.process.poll() is None else None

    @contextmanager
    def _one_at_a_time(self, until: float) -> Iterator[None]:
        if not self._places.acquire(blocking=False):
            raise ChildBusy("too many wait")
        try:
            if not self._turn.acquire(until):
                raise ChildBusy("waited for too long")
            try:
                yield
            finally:
                self._turn.release()
        finally:
            self._places.release()

    def _ask(self, request: Request, files: Sequence[int], seconds: float) -> Answer:
        for _ in range(2):
            answer = self._started().ask(request, files, seconds)
            if answer is not None:
                return answer
            self.end()  # it had been idle
        raise ChildFailed("it ended twice before it answered")

    def _started(self) -> "_Running":
        if self._running is None:
            self._running = _Running(self._command, self._environment())
            if lacks := self._running.ready.get("lacks"):
                _warn_once(self._command[4], str(lacks))
        return self._running

    def _environment(self) -> dict[str, str]:
        found = {name: os.environ[name] for name in self._inherited if name in os.environ}
        paths = [str(ROOT), *filter(None, [os.environ.get("PYTHONPATH")])]
        return {**found, **self._fixed, "PYTHONPATH": os.pathsep.join(paths)}


@cache
def _warn_once(module: str, lacks: str) -> None:
    log.warning("%s runs without %s; askback doctor says more", module, lacks)


class _Turn:
    """A lock for the thread that waits for longest: `threading.Lock` goes to the quickest."""

    def __init__(self) -> None:
        self._lock = threading.Lock()
        self._waiting: deque[threading.Lock] = deque()  # each released to hand the turn over
        self.taken = False

    def acquire(self, until: float) -> bool:
        """Whether it was handed over until then (`time.monotonic`)."""
        with self._lock:
            if not self.taken:
                self.taken = True
                return True
            handed_over = threading.Lock()
            handed_over.acquire()
            self._waiting.append(handed_over)
        if handed_over.acquire(timeout=max(0.0, until - time.monotonic())):
            return True
        with self._lock:
            if handed_over in self._waiting:
                self._waiting.remove(handed_over)
                return False
        return True

    def release(self) -> None:
        """Hand it over."""
        with self._lock:
            self.taken = bool(self._waiting)
            if self._waiting:
                self._waiting.popleft().release()


class Clients:
    """One turn at a time for each client; up to `most` of its requests wait."""

    def __init__(self, most: int = WAITING * 3 // 4, wait_seconds: float = WAIT_SECONDS) -> None:
        self._most = most
        self._wait_seconds = wait_seconds
        self._lock = threading.Lock()
        self._asking: dict[str, tuple[_Turn, int]] = {}

    @contextmanager
    def turn(self, client: str) -> Iterator[None]:
        """Hold the turn of the client while the block runs; raises ChildBusy."""
        own = self._count(client, 1)
        try:
            if not own.acquire(time.monotonic() + self._wait_seconds):
                raise ChildBusy("others of the same client took too long")
            try:
                yield
            finally:
                own.release()
        finally:
            self._count(client, -1)

    def _count(self, client: str, change: int) -> _Turn:
        with self._lock:
            own, asking = self._asking.pop(client, (_Turn(), 0))
            if change > 0 and asking >= self._most:
                self._asking[client] = own, asking
                raise ChildBusy("too many of the same client wait")
            if asking + change:
                self._asking[client] = own, asking + change
            return own


class _Running:
    """A process that has said it is ready; raises ChildFailed."""

    def __init__(self, command: list[str], environment: Mapping[str, str]) -> None:
        self._channel, theirs = socket.socketpair()
        with theirs:
            self.process = subprocess.Popen(  # noqa: S603
                command,
                stdin=theirs.fileno(),
                stdout=subprocess.DEVNULL,
                stderr=subprocess.DEVNULL,
                env=environment,
                cwd="/",
                # Ctrl-C in a terminal is for the server, which ends it
                start_new_session=True,
            )
        # takes notice when it ends by itself, so that none remains as a zombie
        threading.Thread(target=self.process.wait, name="child ended", daemon=True).start()
        try:
            ready = self._receive(START_SECONDS)
        except (OSError, ValueError):  # too late, or it broke
            ready = None
        if ready is None or "failed" in ready:
            self.end()
            raise ChildFailed(str(ready["failed"]) if ready else "it did not start")
        self.ready = ready

    def ask(self, request: Request, files: Sequence[int], seconds: float) -> Answer | None:
        """The answer; None if the process had ended before it saw the request."""
        try:
            socket.send_fds(self._channel, [json.dumps(request).encode() + b"\n"], list(files))
            answer = self._receive(seconds)
        except TimeoutError:
            raise ChildKilled(f"it took longer than {seconds:g} s") from None
        except ConnectionError:
            answer = None
        except (ValueError, RecursionError):  # it was taken over
            raise ChildKilled("it gave no answer") from None
        if answer is None and (status := self._status()) != 0:
            raise ChildKilled(f"it ended with status {status}")
        return answer

    def _status(self) -> int | None:
        """Of the process, which has closed its end of the channel; None if it still runs."""
        with suppress(subprocess.TimeoutExpired):
            return self.process.wait(END_SECONDS)
        return None

    def end(self) -> None:
        self.process.kill()
        self._channel.close()
        self.process.wait()

    def _receive(self, seconds: float) -> Answer | None:
        """An object on a line; None at the end. Raises TimeoutError, ConnectionError, and for
        anything else ValueError or RecursionError.
        """
        deadline = time.monotonic() + seconds
        line = bytearray()
        while not line.endswith(b"\n"):
            if len(line) > ANSWER_MAX_BYTES:
                raise ValueError
            self._channel.settimeout(max(deadline - time.monotonic(), 0.001))
            if not (part := self._channel.recv(65536)):
                return None
            line += part
        answer = json.loads(line)
        if not isinstance(answer, dict):
            raise ValueError
        return answer
