"""Text about as long as a field may be, just below and just above: nobody else waits."""

import json
import re
from collections.abc import Callable, Iterable, Iterator
from typing import Any

import pytest
from flask import Flask
from werkzeug.routing import Rule

from api.drafts import ENCODED_MAX_CHARS
from api.wire.drafts import IDEMPOTENCY_KEY_MAX_CHARS
from tests.hostile import (
    SOME_FIELDS,
    TEXTS,
    URLENCODED,
    Scene,
    Sender,
    Watch,
    authorization,
    connected,
    method_of,
    rules,
    urlencoded,
)
from tests.serving import new_app, serving
from webapp.answers.answering import RESPONDER_NAME_MAX_CHARS
from webapp.base.config import Settings
from webapp.drafts.form_settings import HOST_MAX_CHARS
from webapp.oauth.client_metadata import CLIENT_NAME_MAX_CHARS, REDIRECT_URI_MAX_CHARS
from webapp.oauth.models import CLIENT_ID_MAX_CHARS
from webapp.oauth.protocol import SECRET_CHARS
from webapp.pages.creator.draft_view import FIELD_LIMITS
from webapp.pages.creator.results import WORDS_MAX_CHARS
from webapp.pages.creator.sign_in import READ_CHARS
from webapp.pages.respondent.form_data import KEY, SESSION_KEY
from webapp.records.accounts.credentials import PASSWORD_MAX_CHARS
from webapp.records.accounts.models import (
    ACCOUNT_NAME_MAX_CHARS,
    EMAIL_MAX_CHARS,
    ORGANISATION_MAX_CHARS,
)
from webapp.records.content.draft_input import (
    CONTEXT_MAX_CHARS,
    GOAL_MAX_CHARS,
    QUESTION_ID_MAX_CHARS,
    TITLE_MAX_CHARS,
)
from webapp.records.drafts import CREATOR_NOTE_MAX_CHARS
from webapp.records.responses.models import ANSWER_MAX_CHARS


def _most(pattern: re.Pattern[str]) -> int:
    """The upper bound of what a pattern takes, which is its last number."""
    return int(re.findall(r"\d+", pattern.pattern)[-1])


KEY_CHARS, SESSION_CHARS = _most(KEY), _most(SESSION_KEY)
# the bounds that fields have of their own, in characters
BOUNDED = {
    "sign_in.sign_in": {"email": EMAIL_MAX_CHARS, "password": PASSWORD_MAX_CHARS},
    "sign_in.accept_invite": {
        "email": EMAIL_MAX_CHARS,
        "name": ACCOUNT_NAME_MAX_CHARS,
        "password": PASSWORD_MAX_CHARS,
    },
    "account.change_details": {
        "name": ACCOUNT_NAME_MAX_CHARS,
        "organisation": ORGANISATION_MAX_CHARS,
    },
    "account.change_password": {"current": PASSWORD_MAX_CHARS, "password": PASSWORD_MAX_CHARS},
    "account.delete": {"current": PASSWORD_MAX_CHARS},
    "inbox.discard_chosen": {"note": CREATOR_NOTE_MAX_CHARS},
    "drafts.send_back": {"note": CREATOR_NOTE_MAX_CHARS},
    "forms.allow_embedding": {"origins": len("https://") + HOST_MAX_CHARS},
    "respond.answer": {
        "answer": ANSWER_MAX_CHARS,
        "session": SESSION_CHARS,
        "answer_key": KEY_CHARS,
    },
    "respond.send": {"name": RESPONDER_NAME_MAX_CHARS, "session": SESSION_CHARS},
    "elsewhere.go_on": {"secret": KEY_CHARS, "claim": KEY_CHARS},
    "oauth.token": {
        "client_id": CLIENT_ID_MAX_CHARS,
        "code": SECRET_CHARS,
        "refresh_token": SECRET_CHARS,
        "redirect_uri": REDIRECT_URI_MAX_CHARS,
    },
    "results.by_question": {"q": WORDS_MAX_CHARS},
    "results.by_person": {"q": WORDS_MAX_CHARS},
    "consent.authorize": {
        "client_id": CLIENT_ID_MAX_CHARS,
        "redirect_uri": REDIRECT_URI_MAX_CHARS,
    },
}
# where a request that works takes away what the next one needs
SPENT = {"sign_in.accept_invite", "respond.answer", "respond.send"}
# what lets a request with one hostile field get further
SOUND = {
    "name": "Ann",
    "current": "four plain words here",
    "password": "four other plain words",
    "answer": "It broke.",
    "secret": "s" * 32,
    "claim": "c" * 32,
    "language": "en",
    "grant_type": "authorization_code",
    "response_type": "code",
    "client_id": "somebody",
    "redirect_uri": "https://agent.example/back",
}
# as JSON, with a text that is bounded
BOUNDED_JSON: dict[str, list[tuple[int, Callable[[str], Any]]]] = {
    "api.create_service_draft": [
        (TITLE_MAX_CHARS, lambda text: {"title": text}),
        (GOAL_MAX_CHARS, lambda text: {"goal": text}),
        (CONTEXT_MAX_CHARS, lambda text: {"context": text}),
        (QUESTION_ID_MAX_CHARS, lambda text: {"questions": [{"id": text, "text": "Why?"}]}),
    ],
    "oauth.register": [
        (
            CLIENT_NAME_MAX_CHARS,
            lambda text: {"client_name": text, "redirect_uris": ["https://a.example/b"]},
        ),
        (REDIRECT_URI_MAX_CHARS, lambda text: {"redirect_uris": [f"https://a.example/{text}"]}),
    ],
}
BOUNDED_HEADERS = {
    "Idempotency-Key": IDEMPOTENCY_KEY_MAX_CHARS,
    "Askback-Note": ENCODED_MAX_CHARS,
    "User-Agent": READ_CHARS,
}
WORST = ("marks of two classes", "easy to guess")


