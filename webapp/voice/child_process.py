"""Runs one of our modules in a process of its own: started on demand, one request at a time.

The child gets open files instead of paths, and only the environment variables that Python and its
libraries need. It ends after an idle period, or when its parent ends and closes the socket that is
its standard input. Requests and answers are lines of JSON on that socket.

Run as a program, this file is the child. The command line gives a module with two functions,
`prepare`, which returns the first answer, and `answer`, and the idle period in seconds.
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

ROOT = Path(__file__).resolve().parents[2]
PROGRAM = "webapp.voice.child_process"
ENVIRONMENT = ("PATH", "LD_LIBRARY_PATH", "LANG", "LC_ALL", "TMPDIR")
START_SECONDS = 30.0  # loading the libraries from a cold, busy disk
END_SECONDS = 5.0
IDLE_SECONDS = 60.0
REQUEST_MAX_BYTES = 65536
FILES_MAX = 2
ANSWER_MAX_BYTES = 2 * 1024**2  # the transcript of a long recording, escaped
AT_ONCE = 17  # requests that run or wait, each in a worker thread
AT_ONCE_OF_CLIENT = 12
WAIT_SECONDS = 20.0

log = logging.getLogger("askback.children")


class ChildBusy(Exception):
    """There was no attempt: too many requests wait, or this one waited for too long."""


class ChildFailed(ChildBusy):
    """The child could not be started; the message says why."""


class ChildKilled(Exception):
    """The request took too much time or memory, or the reply was not an answer."""


class Turns:
    """A lock that serves waiting threads in order of arrival, unlike `threading.Lock`."""

    def __init__(self, at_once: int, wait_seconds: float) -> None:
        self._at_once = at_once
        self._wait_seconds = wait_seconds
        self._changed = threading.Condition()
        self._line: deque[object] = deque()  # the first holds the turn

    @contextmanager
    def turn(self, wait_seconds: float | None = None) -> Iterator[None]:
        """Hold the turn while the block runs.

        Raises ChildBusy if `at_once` threads hold it or wait already, or the wait times out.
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
    """Separate turns for each client: no client waits for another; raises ChildBusy."""

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
    """A single child process that runs `module`, shared by all threads of this process."""

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
        """Send a request about open files, and return the answer within `seconds`.

        wait_seconds  time to wait for the turn; None: the default of the child

        Raises ChildBusy, ChildFailed, ChildKilled.
        """
        with self._turns.turn(wait_seconds):
            try:
                for _ in range(2):
                    timed = {**request, "seconds": seconds}
                    answer = self._started().ask(timed, files, seconds)
                    if answer is not None:
                        return answer
                    self.end()  # the child had ended after its idle period
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
        """Return the answer of `prepare`; raises ChildBusy, ChildFailed."""
        with self._turns.turn():
            return self._started().ready

    @property
    def pid(self) -> int | None:
        """Return the id of the running child; None if there is none."""
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
    """A child process that has reported ready; raises ChildFailed."""

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
                # Ctrl-C in a terminal stops the server, which ends the child
                start_new_session=True,
            )
        # reaps a child that ends by itself, so that no zombie remains
        threading.Thread(target=self.process.wait, name="child ended", daemon=True).start()
        try:
            ready = self._receive(START_SECONDS)
        except (OSError, ValueError):  # timed out, or the child broke
            ready = None
        if ready is None or "failed" in ready:
            self.end()
            reason = str(ready["failed"]) if ready else "it did not start"
            log.error("%s cannot be started: %s", command[-2], reason)
            raise ChildFailed(reason)
        self.ready = ready

    def ask(self, request: Request, files: Sequence[int], seconds: float) -> Answer | None:
        """Return the answer; None if the process ended before it read the request."""
        try:
            socket.send_fds(self._channel, [json.dumps(request).encode() + b"\n"], list(files))
            answer = self._receive(seconds)
        except TimeoutError:
            raise ChildKilled(f"it took longer than {seconds:g} s") from None
        except ConnectionError:
            answer = None
        except (ValueError, RecursionError):  # the child is compromised
            raise ChildKilled("it gave no answer") from None
        if answer is None:  # the child has closed its end of the channel
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
        """Read one JSON object on a line; None at the end of the stream. Raises TimeoutError,
        ConnectionError, and ValueError or RecursionError for anything else.
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
    """Lower the priority of a child below the serving processes.

    Where Linux groups processes by session, nice values count only within a group. A child in its
    own session therefore lowers the priority of its group, too.
    """
    os.nice(nice)
    with suppress(OSError):  # not grouped
        Path("/proc/self/autogroup").write_text(f"{nice}")


def main(module_name: str, idle_seconds: float) -> None:
    """Serve the functions of that module; report to the parent if its preparation failed."""
    # a supervisor signals every process of a service, and the parent may still need an answer
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


def _serve(channel: socket.socket, work: Callable[[Request, Sequence[int]], Answer]) -> None:
    """Answer requests until the channel times out. A request that exceeds its time ends the process
    at once.
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
    """End the process when the parent has ended."""
    hung_up = select.poll()
    hung_up.register(channel, 0)
    hung_up.poll()
    os._exit(0)


def _send(channel: socket.socket, answer: Answer) -> None:
    channel.sendall(json.dumps(answer).encode() + b"\n")


if __name__ == "__main__":
    main(sys.argv[1], float(sys.argv[2]))
