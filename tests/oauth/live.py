"""A served installation, and a person with a browser who allows every request."""

import re
from collections.abc import Iterator
from contextlib import ExitStack, closing, contextmanager
from dataclasses import dataclass
from typing import Any

import requests
from flask import Flask

from tests.oauth.flow import EMAIL, PASSWORD, ticked
from tests.serving import new_app, serving
from webapp.base.config import Settings
from webapp.base.database import db, utc_now
from webapp.records.accounts import invites


@dataclass
class Installation:
    """A running server with one creator."""

    app: Flask
    origin: str
    people: ExitStack

    def person(self) -> "Person":
        return self.people.enter_context(closing(Person(self.origin)))


class Person:
    """Signs in once, then allows what is asked; `consents` counts the pages allowed."""

    def __init__(self, origin: str, email: str = EMAIL) -> None:
        self.origin = origin
        self.http = requests.Session()
        self.consents = 0
        self._post(f"{origin}/login", {"email": email, "password": PASSWORD})

    def close(self) -> None:
        self.http.close()

    def allow(self, address: str, **form: Any) -> str:
        """Where the browser is sent after pressing Allow on the consent page at `address`."""
        response = self._post(address, {"allow": "yes"} | form)
        assert response.status_code == 303, response.text
        self.consents += 1
        location: str = response.headers["Location"]
        return location

    def _post(self, address: str, form: dict[str, Any]) -> requests.Response:
        page = self.http.get(address)
        form = {"may": ticked(page.text)} | form
        token = re.search(r'name="csrf_token" value="([^"]+)"', page.text)
        assert token is not None, page.text
        return self.http.post(
            page.url,
            data=form | {"csrf_token": token[1]},
            headers={"Origin": self.origin, "Referer": page.url},
            allow_redirects=False,
        )


def new_installation(settings: Settings) -> Flask:
    """`settings` on an empty database and a free port, with one creator; not served."""
    app = new_app(settings)
    with app.app_context():
        db.create_all()
        invites.create_account(EMAIL, "Ann", PASSWORD, now=utc_now())
    return app


@contextmanager
def installation(settings: Settings) -> Iterator[Installation]:
    """`settings` on an empty database and a free port."""
    app = new_installation(settings)
    with serving(app), ExitStack() as people:
        yield Installation(app, app.config["SETTINGS"].public_url, people)
    with app.app_context():
        db.engine.dispose()
