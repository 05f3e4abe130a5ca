"""Whatever text somebody sends, wherever it is taken: nobody else waits, and nothing breaks."""

import http.client
import json
from collections.abc import Callable, Iterator
from dataclasses import replace
from http import HTTPStatus
from typing import Any

import pytest
from flask import Flask
from sqlalchemy import update
from werkzeug.routing import Rule

from tests.bulk import store_answers
from tests.hostile import (
    ALLOWED_SECONDS,
    BOUNDARY,
    HEAD_BYTES,
    TEXTS,
    TRIES,
    WRITING,
    Asked,
    Scene,
    Watch,
    connected,
    cut,
    full,
    multipart,
    record_fields,
    urlencoded,
)
from tests.serving import new_app, serving
from webapp.config import Settings
from webapp.database import db, utc_now
from webapp.domain.limits import ANSWER_MAX_CHARS, API_BODY_MAX_BYTES, FORM_BODY_MAX_BYTES
from webapp.domain.responses import Answer
from webapp.domain.terms import Scope
from webapp.oauth.tokens import issue_token

LENGTHS = (3_000, 24_000, 200_000, FORM_BODY_MAX_BYTES)  # of bodies
FIRST, *OTHERS = TEXTS
kinds = pytest.mark.parametrize(
    "kind", [FIRST, *(pytest.param(kind, marks=pytest.mark.prove) for kind in OTHERS)]
)
MULTIPART = f"multipart/form-data; boundary={BOUNDARY}"
URLENCODED = "application/x-www-form-urlencoded"
# what the routes have to be seen to look for, so that the search for fields is known to work
SOME_FIELDS = {
    "sign_in.sign_in": {"email", "password", "csrf_token"},
    "sign_in.accept_invite": {"email", "name", "password"},
    "account.change_details": {"name", "language"},
    "account.change_password": {"current", "password"},
    "drafts.save_text": {"text", "revision"},
    "questions.save": {"text", "hint", "revision"},
    "forms.allow_embedding": {"origins"},
    "respond.answer": {"session", "answer_key", "answer", "website"},
    "respond.send": {"session", "name"},
    "elsewhere.go_on": {"secret"},
    "consent.decide": {"allow"},
    "oauth.token": {"client_id"},
}
# what programs send as JSON, and the fields with text in it
JSON_ROUTES: dict[str, Callable[[str], Any]] = {
    "api.create_service_draft": lambda text: {
        "title": text,
        "goal": text,
        "context": text,
        "questions": [text, {"text": text, "id": text, "context": text}],
        "followUpMode": text,
        text[:9]: text,
    },
    "api.update_service_draft": lambda text: {"questions": [text], "title": text},
    "api.publish_service_draft": lambda text: {"confirmation": text, "title": text},
    "oauth.register": lambda text: {
        "client_name": text,
        "redirect_uris": [text],
        "scope": text,
        "grant_types": [text],
    },
}
HEADERS = (
    "Authorization",
    "Cookie",
    "If-Match",
    "Idempotency-Key",
    "Accept-Language",
    "Accept",
    "X-Forwarded-For",
    "X-Request-Id",
    "HX-Current-URL",
    "Referer",
    "Content-Type",
    "Range",
    "If-None-Match",
)


@pytest.fixture
def served(app: Flask, settings: Settings) -> Iterator[Flask]:
    """A server without limits of rates on the database of `app`."""
    other = new_app(replace(settings, write_limits=False))
    with serving(other):
        yield other


class Sender:
    """Sends requests and finds out whether anybody had to wait for them."""

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


@kinds
def test_nobody_waits_for_a_form(served: Flask, kind: str) -> None:
    sent = _send_forms(served, kind, [FORM_BODY_MAX_BYTES])

    assert (sent.broken, sent.slow) == ([], [])


@pytest.mark.prove
@pytest.mark.parametrize("kind", TEXTS)
def test_nobody_waits_for_a_form_of_any_length(served: Flask, kind: str) -> None:
    sent = _send_forms(served, kind, list(LENGTHS))

    assert (sent.broken, sent.slow) == ([], [])


