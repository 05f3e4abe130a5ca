"""A server that is killed repeatedly, and respondents who retry until they get a response."""

import http.client
import os
import random
import secrets
import signal
import subprocess
import threading
import time
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager, suppress
from dataclasses import dataclass, field
from functools import partial
from typing import NamedTuple, TypeVar
from urllib.parse import urlencode

from tests.command import PROGRAM, ROOT, environment
from tests.pages.respondent_client import session_in
from tests.services import free_port, wait_until

FORM_TYPE = {"Content-Type": "application/x-www-form-urlencoded"}
ANSWERED = (200, 303)
RESPONDENTS = 8
BROKEN = (OSError, http.client.HTTPException)  # exchanges that ended without an answer
T = TypeVar("T")


class Exchanged(NamedTuple):
    """An answer of a server."""

    status: int
    body: str
    headers: http.client.HTTPMessage


def exchange(
    port: int,
    method: str,
    path: str,
    body: str | bytes = "",
    headers: Mapping[str, str] = FORM_TYPE,
) -> Exchanged:
    """One exchange on a connection of its own. raises BROKEN"""
    connection = http.client.HTTPConnection("127.0.0.1", port, timeout=30)
    try:
        connection.request(method, path, body, headers)
        answer = connection.getresponse()
        return Exchanged(answer.status, answer.read().decode(), answer.headers)
    finally:
        connection.close()


@contextmanager
def at_once(ended: threading.Event, *works: Callable[[], object]) -> Iterator[None]:
    """Each work in a thread of its own while the block runs; then they are told that it ended."""
    threads = [threading.Thread(target=work) for work in works]
    for thread in threads:
        thread.start()
    try:
        yield
    finally:
        ended.set()
        for thread in threads:
            thread.join()


@dataclass
class Target:
    """One address on which servers come and go."""

    variables: dict[str, str]
    port: int = field(default_factory=free_port)

    @contextmanager
    def up(
        self, *wrapped_in: str, command: str = "run", end: signal.Signals = signal.SIGKILL
    ) -> Iterator[subprocess.Popen[bytes]]:
        """A server that answers, whose whole process group gets a signal at the end.

        wrapped_in  another program that starts it
        """
        process = subprocess.Popen(
            [*wrapped_in, *PROGRAM, command],
            cwd=ROOT,
            env=environment(self.variables | {"PORT": str(self.port)}),
            stdout=subprocess.DEVNULL,
            stderr=subprocess.DEVNULL,
            start_new_session=True,
        )
        try:
            wait_until(self.answers, "starting the server")
            yield process
        finally:
            with suppress(ProcessLookupError):
                os.killpg(process.pid, end)
            process.wait(20)

    def answers(self) -> bool:
        with suppress(*BROKEN):
            return self.call("GET", "/healthz").status == 200
        return False

    def call(self, method: str, path: str, body: str | bytes = "", **headers: str) -> Exchanged:
        return exchange(self.port, method, path, body, FORM_TYPE | headers)

    def post(self, path: str, session: str, **fields: str) -> int:
        """The status of a form of a respondent's page."""
        body = urlencode({"session": session} | fields)
        return self.call("POST", path, body, Cookie=f"askback_r={session}").status

    def new_session(self, share_token: str) -> str:
        """The session key that the page of a newcomer holds."""
        return session_in(self.call("GET", f"/r/{share_token}").body)


@dataclass
class Respondents:
    """Eight people at a time answer a form of three questions and send it.

    `acknowledged` holds what the server said is saved: session and answer key to the words.
    """

    target: Target
    share_token: str
    acknowledged: dict[tuple[str, str], str] = field(default_factory=dict)
    completed: set[str] = field(default_factory=set)
    repeats: int = 0
    refusals: list[int] = field(default_factory=list)
    _stopping: threading.Event = field(default_factory=threading.Event)

    def wait_for(self, answers: int) -> None:
        """Until so many more are acknowledged."""
        enough = len(self.acknowledged) + answers
        wait_until(lambda: len(self.acknowledged) >= enough, f"answering {answers} times")

    def keep_answering(self) -> None:
        while not self._stopping.is_set():
            begin = partial(self.target.new_session, self.share_token)
            session = self._insist(begin, counted=0) or ""
            answered = [self._answer(session, number) for number in (1, 2, 3)]
            if all(answered) and self._post("/check", session):
                self.completed.add(session)

    def _answer(self, session: str, number: int) -> bool:
        key, words = secrets.token_urlsafe(16), secrets.token_urlsafe(30)
        saved = self._post(f"/q/{number}", session, answer_key=key, answer=words)
        if saved:
            self.acknowledged[session, key] = words
        return saved

    def _post(self, path: str, session: str, **fields: str) -> bool:
        def saved() -> bool:
            status = self.target.post(f"/r/{self.share_token}{path}", session, **fields)
            if status not in ANSWERED:
                self.refusals.append(status)
            return status in ANSWERED

        return bool(self._insist(saved))

    def _insist(self, attempt: Callable[[], T], counted: int = 1) -> T | None:
        """The same until it comes to something; None when the run ends before."""
        while not self._stopping.is_set():
            with suppress(*BROKEN):
                if found := attempt():
                    return found
            self.repeats += counted
            time.sleep(0.05)
        return None


def kill_again_and_again(respondents: Respondents, *, kills: int, answers: int) -> int:
    """Kill at a random moment under load, about evenly spread over the answers; how often.

    Goes on until both the kills and the acknowledged answers are reached.
    """
    done = 0
    with at_once(respondents._stopping, *[respondents.keep_answering] * RESPONDENTS):
        while done < kills or len(respondents.acknowledged) < answers:
            with respondents.target.up():
                respondents.wait_for(random.randint(0, 2 * answers // kills))  # noqa: S311
                time.sleep(random.uniform(0, 0.15))  # noqa: S311
            done += 1
    return done
