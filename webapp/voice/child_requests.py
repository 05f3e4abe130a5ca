"""The requests of another process, answered in turn: the other end of `child_process`.

Requests and answers are lines of JSON on standard input, a socket; open files come with a request.
The command line names a module with two functions, `prepare`, of which the first answer comes, and
`answer`, and the seconds after which an idle process ends.
"""

import importlib
import json
import os
import select
import signal
import socket
import sys
import threading
from collections.abc import Callable, Mapping, Sequence
from contextlib import suppress
from pathlib import Path
from typing import TypeAlias

Request: TypeAlias = Mapping[str, str | float]
Answer: TypeAlias = dict[str, str | int | bool]
Work: TypeAlias = Callable[[Request, Sequence[int]], Answer]

REQUEST_MAX_BYTES = 65536
FILES_MAX = 2


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


def give_way(nice: int) -> None:
    """Leave the processors to whatever serves.

    Where Linux groups processes by session, nice values compare those of one group alone: a child
    that runs in a session of its own lowers that of its group, too.
    """
    os.nice(nice)
    with suppress(OSError):  # not grouped
        Path("/proc/self/autogroup").write_text(f"{nice}")


def _serve(channel: socket.socket, work: Work) -> None:
    """Answer until nobody has asked for the time-out of the channel.

    The process ends at once, whatever it does, when the asker is gone or a request takes longer
    than it may.
    """
    while received := _receive(channel):
        request, files = received
        signal.setitimer(signal.ITIMER_REAL, float(request["seconds"]) + 1)
        try:
            answer = work(request, files)
        finally:
            _close(files)
        signal.setitimer(signal.ITIMER_REAL, 0)
        _send(channel, answer)


def _end_with(channel: int) -> None:
    hung_up = select.poll()
    hung_up.register(channel, 0)
    hung_up.poll()
    os._exit(0)


def _receive(channel: socket.socket) -> tuple[Request, Sequence[int]] | None:
    try:
        line, files, _, _ = socket.recv_fds(channel, REQUEST_MAX_BYTES, FILES_MAX)
    except TimeoutError:
        return None
    return (json.loads(line), files) if line else None


def _send(channel: socket.socket, answer: Answer) -> None:
    channel.sendall(json.dumps(answer).encode() + b"\n")


def _close(files: Sequence[int]) -> None:
    for descriptor in files:
        os.close(descriptor)


if __name__ == "__main__":
    main(sys.argv[1], float(sys.argv[2]))
