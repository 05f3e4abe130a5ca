"""A module of ours in a process of its own: started when needed, one request at a time.

It gets open files instead of paths, and of the environment only what finds Python and its
libraries. It ends when nobody asked it anything for a while, and when this process ends, for then
its standard input does. Requests and answers are lines of JSON on that input, a socket.

Run as a program, this file is the other end: the command line names a module with two functions,
`prepare`, of which the first answer comes, and `answer`, and the seconds after which an idle
process ends.
"""

import importlib
import json
import logging
import os
import select
import signal
import socket
import subprocess
import sys
import threading
import time
from collections import deque
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import TypeAlias
from weakref import WeakValueDictionary

Request: TypeAlias = Mapping[str, str | float]
Answer: TypeAlias = dict[str, str | int | bool]
Work: TypeAlias = Callable[[Request, Sequence[int]], Answer]

ROOT = Path(__file__).resolve().parents[2]
PROGRAM = "webapp.voice.child_process"
ENVIRONMENT = ("PATH", "LD_LIBRARY_PATH", "LANG", "LC_ALL", "TMPDIR")
START_SECONDS = 30.0  # reading the libraries from a cold, busy disk
END_SECONDS = 5.0
IDLE_SECONDS = 60.0
REQUEST_MAX_BYTES = 65536
FILES_MAX = 2
ANSWER_MAX_BYTES = 2 * 1024**2  # the words of a long recording, escaped
AT_ONCE = 17  # requests at work or waiting for their turn, one of a worker thread each
AT_ONCE_OF_CLIENT = 12
WAIT_SECONDS = 20.0

log = logging.getLogger("askback.children")


class ChildBusy(Exception):
    """Too many requests wait, or this one waited for too long."""


class ChildFailed(Exception):
    """It could not be started; the message says why."""


class ChildKilled(Exception):
    """The request took more time or memory than it may, or got something that is no answer."""


class Turns:
    """One holder at a time, in the order of arrival: `threading.Lock` goes to the quickest."""

    def __init__(self, at_once: int, wait_seconds: float) -> None:
        self._at_once = at_once
        self._wait_seconds = wait_seconds
        self._changed = threading.Condition()
        self._line: deque[object] = deque()  # the first has the turn

    @contextmanager
    def turn(self, wait_seconds: float | None = None) -> Iterator[None]:
        """Hold the turn while the block runs.

        Raises ChildBusy if `at_once` hold it or wait already, or the wait is over.
        """
        ours = object()
        with self._changed:
            if len(self._line) >= self._at_once:
                raise ChildBusy("too many wait")
            self._line.append(ours)
        wait = self._wait_seconds if wait_seconds is None else wait_seconds
        try:
            with self._changed:
                if not self._changed.wait_for(lambda: self._line[0] is ours, wait):
                    raise ChildBusy("waited for too long")
            yield
        finally:
            with self._changed:
                self._line.remove(ours)
                self._changed.notify_all()


class Clients:
    """Turns for each client, who waits for nobody else; raises ChildBusy."""

    def __init__(
        self, at_once: int = AT_ONCE_OF_CLIENT, wait_seconds: float = WAIT_SECONDS
    ) -> None:
        self._limits = at_once, wait_seconds
        self._lock = threading.Lock()
        self._turns: WeakValueDictionary[str, Turns] = WeakValueDictionary()

    @contextmanager
    def turn(self, client: str) -> Iterator[None]:
        """Hold the turn of the client while the block runs."""
        with self._lock:
            turns = self._turns.setdefault(client, Turns(*self._limits))
        with turns.turn():
            yield


