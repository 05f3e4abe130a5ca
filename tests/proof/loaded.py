"""A server of its own with one form, for proofs that exhaust something of it."""

import secrets
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from pathlib import Path
from urllib.parse import urlencode

from sqlalchemy import select

from tests.factories import make_account, make_form
from tests.pages.respondent_client import session_in
from tests.proof.killing import ANSWERED, BROKEN, Target
from webapp.app.factory import create_app
from webapp.base.config import Settings
from webapp.base.database import db, schema
from webapp.records.responses.models import Answer

SECRET = "kX3vQ9wLz7Bn2Rt5Yh8Mj4Gf6Pd1Sc0Ae"


class Server(Target):
    """One database with one form, and the processes that serve it on one port."""

    def __init__(self, database_url: str, folder: Path) -> None:
        variables = {
            "DATABASE_URL": database_url,
            "ASKBACK_DATA": str(folder),
            "SECRET_KEY": SECRET,
            "LIMIT_ANSWER_ADDRESS": "1000000/minute",
        }
        super().__init__(variables)
        self.app = create_app(
            Settings(
                public_url=f"http://127.0.0.1:{self.port}",
                database_url=database_url,
                secret_key=SECRET,
                data_folder=folder,
            )
        )
        with self.database():
            schema.upgrade()
            self.share_token: str = make_form(make_account().id).share_token

    @contextmanager
    def database(self) -> Iterator[None]:
        """In a context of the application of this process, which holds nothing afterwards."""
        with self.app.app_context():
            yield
            db.session.remove()
            db.engine.dispose()

    def stored(self) -> list[str]:
        """The words of all answers."""
        with self.database():
            return list(db.session.scalars(select(Answer.answer_text)))


@dataclass
class Writer:
    """Somebody who answers one question, and tries again until it is saved."""

    server: Server
    words: str = field(default_factory=lambda: secrets.token_urlsafe(30))
    saved: bool = False
    refusals: list[tuple[int, str]] = field(default_factory=list)  # status and body
    broken: list[str] = field(default_factory=list)  # why connections ended without an answer
    _session: str = ""  # until a page gave one
    _key: str = field(default_factory=lambda: secrets.token_urlsafe(16))

    def try_once(self) -> bool:
        try:
            status, body = self._answer() if self._session else self._open()
        except BROKEN as error:
            self.broken.append(repr(error))
            return False
        if status not in ANSWERED:
            self.refusals.append((status, body))
        return self.saved

    def _open(self) -> tuple[int, str]:
        status, page, _ = self.server.call("GET", f"/r/{self.server.share_token}")
        self._session = session_in(page)
        return self._answer() if self._session else (status, page)

    def _answer(self) -> tuple[int, str]:
        fields = {"session": self._session, "answer_key": self._key, "answer": self.words}
        cookie = f"askback_r={self._session}"
        path = f"/r/{self.server.share_token}/q/1"
        status, body, _ = self.server.call("POST", path, urlencode(fields), Cookie=cookie)
        self.saved = status in ANSWERED
        return status, body
