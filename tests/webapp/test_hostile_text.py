"""Whatever text somebody sends, wherever it is taken: nobody else waits, and nothing breaks."""

import json
from collections.abc import Callable, Iterator, Sequence
from typing import Any

import pytest
from flask import Flask
from sqlalchemy import update
from werkzeug.routing import Rule

from api.bodies import API_BODY_MAX_BYTES
from tests.bulk import store_answers
from tests.hostile import (
    BOUNDARY,
    HEAD_BYTES,
    SOME_FIELDS,
    TEXTS,
    URLENCODED,
    WRITING,
    Asked,
    Scene,
    Sender,
    authorization,
    cut,
    full,
    method_of,
    multipart,
    record_fields,
    rules,
    sending,
    urlencoded,
)
from tests.serving import new_app, serving
from webapp.answers import answering
from webapp.base.config import Settings
from webapp.base.database import db
from webapp.pages.creator import draft_view, results
from webapp.records import drafts
from webapp.records.accounts import credentials, models as accounts
from webapp.records.responses.models import ANSWER_MAX_CHARS, Answer
from webapp.web.form_body_limits import FORM_BODY_MAX_BYTES

SHORTER = (3_000, 24_000, 200_000)  # bodies
FIRST, *OTHERS = TEXTS
kinds = pytest.mark.parametrize(
    "kind", [FIRST, *(pytest.param(kind, marks=pytest.mark.prove) for kind in OTHERS)]
)
MULTIPART = f"multipart/form-data; boundary={BOUNDARY}"
# what programs send as JSON, and the fields with text in it
JSON_ROUTES: dict[str, Callable[[str], Any]] = {
    "api.create_agent_token": lambda text: {"label": text},
    "api.create_subscription": lambda text: {
        "url": text,
        "secret": text,
        "cursor": text,
        "ttlSeconds": text,
    },
    "api.create_service_draft": lambda text: {
        "title": text,
        "goal": text,
        "context": text,
        "questions": [text, {"text": text, "id": text, "context": text}],
        "followUpMode": text,
        text[:9]: text,
    },
    "api.update_service_draft": lambda text: {"questions": [text], "title": text},
    "api.replace_service_draft_follow_ups": lambda text: {
        "followUps": {text: [text], "1": [{"text": text, "when": text}]}
    },
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
    "Askback-Note",
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
    other = new_app(settings.model_copy(update={"write_limits": False}))
    with serving(other):
        yield other


@kinds
@pytest.mark.parametrize(
    "lengths", [[FORM_BODY_MAX_BYTES], pytest.param(SHORTER, marks=pytest.mark.prove)]
)
def test_hostile_forms_do_not_block_other_requests(
    served: Flask, kind: str, lengths: Sequence[int]
) -> None:
    """To every route that writes, with each field that it turns out to look for."""
    _, form = record_fields(served)
    with sending(served) as sender:
        for rule in rules(served, *WRITING):
            if rule.endpoint not in JSON_ROUTES:
                _send_bodies(sender, rule, form, kind, lengths)
    missed = {name: fields - form[name] for name, fields in SOME_FIELDS.items()}
    assert not any(missed.values()), missed


@kinds
def test_hostile_addresses_do_not_block_other_requests(served: Flask, kind: str) -> None:
    text = cut(TEXTS[kind], HEAD_BYTES // 6)
    args, _ = record_fields(served)
    with sending(served) as sender:
        scene = Scene(served)
        for rule in rules(served, "GET", *WRITING):
            _send_queries(sender, scene, rule, args, text)


@kinds
def test_hostile_json_and_headers_do_not_block_other_requests(served: Flask, kind: str) -> None:
    with sending(served) as sender:
        scene = Scene(served)
        headers = {"Content-Type": "application/json", **authorization(served, scene)}
        for rule in rules(served, *WRITING):
            if rule.endpoint in JSON_ROUTES:
                text = TEXTS[kind][: API_BODY_MAX_BYTES // 40]
                body = json.dumps(JSON_ROUTES[rule.endpoint](text), ensure_ascii=False).encode()
                path = scene.address(rule)
                sender.send(rule.endpoint, method_of(rule), path, headers, body)
        value = cut(TEXTS[kind], HEAD_BYTES).replace("\r", " ").replace("\n", " ").encode()
        for name in HEADERS:
            for path in ("/login", "/api/forms", f"/r/{scene.values['share_token']}"):
                sender.send(f"{name} {path}", "GET", path, {name: value}, None)


@pytest.mark.parametrize("kind", ["marks of two classes", "marks that become two", "planes"])
def test_searches_do_not_block_other_requests(served: Flask, kind: str) -> None:
    """200 of the longest ones, as one address may send in a minute."""
    scene = Scene(served)
    form_id = scene.values["form_id"]
    with served.app_context():
        store_answers(form_id, 200)
        db.session.execute(update(Answer).values(answer_text=TEXTS[kind][:ANSWER_MAX_CHARS]))
        db.session.commit()
    with sending(served) as sender:
        for path in ("?q=hello", "/people?q=hello", "", "/people"):
            sender.send(path, "GET", f"/forms/{form_id}{path}", scene.headers, None)


def test_every_route_that_takes_json_is_known(served: Flask) -> None:
    programs = {
        rule.endpoint
        for rule in rules(served, *WRITING)
        if rule.endpoint.startswith(("api.", "oauth."))
    }

    bodiless = {"api.delete_subscription"}
    assert programs - set(JSON_ROUTES) - bodiless == {"oauth.token", "oauth.revoke"}


def _send_bodies(
    sender: Sender, rule: Rule, form: Asked, kind: str, lengths: Sequence[int]
) -> None:
    """The text in every field, and in every one but those that keep a request from going on."""
    scene = Scene(sender.app)
    _learn(sender, scene, rule, form)
    names = sorted(form[rule.endpoint])
    sound = {name: text for name, text in scene.sound.items() if name in names}
    method, path = method_of(rule), scene.address(rule)
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
        sender.send(
            rule.endpoint, method_of(rule), scene.address(rule), headers, urlencoded(fields)
        )
        if form[rule.endpoint] <= known:
            return
        known |= form[rule.endpoint]
        scene.__post_init__()


def _send_queries(sender: Sender, scene: Scene, rule: Rule, args: Asked, text: str) -> None:
    """In each place of the address, and under each name that the route looks for in it."""
    body = b"" if method_of(rule) != "GET" else None
    sender.send(
        rule.endpoint, method_of(rule), scene.address(rule, text[:3000]), scene.headers, body
    )
    for _ in range(3):
        names = sorted(args[rule.endpoint]) or ["q"]
        query = urlencoded({name: text[: len(text) // len(names)] for name in names}).decode()
        path = f"{scene.address(rule)}?{query}"
        sender.send(f"{rule.endpoint} {names}", method_of(rule), path, scene.headers, body)
        if sorted(args[rule.endpoint]) == names:
            return


# --- Text just as long as a field may be, which is read further ---

BOUNDED = {
    "sign_in.accept_invite": {
        "name": accounts.ACCOUNT_NAME_MAX_CHARS,
        "password": credentials.PASSWORD_MAX_CHARS,
    },
    "drafts.send_back": {"note": drafts.CREATOR_NOTE_MAX_CHARS},
    "respond.answer": {"answer": ANSWER_MAX_CHARS},
    "respond.send": {"name": answering.RESPONDER_NAME_MAX_CHARS},
    "results.by_person": {"q": results.WORDS_MAX_CHARS},
}
WORST = ("marks of two classes", "easy to guess")


@pytest.mark.parametrize(
    "kind",
    [*WORST, *(pytest.param(kind, marks=pytest.mark.prove) for kind in TEXTS if kind not in WORST)],
)
def test_fields_at_their_limit_do_not_block_other_requests(served: Flask, kind: str) -> None:
    text = TEXTS[kind]
    with sending(served) as sender:
        for endpoint, bounds in BOUNDED.items():
            for name, most in bounds.items():
                _send_field(sender, endpoint, name, text[:most])
        for part, most in draft_view.FIELD_LIMITS.items():
            _send_field(sender, "drafts.save_text", "text", text[:most], part=part)


def _send_field(sender: Sender, endpoint: str, name: str, text: str, **values: str) -> None:
    """Others have sound values; routes of respondents refuse fields that they do not know."""
    rule = next(rule for rule in rules(sender.app, "GET", "POST") if rule.endpoint == endpoint)
    scene = Scene(sender.app)
    scene.values |= values
    made = {"email": f"{scene.account_id}@example.com", "password": "four other plain words"}
    fields = scene.sound | made | {name: text}
    if endpoint.startswith("respond."):
        fields = {each: fields[each] for each in {name, "session", "answer_key"} & fields.keys()}
    if endpoint == "respond.send":
        del fields["answer_key"]
    body = urlencoded(fields)
    if method_of(rule) == "GET":
        path, headers, body = f"{scene.address(rule)}?{body.decode()}", scene.headers, None
    else:
        path, headers = scene.address(rule), scene.headers | {"Content-Type": URLENCODED}
    sender.send(f"{endpoint} {name}", method_of(rule), path, headers, body)
