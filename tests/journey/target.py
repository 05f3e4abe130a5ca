"""An installation with something to attack, and the browsers and programs of strangers."""

import re
import ssl
import threading
import time
from collections.abc import Iterator
from contextlib import ExitStack, contextmanager
from dataclasses import dataclass, field
from itertools import count
from pathlib import Path
from typing import Any

import httpx
import pytest

from tests.command import askback_here
from tests.journey.installation import Installation, embedded, production
from tests.journey.people import PASSWORD
from tests.services import postgresql_database
from tests.tls import certified

OWNER = "ann@fernhill.example"
QUESTIONS = ["Who changed it?", "Why?"]
BOTH_MODES = (pytest.param("embedded", marks=pytest.mark.prove), "production")
QUIET_SECONDS = 10.0  # an attack that blocks others does so for longer, also on a busy machine

# a pool that is to keep fewer may close one that another thread is about to use
KEPT_OPEN = httpx.Limits(max_keepalive_connections=None)


@dataclass
class Target:
    """An installation with one creator, one form and one draft."""

    installation: Installation
    trusted: ssl.SSLContext | bool
    token: str = ""
    share_url: str = ""
    form_id: str = ""
    draft_id: str = ""
    owner: httpx.Client = field(init=False)
    _networks: Iterator[int] = field(default_factory=lambda: count(2))

    def browser(self, **headers: str) -> httpx.Client:
        """A browser that has never been here, at a network address of its own."""
        address = f"127.0.{next(self._networks)}.1"
        return httpx.Client(
            base_url=self.installation.url,
            headers=headers,
            timeout=30,
            transport=httpx.HTTPTransport(
                verify=self.trusted, local_address=address, limits=KEPT_OPEN
            ),
        )

    def agent(self) -> httpx.Client:
        return self.browser(Authorization=f"Bearer {self.token}")

    def prepare(self) -> None:
        """Sign up, and let an agent draft two forms of which the creator publishes one."""
        path = httpx.URL(self.installation.link).path
        given = {"email": OWNER, "name": "Ann Lindqvist", "password": PASSWORD}
        assert post(self.owner, path, **given).status_code == 303
        scope = "forms:read forms:write responses:read"
        issued = askback_here(
            "token", "issue", "--email", OWNER, "--scope", scope, **self.installation.variables
        )
        self.token = issued.stdout.strip()
        with self.agent() as agent:
            published, self.draft_id = (
                agent.post("/api/drafts", json={"title": title, "questions": QUESTIONS}).json()[
                    "draftId"
                ]
                for title in ("Rota", "Held back")
            )
            path = f"/drafts/{published}/confirm"
            page = self.owner.get(path)
            told = r'name="(revision|shown_hash|shown_records)" value="([^"]*)"'
            fields = dict(re.findall(told, page.text))
            assert post(self.owner, path, **fields).status_code == 303
            form = agent.post(f"/api/drafts/{published}/publish").json()
        self.form_id, self.share_url = form["formId"], httpx.URL(form["shareUrl"]).path


@contextmanager
def prepared(request: pytest.FixtureRequest, folder: Path, **changed: str) -> Iterator[Target]:
    """A target in the mode of BOTH_MODES that the fixture has; production behind TLS."""
    with ExitStack() as stack:
        trusted: ssl.SSLContext | bool = True
        if request.param == "embedded":
            running = stack.enter_context(embedded(folder, **changed))
        else:
            authority = certified(folder, "127.0.0.1")
            trusted = ssl.create_default_context(cafile=authority.ca_file)
            server, redis = map(request.getfixturevalue, ("postgresql_url", "redis_url"))
            database = stack.enter_context(postgresql_database(server))
            running = stack.enter_context(production(folder, authority, database, redis, **changed))
        found = Target(running, trusted)
        found.owner = stack.enter_context(found.browser())
        found.prepare()
        yield found


def csrf_token(page: httpx.Response) -> str:
    return re.findall(r'name="csrf_token" value="([^"]*)"', page.text)[0]


def post(browser: httpx.Client, path: str, *, seen_at: str = "", **form: Any) -> httpx.Response:
    """Post a form of ours as a browser does, after opening the page that it is on."""
    token = csrf_token(browser.get(seen_at or path))
    ours = str(browser.base_url).rstrip("/")
    headers = {"Origin": ours, "Referer": f"{ours}{path}"}
    return browser.post(path, data={"csrf_token": token, **form}, headers=headers)


@contextmanager
def others_are_served(target: Target) -> Iterator[None]:
    """The page of somebody else comes without a long wait, again and again meanwhile."""
    waits: list[float] = []
    over = threading.Event()

    def look() -> None:
        with target.browser() as browser:
            while not (waits and over.wait(0.05)):
                began = time.monotonic()
                assert browser.get("/healthz").status_code == 200
                waits.append(time.monotonic() - began)

    thread = threading.Thread(target=look)
    thread.start()
    try:
        yield
    finally:
        over.set()
        thread.join()
    assert max(waits) < QUIET_SECONDS
