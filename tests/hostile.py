"""Requests with hostile text for every route, and the response time of others meanwhile."""

import http.client
import re
import threading
import time
from collections import defaultdict
from collections.abc import Iterator
from contextlib import closing, contextmanager
from dataclasses import dataclass, field
from http import HTTPStatus
from typing import Any
from urllib.parse import quote

from flask import Flask, request
from werkzeug.datastructures import ImmutableMultiDict
from werkzeug.routing import Rule

from tests.factories import make_account, make_answer, make_draft, make_form
from tests.pages.creator_client import hidden
from webapp.base.database import db, utc_now
from webapp.base.vocabulary import Scope
from webapp.oauth.tokens import issue_token
from webapp.pages.respondent.form_data import new_session_key
from webapp.records.accounts import invites
from webapp.records.accounts.browser_sessions import begin_session
from webapp.records.responses.models import ResponseSession
from webapp.web.form_body_limits import FORM_BODY_MAX_BYTES

HEAD_BYTES = 40_000  # of an address or a header; the server reads 64 KiB in all
ALLOWED_SECONDS = 0.3  # for /healthz, whatever somebody else sends
TRIES = 4  # an interpreter that is held delays a poll each time
BOUNDARY = "bound"
TEXTS = {
    "marks of two classes": "a" + "\u0301\u0323" * 300_000,
    "one mark": "\u0301" * 500_000,
    "marks that become two": "\u0344" * 300_000,
    "a phrase in one character": "\ufdfa" * 300_000,
    "Hangul": "\u1100\u1161\u11a8" * 150_000,
    "planes": "\u0323\U0001d165\U0001e8d0\u0301" * 120_000,
    "unbroken": "a" * 1_000_000,
    "blanks": " \t" * 500_000,
    "digits": "9" * 1_000_000,
    "at signs": "a@" * 500_000,
    "dots and slashes": "../" * 300_000,
    "markup": "<a href='" * 100_000,
    "quotes": "\\\"'`" * 200_000,
    "words": "a b " * 250_000,
    "lines": "\r\n" * 400_000,
    "brackets": "[[{{((" * 150_000,
    "percent signs": "%(" * 400_000,
    "base64": "eyJh." * 200_000,
    "easy to guess": "P4$$w0rd1qwertyuiop2001-12-24aaa" * 30_000,
}
URLENCODED = "application/x-www-form-urlencoded"
# what the routes have to be seen to look for, so that the search for fields is known to work
SOME_FIELDS = {
    "sign_in.sign_in": {"email", "password", "csrf_token"},
    "sign_in.accept_invite": {"email", "name", "password"},
    "account.change_details": {"name", "organisation", "language"},
    "account.change_password": {"current", "password"},
    "drafts.save_text": {"text", "revision"},
    "questions.save": {"text", "hint", "revision"},
    "drafts.send_back": {"note", "revision"},
    "inbox.discard_chosen": {"note"},
    "forms.allow_embedding": {"origins"},
    "respond.answer": {"session", "answer_key", "answer", "replaces", "website"},
    "respond.send": {"session", "name"},
    "elsewhere.go_on": {"secret"},
    "consent.decide": {"allow"},
    "oauth.token": {"client_id"},
}
WRITING = ("POST", "PATCH", "PUT", "DELETE")

Asked = dict[str, set[str]]


class Watch:
    """The longest that `/healthz` took since the last look, measured in a thread.

    In processor time of this process, which serves, too: other programs do not count.
    """

    def __init__(self, port: int) -> None:
        self._port, self._longest, self._stopped = port, 0.0, threading.Event()
        self._thread = threading.Thread(target=self._poll)

    def __enter__(self) -> "Watch":
        self._thread.start()
        return self

    def __exit__(self, *_error: object) -> None:
        self._stopped.set()
        self._thread.join()

    def longest(self) -> float:
        """In seconds; an answer that is still owed counts, once it came."""
        time.sleep(0.002)
        longest, self._longest = self._longest, 0.0
        return longest

    def _poll(self) -> None:
        connection = http.client.HTTPConnection("127.0.0.1", self._port, timeout=60)
        while not self._stopped.wait(0.01):
            began = time.process_time()
            connection.request("GET", "/healthz")
            assert connection.getresponse().read()
            self._longest = max(self._longest, time.process_time() - began)
        connection.close()


def record_fields(app: Flask) -> tuple[Asked, Asked]:
    """From here on, the names that each endpoint looks up in the address and in forms."""
    asked: dict[str, Asked] = {"args": defaultdict(set), "form": defaultdict(set)}

    class Recorder(ImmutableMultiDict[str, str]):
        def _note(self, name: object) -> None:
            kind = "args" if self is request.__dict__.get("args") else "form"
            asked[kind][str(request.endpoint)].add(str(name))

        def get(self, key: Any, *given: Any, **named: Any) -> Any:  # type: ignore[override]
            self._note(key)
            return super().get(key, *given, **named)

        def getlist(self, key: Any, *given: Any, **named: Any) -> Any:  # type: ignore[override]
            self._note(key)
            return super().getlist(key, *given, **named)

        def __contains__(self, key: object) -> bool:
            self._note(key)
            return super().__contains__(key)

    bases = (app.request_class,)
    app.request_class = type("Recording", bases, {"parameter_storage_class": Recorder})
    return asked["args"], asked["form"]


