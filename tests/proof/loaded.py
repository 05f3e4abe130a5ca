"""A server of its own with one form, for proofs that exhaust something of it."""

import http.client
import secrets
import subprocess
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from dataclasses import dataclass, field
from pathlib import Path
from urllib.parse import urlencode

from flask import Flask
from sqlalchemy import select

from tests.command import PROGRAM, ROOT, environment
from tests.factories import make_account, make_form
from tests.pages.respondent_client import session_in
from tests.proof.killing import ANSWERED, FORM_TYPE
from tests.services import free_port, wait_until
from webapp.app.factory import create_app
from webapp.base.config import Settings
from webapp.base.database import db, schema
from webapp.records.responses.models import Answer

SECRET = "kX3vQ9wLz7Bn2Rt5Yh8Mj4Gf6Pd1Sc0Ae"


@dataclass
class Server:
    """One database with one form, and the processes that serve it on one port."""

    database_url: str
    folder: Path
    port: int = field(default_factory=free_port)
    share_token: str = ""

    def __post_init__(self) -> None:
        self.app: Flask = create_app(
            Settings(
                public_url=f"http://127.0.0.1:{self.port}",
                database_url=self.database_url,
                secret_key=SECRET,
                data_folder=self.folder,
            )
        )
        with self.app.app_context():
            schema.upgrade()
            self.share_token = make_form(make_account().id).share_token
            db.session.remove()
            db.engine.dispose()

    @contextmanager
    def up(self, *wrapped_in: str) -> Iterator[subprocess.Popen[bytes]]:
        """`askback run`, started by another program when one is named."""
        variables = {
            "DATABASE_URL": self.database_url,
            "ASKBACK_DATA": str(self.folder),
            "SECRET_KEY": SECRET,
            "PORT": str(self.port),
            "LIMIT_ANSWER_ADDRESS": "1000000/minute",
        }
        process = subprocess.Popen(
            [*wrapped_in, *PROGRAM, "run"],
            cwd=ROOT,
            env=environment(variables),
            stdout=subprocess.DEVNULL,
            stderr=subprocess.DEVNULL,
        )
        try:
            wait_until(self.is_healthy, "starting the server")
            yield process
        finally:
            process.kill()
            process.wait()

    def is_healthy(self) -> bool:
        with suppress(OSError, http.client.HTTPException):
            return self.call("GET", "/healthz")[0] == 200
        return False

    def call(
        self, method: str, path: str, body: str = "", **headers: str
    ) -> tuple[int, str, http.client.HTTPMessage]:
        """Status, body and headers of one exchange on a connection of its own."""
        connection = http.client.HTTPConnection("127.0.0.1", self.port, timeout=30)
        try:
            connection.request(method, path, body, FORM_TYPE | headers)
            answer = connection.getresponse()
            return answer.status, answer.read().decode(), answer.headers
        finally:
            connection.close()

    def stored(self) -> list[str]:
        """The words of all answers."""
        with self.app.app_context():
            words = list(db.session.scalars(select(Answer.answer_text)))
            db.session.remove()
            db.engine.dispose()
            return words


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
        except (OSError, http.client.HTTPException) as error:
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