@kinds
def test_nobody_waits_for_an_address(served: Flask, kind: str) -> None:
    text = cut(TEXTS[kind], HEAD_BYTES // 6)
    args, _ = record_fields(served)
    with connected(served) as connection, Watch(served.config["SETTINGS"].port) as watch:
        sender, scene = Sender(served, connection, watch), Scene(served)
        for rule in _rules(served, "GET", *WRITING):
            _send_queries(sender, scene, rule, args, text)

    assert (sender.broken, sender.slow) == ([], [])


@kinds
def test_nobody_waits_for_json_or_a_header(served: Flask, kind: str) -> None:
    with connected(served) as connection, Watch(served.config["SETTINGS"].port) as watch:
        sender, scene = Sender(served, connection, watch), Scene(served)
        headers = {"Content-Type": "application/json", **_authorization(served, scene)}
        for rule in _rules(served, *WRITING):
            if rule.endpoint in JSON_ROUTES:
                text = TEXTS[kind][: API_BODY_MAX_BYTES // 40]
                body = json.dumps(JSON_ROUTES[rule.endpoint](text), ensure_ascii=False).encode()
                path = scene.address(rule)
                sender.send(rule.endpoint, _method(rule), path, headers, body)
        value = cut(TEXTS[kind], HEAD_BYTES).replace("\r", " ").replace("\n", " ").encode()
        for name in HEADERS:
            for path in ("/login", "/api/forms", f"/r/{scene.values['share_token']}"):
                sender.send(f"{name} {path}", "GET", path, {name: value}, None)

    assert (sender.broken, sender.slow) == ([], [])


@pytest.mark.parametrize("kind", ["marks of two classes", "marks that become two", "planes"])
def test_nobody_waits_for_a_search_through_answers(served: Flask, kind: str) -> None:
    """200 of the longest ones, as one address may send in a minute."""
    scene = Scene(served)
    form_id = scene.values["form_id"]
    with served.app_context():
        store_answers(form_id, 200)
        db.session.execute(update(Answer).values(answer_text=TEXTS[kind][:ANSWER_MAX_CHARS]))
        db.session.commit()
    with connected(served) as connection, Watch(served.config["SETTINGS"].port) as watch:
        sender = Sender(served, connection, watch)
        for path in ("?q=hello", "/people?q=hello", "", "/people"):
            sender.send(path, "GET", f"/forms/{form_id}{path}", scene.headers, None)

    assert (sender.broken, sender.slow) == ([], [])


def test_every_route_that_takes_json_is_known(served: Flask) -> None:
    programs = {
        rule.endpoint
        for rule in _rules(served, *WRITING)
        if rule.endpoint.startswith(("api.", "oauth."))
    }

    assert programs - set(JSON_ROUTES) == {"oauth.token", "oauth.revoke"}


def _send_forms(app: Flask, kind: str, lengths: list[int]) -> Sender:
    """To every route that writes, with each field that it turns out to look for."""
    _, form = record_fields(app)
    with connected(app) as connection, Watch(app.config["SETTINGS"].port) as watch:
        sender = Sender(app, connection, watch)
        for rule in _rules(app, *WRITING):
            if rule.endpoint not in JSON_ROUTES:
                _send_bodies(sender, rule, form, kind, lengths)
    missed = {name: fields - form[name] for name, fields in SOME_FIELDS.items()}
    assert not any(missed.values()), missed
    return sender


def _send_bodies(sender: Sender, rule: Rule, form: Asked, kind: str, lengths: list[int]) -> None:
    """The text in every field, and in every one but those that keep a request from going on."""
    scene = Scene(sender.app)
    _learn(sender, scene, rule, form)
    names = sorted(form[rule.endpoint])
    sound = {name: text for name, text in scene.sound.items() if name in names}
    method, path = _method(rule), scene.address(rule)
    for size in lengths:
        what = f"{rule.endpoint} {kind} {size}"
        several = scene.headers | {"Content-Type": MULTIPART}
        encoded = scene.headers | {"Content-Type": URLENCODED}
        given = full(names, TEXTS[kind], size)
        sender.send(what, method, path, several, multipart(given))
        sender.send(f"{what}, the rest sound", method, path, several, multipart(given | sound))
        given = full(names, TEXTS[kind], size // 6) | sound
        sender.send(f"{what}, encoded", method, path, encoded, urlencoded(given))


def _learn(sender: Sender, scene: Scene, rule: Rule, form: Asked) -> None:
    """Let the route look for its fields, until it looks for no further ones."""
    known: set[str] = set()
    for _ in range(8):
        headers = scene.headers | {"Content-Type": URLENCODED}
        fields = {name: scene.sound.get(name, "x") for name in known}
        sender.send(rule.endpoint, _method(rule), scene.address(rule), headers, urlencoded(fields))
        if form[rule.endpoint] <= known:
            return
        known |= form[rule.endpoint]
        scene.__post_init__()


def _send_queries(sender: Sender, scene: Scene, rule: Rule, args: Asked, text: str) -> None:
    """In each place of the address, and under each name that the route looks for in it."""
    body = b"" if _method(rule) != "GET" else None
    sender.send(rule.endpoint, _method(rule), scene.address(rule, text[:3000]), scene.headers, body)
    for _ in range(3):
        names = sorted(args[rule.endpoint]) or ["q"]
        query = urlencoded({name: text[: len(text) // len(names)] for name in names}).decode()
        path = f"{scene.address(rule)}?{query}"
        sender.send(f"{rule.endpoint} {names}", _method(rule), path, scene.headers, body)
        if sorted(args[rule.endpoint]) == names:
            return


def _rules(app: Flask, *methods: str) -> list[Rule]:
    """All but what asks for a schema that was migrated."""
    rules = [rule for rule in app.url_map.iter_rules() if rule.endpoint != "health.readyz"]
    return [rule for rule in rules if (rule.methods or set()) & set(methods)]


def _method(rule: Rule) -> str:
    return next((name for name in WRITING if name in (rule.methods or ())), "GET")


def _authorization(app: Flask, scene: Scene) -> dict[str, str]:
    with app.app_context():
        audience = app.config["SETTINGS"].api_url
        token = issue_token(scene.account_id, list(Scope), audience, now=utc_now())
    return {"Authorization": f"Bearer {token}"}