@dataclass
class Scene:
    """A creator with a draft and a form, and somebody who is answering: new for each route."""

    app: Flask
    sound: dict[str, str] = field(default_factory=dict)  # fields that let a request get further
    values: dict[str, Any] = field(default_factory=dict)  # of places in addresses
    headers: dict[str, str] = field(default_factory=dict)
    account_id: str = ""

    def __post_init__(self) -> None:
        address = self.app.config["SETTINGS"].public_url
        with self.app.app_context():
            account = make_account()
            draft, form = make_draft(account.id), make_form(account.id)
            key = new_session_key()
            make_answer(form, key)
            person = db.session.query(ResponseSession.id).filter_by(form_id=form.id).scalar()
            invite = invites.make_invite(now=utc_now())
            session_id = begin_session(account, replaced=None, now=utc_now())
        browser = self.app.test_client()
        with browser.session_transaction(base_url=address) as session:
            session["_user_id"] = session_id
        token = hidden(browser.get("/drafts/new", base_url=address), "csrf_token")
        cookie = browser.get_cookie("askback_session", "127.0.0.1")
        assert cookie is not None
        self.account_id = account.id
        self.sound = {
            "csrf_token": token,
            "revision": "1",
            "session": key,
            "answer_key": "k" * 32,
            "then": "agent",
            "shown_hash": draft.content_hash,
        }
        self.values = {
            "draft_id": draft.id,
            "form_id": form.id,
            "share_token": form.share_token,
            "session_id": person,
            "token": invite,
            "number": 1,
            "place": 1,
            "position": 1,
            "part": "title",
            "kind": "svg",
            "digest": "0" * 64,
            "path": "api",
        }
        self.headers = {
            "Cookie": f"askback_session={cookie.value}",
            "Origin": address,
            "Sec-Fetch-Site": "same-origin",
        }

    def address(self, rule: Rule, hostile: str = "") -> str:
        """Of the route; `hostile` text in each place that takes any."""
        path = rule.rule
        for name in rule.arguments:
            sound = str(self.values.get(name, "unknown"))
            place = re.search(f"<[^<>]*\\b{name}>", path)
            if place:  # else the rule itself fills it
                path = path.replace(place[0], quote(hostile, safe="") if hostile else sound)
        return path


def multipart(fields: dict[str, str]) -> bytes:
    """A body with every field; only what urlencoding would make longer arrives whole."""
    head = 'Content-Disposition: form-data; name="{}"\r\n\r\n'
    parts = [f"--{BOUNDARY}\r\n{head.format(name)}{fields[name]}\r\n" for name in fields]
    return ("".join(parts) + f"--{BOUNDARY}--\r\n").encode("utf-8", "replace")


def urlencoded(fields: dict[str, str]) -> bytes:
    return "&".join(f"{name}={quote(fields[name])}" for name in fields).encode()


def cut(text: str, size: int) -> str:
    """The beginning of the text, of at most that many bytes."""
    return text[:size].encode("utf-8", "replace")[:size].decode("utf-8", "ignore")


def full(names: list[str], text: str, size: int = FORM_BODY_MAX_BYTES) -> dict[str, str]:
    """As much of the text in each field as a body of this size has room for."""
    each = (size - 2_000) // max(1, len(names)) - 200
    return {name: cut(text, each) for name in names}


class Sender:
    """Sends requests and measures how long others had to wait."""

    def __init__(self, app: Flask, connection: http.client.HTTPConnection, watch: Watch) -> None:
        self.app, self.connection, self.watch = app, connection, watch
        self.slow: list[str] = []
        self.broken: list[str] = []

    def send(self, what: str, method: str, path: str, headers: Any, body: bytes | None) -> None:
        delays = []
        for _ in range(TRIES):
            self.watch.longest()
            self.connection.request(method, path, body, headers)
            response = self.connection.getresponse()
            response.read()
            delays.append(self.watch.longest())
            if response.status == HTTPStatus.TOO_MANY_REQUESTS or response.status >= 500:
                self.broken.append(f"{what}: {response.status}")
            if delays[-1] < ALLOWED_SECONDS:
                return
        self.slow.append(f"{what}: {min(delays):.2f} s")


@contextmanager
def sending(app: Flask) -> Iterator[Sender]:
    """Nothing breaks by what is sent, and nobody else waits."""
    port = app.config["SETTINGS"].port
    connection = http.client.HTTPConnection("127.0.0.1", port, timeout=60)
    with closing(connection), Watch(port) as watch:
        sender = Sender(app, connection, watch)
        yield sender
    assert (sender.broken, sender.slow) == ([], [])


def rules(app: Flask, *methods: str) -> list[Rule]:
    """All but what asks for a schema that was migrated."""
    found = [rule for rule in app.url_map.iter_rules() if rule.endpoint != "health.readyz"]
    return [rule for rule in found if (rule.methods or set()) & set(methods)]


def method_of(rule: Rule) -> str:
    return next((name for name in WRITING if name in (rule.methods or ())), "GET")


def authorization(app: Flask, scene: Scene) -> dict[str, str]:
    with app.app_context():
        audience = app.config["SETTINGS"].api_url
        token = issue_token(scene.account_id, list(Scope), audience, now=utc_now())
    return {"Authorization": f"Bearer {token}"}