@pytest.fixture
def served(app: Flask, settings: Settings) -> Iterator[Flask]:
    """A server without limits of rates on the database of `app`."""
    other = new_app(settings.model_copy(update={"write_limits": False}))
    with serving(other):
        yield other


@pytest.mark.parametrize(
    "kind",
    [*WORST, *(pytest.param(kind, marks=pytest.mark.prove) for kind in TEXTS if kind not in WORST)],
)
def test_fields_near_their_limit_do_not_block_other_requests(served: Flask, kind: str) -> None:
    with connected(served) as connection, Watch(served.config["SETTINGS"].port) as watch:
        sender = Sender(served, connection, watch)
        _send_fields(sender, TEXTS[kind])
        _send_parts_of_a_draft(sender, TEXTS[kind])
        _send_to_programs(sender, TEXTS[kind])

    assert (sender.broken, sender.slow) == ([], [])


def test_every_field_of_text_is_bounded() -> None:
    """Those of the routes that are known to look for them."""
    compared = {"csrf_token", "revision", "replaces"}
    few_values = {"website", "allow", "language"}
    whole_forms = {"drafts.save_text", "questions.save"}  # as long as a body, or another test's

    missed = {
        name: fields - BOUNDED.get(name, {}).keys() - compared - few_values
        for name, fields in SOME_FIELDS.items()
        if name not in whole_forms
    }

    assert not any(missed.values()), missed


def _around(most: int) -> range:
    return range(most - 1, most + 2)


def _send_fields(sender: Sender, text: str) -> None:
    for endpoint, bounds in BOUNDED.items():
        rule = next(rule for rule in rules(sender.app, "GET", "POST") if rule.endpoint == endpoint)
        for name, most in bounds.items():
            scene = Scene(sender.app)
            for chars in _around(most):
                if endpoint in SPENT:
                    scene.__post_init__()
                fields = _sound(scene, endpoint, bounds) | {name: _shaped(name, text, chars)}
                _send(sender, scene, rule, f"{endpoint} {name} of {chars}", fields)


def _send(sender: Sender, scene: Scene, rule: Rule, what: str, fields: dict[str, str]) -> None:
    path, body = scene.address(rule), urlencoded(fields)
    if method_of(rule) == "GET":
        sender.send(what, "GET", f"{path}?{body.decode()}", scene.headers, None)
    else:
        headers = scene.headers | {"Content-Type": URLENCODED}
        sender.send(what, "POST", path, headers, body)


def _sound(scene: Scene, endpoint: str, names: Iterable[str]) -> dict[str, str]:
    """Values for the other fields; respondents' routes refuse those that they do not know."""
    given = SOUND | scene.sound | {"email": f"{scene.account_id}@example.com"}
    if endpoint.startswith(("respond.", "elsewhere.")):
        return {name: given[name] for name in names}
    return given


def _shaped(name: str, text: str, chars: int) -> str:
    """The beginning of the text, as what the field takes looks."""
    before = {"origins": "https://", "code": "askac_", "refresh_token": "askrt_"}.get(name, "")
    after = "@ex.am" if name == "email" else ""
    return before + text[: chars - len(before) - len(after)] + after


def _send_parts_of_a_draft(sender: Sender, text: str) -> None:
    rule = next(rule for rule in rules(sender.app, "POST") if rule.endpoint == "drafts.save_text")
    for part, most in FIELD_LIMITS.items():
        for chars in _around(most):
            scene = Scene(sender.app)
            scene.values["part"] = part
            fields = scene.sound | {"text": text[:chars]}
            _send(sender, scene, rule, f"{part} of {chars}", fields)


def _send_to_programs(sender: Sender, text: str) -> None:
    scene = Scene(sender.app)
    headers = {"Content-Type": "application/json", **authorization(sender.app, scene)}
    for rule in rules(sender.app, "POST"):
        for most, made in BOUNDED_JSON.get(rule.endpoint, []):
            for chars in _around(most):
                body = json.dumps(made(text[:chars]), ensure_ascii=False).encode()
                path, what = scene.address(rule), f"{rule.endpoint} {chars}"
                sender.send(what, "POST", path, headers, body)
    for name, most in BOUNDED_HEADERS.items():
        for chars in _around(most):
            value = re.sub(r"[\r\n]", " ", text[:chars]).encode()  # ends a header
            sender.send(f"{name} {chars}", "POST", "/api/drafts", headers | {name: value}, b"{}")
