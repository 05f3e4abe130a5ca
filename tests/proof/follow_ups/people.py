"""People with scripts at a real server, one connection for each exchange."""

import re
import secrets
import time
from collections.abc import Callable
from dataclasses import dataclass, field
from html import unescape

SHORT = "It was slow"
THANKS = "Thank you"
MOMENT = "One moment…"


@dataclass(frozen=True)
class Shown:
    """A page or its part, and how long it took to come."""

    status: int
    body: str
    seconds: float

    @property
    def heading(self) -> str:
        found = re.search(r"<h1[^>]*>(?:<label[^>]*>)?([^<]*)", self.body)
        return unescape(found[1]) if found else ""


# method, path, fields, headers
Exchange = Callable[[str, str, dict[str, str], dict[str, str]], tuple[int, str]]


@dataclass
class Person:
    """One respondent; `session` as a page gave it."""

    exchange: Exchange
    share_token: str
    session: str
    seen: list[Shown] = field(default_factory=list)

    def answer(self, path: str, text: str) -> Shown:
        """What comes once it is saved: a question, or the page that asks for the next one."""
        return self.post(path, answer=text, answer_key=secrets.token_urlsafe(16))

    def on_from(self, path: str, **fields: str) -> Shown:
        """As the page asks by itself, or a press of its button."""
        return self.post(f"{path}/next", **fields)

    def post(self, path: str, **fields: str) -> Shown:
        return self._note("POST", path, {"session": self.session} | fields)

    def _note(self, method: str, path: str, fields: dict[str, str]) -> Shown:
        began = time.monotonic()
        where = f"/r/{self.share_token}{path}"
        status, body = self.exchange(method, where, fields, {"HX-Request": "true"})
        self.seen.append(Shown(status, body, time.monotonic() - began))
        return self.seen[-1]