class ChildProcess:
    """At most one process that answers by `module`, for all threads of this one."""

    def __init__(
        self,
        module: str,
        *,
        environment: Sequence[str] = (),
        fixed: Mapping[str, str] | None = None,
        idle_seconds: float = IDLE_SECONDS,
        at_once: int = AT_ONCE,
        wait_seconds: float = WAIT_SECONDS,
    ) -> None:
        self._command = [sys.executable, "-P", "-m", PROGRAM, module, str(idle_seconds)]
        self._inherited = (*ENVIRONMENT, *environment)
        self._fixed = dict(fixed or {})
        self._turns = Turns(at_once, wait_seconds)
        self._running: _Running | None = None
        self._warned = False

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
        with self._turns.turn(wait_seconds):
            try:
                for _ in range(2):
                    timed = {**request, "seconds": seconds}
                    answer = self._started().ask(timed, files, seconds)
                    if answer is not None:
                        return answer
                    self.end()  # it had been idle
                raise ChildFailed("it ended twice before it answered")
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
        with self._turns.turn():
            return self._started().ready

    @property
    def pid(self) -> int | None:
        """Of the process that runs; None while none does."""
        running = self._running
        return running.process.pid if running and running.process.poll() is None else None

    def _started(self) -> "_Running":
        if self._running is None:
            found = {name: os.environ[name] for name in self._inherited if name in os.environ}
            paths = [str(ROOT), *filter(None, [os.environ.get("PYTHONPATH")])]
            fixed = {**self._fixed, "PYTHONPATH": os.pathsep.join(paths)}
            self._running = _Running(self._command, found | fixed)
            if (lacks := self._running.ready.get("lacks")) and not self._warned:
                self._warned = True
                log.warning(
                    "%s runs without %s; askback doctor says more", self._command[-2], lacks
                )
        return self._running


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
        if answer is None:  # it has closed its end of the channel
            with suppress(subprocess.TimeoutExpired):
                self.process.wait(END_SECONDS)
            if self.process.poll() != 0:
                raise ChildKilled(f"it ended with status {self.process.poll()}")
        return answer

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


def give_way(nice: int) -> None:
    """In a child: leave the processors to the processes that serve.

    Where Linux groups processes by session, nice values compare those of one group alone: a child
    that runs in a session of its own lowers that of its group, too.
    """
    os.nice(nice)
    with suppress(OSError):  # not grouped
        Path("/proc/self/autogroup").write_text(f"{nice}")


def main(module_name: str, idle_seconds: float) -> None:
    """Answer by the functions of that module; tell the asker why if it cannot be prepared."""
    # a supervisor tells every process of a service to end, and the asker may still need an answer
    signal.signal(signal.SIGTERM, signal.SIG_IGN)
    with socket.socket(fileno=sys.stdin.fileno()) as channel:
        channel.settimeout(idle_seconds)
        # before `prepare`, which may leave no way to start a thread
        threading.Thread(target=_end_with, args=(channel.fileno(),), daemon=True).start()
        try:
            module = importlib.import_module(module_name)
            _send(channel, module.prepare())
        except Exception as error:
            _send(channel, {"failed": f"{type(error).__name__}: {error}"})
        else:
            _serve(channel, module.answer)


def _serve(channel: socket.socket, work: Work) -> None:
    """Answer until nobody has asked for the time-out of the channel, or a request takes longer than
    it may, which ends the process at once.
    """
    while True:
        try:
            line, files, _, _ = socket.recv_fds(channel, REQUEST_MAX_BYTES, FILES_MAX)
        except TimeoutError:
            return
        if not line:
            return
        request = json.loads(line)
        signal.setitimer(signal.ITIMER_REAL, float(request["seconds"]) + 1)
        try:
            answer = work(request, files)
        finally:
            for descriptor in files:
                os.close(descriptor)
        signal.setitimer(signal.ITIMER_REAL, 0)
        _send(channel, answer)


def _end_with(channel: int) -> None:
    """End the process when its asker has ended."""
    hung_up = select.poll()
    hung_up.register(channel, 0)
    hung_up.poll()
    os._exit(0)


def _send(channel: socket.socket, answer: Answer) -> None:
    channel.sendall(json.dumps(answer).encode() + b"\n")


if __name__ == "__main__":
    main(sys.argv[1], float(sys.argv[2]))
