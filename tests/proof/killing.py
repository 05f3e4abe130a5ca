"""A server that is killed repeatedly, and respondents who retry until they get a response."""

import http.client
import os
import random
import secrets
import signal
import subprocess
import threading
import time
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from dataclasses import dataclass, field
from urllib.parse import urlencode

from tests.command import PROGRAM, ROOT, environment
from tests.pages.respondent_client import session_in
from tests.services import free_port, wait_until

FORM_TYPE = {"Content-Type": "application/x-www-form-urlencoded"}
ANSWERED = (200, 303)
RESPONDENTS = 8


@dataclass
class Target:
    """One address on which servers come and go."""

    variables: dict[str, str]
    port: int = field(default_factory=free_port)

    @contextmanager
    def up(self) -> Iterator[None]:
        """A server that answers, whose whole process group is killed at the end."""
        process = subprocess.Popen(
            [*PROGRAM, "run"],
            cwd=ROOT,
            env=environment(self.variables | {"PORT": str(self.port)}),
            stdout=subprocess.DEVNULL,
            stderr=subprocess.DEVNULL,
            start_new_session=True,
        )
        try:
            wait_until(self.answers, "starting the server")
            yield
        finally:
            os.killpg(process.pid, signal.SIGKILL)
            process.wait()

    def answers(self) -> bool:
        with suppress(OSError, http.client.HTTPException):
            return self.send("GET", "/healthz", "") == 200
        return False

    def send(self, method: str, path: str, body: str, cookie: str = "") -> int:
        """The status of one exchange on a connection of its own."""
        return self.exchange(method, path, body, Cookie=cookie)[0]

    def new_session(self, share_token: str) -> str:
        """The session key that the page of a newcomer holds."""
        return session_in(self.exchange("GET", f"/r/{share_token}")[1])

    def exchange(self, method: str, path: str, body: str = "", **headers: str) -> tuple[int, str]:
        """Status and body of one exchange on a connection of its own."""
        connection = http.client.HTTPConnection("127.0.0.1", self.port, timeout=10)
        try:
            connection.request(method, path, body, FORM_TYPE | headers)
            answer = connection.getresponse()
            return answer.status, answer.read().decode()
        finally:
            connection.close()


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

    @contextmanager
    def at_work(self) -> Iterator[None]:
        threads = [threading.Thread(target=self._keep_answering) for _ in range(RESPONDENTS)]
        for thread in threads:
            thread.start()
        try:
            yield
        finally:
            self._stopping.set()
            for thread in threads:
                thread.join()

    def wait_for(self, answers: int) -> None:
        """Until so many more are acknowledged."""
        enough = len(self.acknowledged) + answers
        wait_until(lambda: len(self.acknowledged) >= enough, f"answering {answers} times")

    def _keep_answering(self) -> None:
        while not self._stopping.is_set():
            session = self._begin()
            answered = [self._answer(session, number) for number in (1, 2, 3)]
            if all(answered) and self._insist("/check", session=session):
                self.completed.add(session)

    def _begin(self) -> str:
        """A new session, once the server gives one; "" when the run ends before."""
        while not self._stopping.is_set():
            with suppress(OSError, http.client.HTTPException):
                if session := self.target.new_session(self.share_token):
                    return session
            time.sleep(0.05)
        return ""

    def _answer(self, session: str, number: int) -> bool:
        key, words = secrets.token_urlsafe(16), secrets.token_urlsafe(30)
        saved = self._insist(f"/q/{number}", session=session, answer_key=key, answer=words)
        if saved:
            self.acknowledged[session, key] = words
        return saved

    def _insist(self, path: str, **fields: str) -> bool:
        """Send the same until the server answers; False when the run ends before."""
        body, cookie = urlencode(fields), f"askback_r={fields['session']}"
        while not self._stopping.is_set():
            with suppress(OSError, http.client.HTTPException):
                status = self.target.send("POST", f"/r/{self.share_token}{path}", body, cookie)
                if status in ANSWERED:
                    return True
                self.refusals.append(status)
            self.repeats += 1
            time.sleep(0.05)
        return False


def kill_again_and_again(respondents: Respondents, *, kills: int, answers: int) -> int:
    """Kill at a random moment under load, about evenly spread over the answers; how often.

    Goes on until both the kills and the acknowledged answers are reached.
    """
    done = 0
    with respondents.at_work():
        while done < kills or len(respondents.acknowledged) < answers:
            with respondents.target.up():
                respondents.wait_for(random.randint(0, 2 * answers // kills))  # noqa: S311
                time.sleep(random.uniform(0, 0.15))  # noqa: S311
            done += 1
    return done
