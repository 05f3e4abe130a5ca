"""Respondents and agents under load while the database fails, and the responses they got."""

import json
import re
import secrets
import threading
import time
from contextlib import AbstractContextManager
from dataclasses import dataclass, field
from urllib.parse import urlencode

from tests.pages.respondent_client import session_in
from tests.proof.killing import BROKEN, FORM_TYPE, at_once, exchange

HOST = "127.0.0.1:8000"  # by which the processes are known, whatever their ports
PEOPLE = 6
AGENTS = 2
DONE = (200, 201, 303)
UNSAVED = "Not saved yet – your text is safe."
UNCERTAIN = "It is not certain that this was saved."
CREATORS_PAGE = "We can’t reach the database right now."
DENIED = "nothing was changed"


@dataclass(frozen=True)
class Received:
    """One answer of the server."""

    status: int
    body: str
    seconds: float

    @property
    def done(self) -> bool:
        return self.status in DONE

    @property
    def denied(self) -> bool:
        """Whether it says that nothing was stored."""
        return not self.done and (UNSAVED in self.body or DENIED in self.body.lower())

    @property
    def ours(self) -> bool:
        """Whether it is one of our own pages or bodies, for storage that is away."""
        if self.done:
            return True
        if self.body.startswith("{"):
            known = json.loads(self.body)
            return self.status == 500 and known.get("code") == "storage_unavailable"
        told = any(words in self.body for words in (UNSAVED, UNCERTAIN, CREATORS_PAGE))
        return self.status == 503 and told and bool(re.search("<html|<h1", self.body))


@dataclass
class Storm:
    """People answer, send and delete, agents create drafts, in threads until the block ends.

    What the server has said is kept by what identifies it in the database: the session and key of
    an answer, and the Idempotency-Key of a draft. What it denied is not tried again.
    """

    port: int
    share_token: str
    agent_token: str
    stored: set[tuple[str, str]] = field(default_factory=set)
    denied: set[tuple[str, str]] = field(default_factory=set)
    sent: set[str] = field(default_factory=set)
    drafts: dict[str, str] = field(default_factory=dict)
    denied_drafts: set[str] = field(default_factory=set)
    strange: list[Received] = field(default_factory=list)
    slowest: float = 0.0
    failures: int = 0
    last_success: float = 0.0
    _ended: threading.Event = field(default_factory=threading.Event)

    def blowing(self) -> AbstractContextManager[None]:
        return at_once(self._ended, *[self._person] * PEOPLE, *[self._agent] * AGENTS)

    def seconds_to_success(self, most: float) -> float:
        """How long it takes until somebody's work is done; the calm after a storm."""
        began = time.monotonic()
        while self.last_success <= began and time.monotonic() < began + most:
            time.sleep(0.02)
        return time.monotonic() - began

    def _person(self) -> None:
        while not self._ended.is_set():
            page = self.ask("GET", f"/r/{self.share_token}")
            session = session_in(page.body) if page and page.status == 200 else ""
            if session and self._answer(session, 1) and self._answer(session, 2):
                received = self._insist(f"/r/{self.share_token}/check", session=session)
                if received and received.done:
                    self.sent.add(session)

    def _answer(self, session: str, number: int) -> bool:
        key = secrets.token_urlsafe(16)
        fields = {"session": session, "answer_key": key, "answer": key}
        received = self._insist(f"/r/{self.share_token}/q/{number}", **fields)
        if received and received.done:
            self.stored.add((session, key))
        elif received:
            self.denied.add((session, key))
        return bool(received and received.done)

    def _agent(self) -> None:
        while not self._ended.is_set():
            key = secrets.token_urlsafe(16)
            headers = {
                "Authorization": f"Bearer {self.agent_token}",
                "Content-Type": "application/json",
                "Idempotency-Key": key,
            }
            received = self._until_told("/api/drafts", json.dumps({"title": key}), headers)
            if received and received.done:
                self.drafts[key] = json.loads(received.body)["draftId"]
            elif received:
                self.denied_drafts.add(key)

    def _insist(self, path: str, **fields: str) -> Received | None:
        headers = FORM_TYPE | {"Cookie": f"askback_r={fields['session']}"}
        return self._until_told(path, urlencode(fields), headers)

    def _until_told(self, path: str, body: str, headers: dict[str, str]) -> Received | None:
        """The answer that says what became of it; sent again while that is not certain.

        After an attempt whose outcome nobody knows, a denial speaks of the repeat alone: the first
        one may wait in a database that hangs.
        """
        certain = True
        while not self._ended.is_set():
            received = self.ask("POST", path, body, headers)
            if received and (received.done or (received.denied and certain)):
                return received
            certain = False
            time.sleep(0.05)
        return None

    def ask(
        self, method: str, path: str, body: str = "", headers: dict[str, str] | None = None
    ) -> Received | None:
        """One exchange; None when the connection ends without an answer."""
        began = time.monotonic()
        try:
            answer = exchange(self.port, method, path, body, {"Host": HOST} | (headers or {}))
        except BROKEN:
            return None
        received = Received(answer.status, answer.body, time.monotonic() - began)
        self.slowest = max(self.slowest, received.seconds)
        if received.done:
            self.last_success = time.monotonic()
        else:
            self.failures += 1
        if not received.ours:
            self.strange.append(received)
        return received
