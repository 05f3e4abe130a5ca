"""One JSON line per request, and no secret in any of them."""

import io
import json
import logging
import re
import time
from collections.abc import Iterator
from typing import Any

import pytest
from flask import Flask, abort
from sqlalchemy import text, update

from jobs.deliver import Deliverer
from tests.factories import make_form, make_response
from tests.oauth.flow import API, bearer
from tests.pages.creator_client import ORIGIN, creator
from tests.webhook_receiver import URL, Webhook
from webapp.app.factory import create_app
from webapp.base.config import Settings
from webapp.base.database import db, utc_now
from webapp.base.vocabulary import Scope
from webapp.oauth.tokens import issue_token
from webapp.pages.creator.sign_in import SIGNED_IN_AT
from webapp.records.accounts.models import Account
from webapp.records.events import EventSubscription
from webapp.web import logs, request_audit

CANARY = "canary7f3a"


class Lines(io.StringIO):
    @property
    def requests(self) -> list[dict[str, Any]]:
        lines = map(json.loads, self.getvalue().splitlines())
        return [line for line in lines if line["message"] == "request" or "exception" in line]


@pytest.fixture
def written() -> Iterator[Lines]:
    """What goes to the log while the test runs, at the most talkative level."""
    lines = Lines()
    handler = logging.StreamHandler(lines)
    handler.setFormatter(logs.JsonLines())
    root, level = logging.getLogger(), logging.getLogger().level
    root.addHandler(handler)
    root.setLevel(logging.DEBUG)
    yield lines
    root.removeHandler(handler)
    root.setLevel(level)


@pytest.fixture
def app_with_faults(settings: Settings) -> Iterator[Flask]:
    """The application with routes that fail."""
    app = create_app(settings)

    def fault(kind: str) -> str:
        if kind == "bug":
            raise ValueError(CANARY)
        if kind == "statement":
            db.session.execute(text("SELECT * FROM nowhere WHERE a = :a"), {"a": CANARY})
        abort(418)

    app.add_url_rule("/r/<token>", "secret_link", lambda token: "", methods=["PUT"])
    app.add_url_rule("/test/<kind>", "fault", fault)
    app.add_url_rule("/api/test/<kind>", "api_fault", fault)
    yield app
    with app.app_context():
        db.engine.dispose()


@pytest.mark.parametrize(
    ("path", "headers"),
    [
        *((path.format(CANARY), {}) for path in ("/r/{}", "/join/{}", "/{}")),
        *((f"/{path}{CANARY}", {}) for path in ("r/share/continue/", "api/forms?access_token=")),
        ("/api/forms", {"Authorization": f"Bearer askat_{CANARY}"}),
        ("/api/forms", {"Cookie": f"askback_session={CANARY}"}),
        ("/api/forms", {"X-Request-Id": f"{CANARY} x"}),
    ],
)
def test_content_sent_by_clients_is_not_logged(
    app: Flask, written: Lines, path: str, headers: dict[str, str]
) -> None:
    app.test_client().get(path, headers=headers)

    assert written.requests
    assert CANARY not in written.getvalue()


def every_row(app: Flask) -> str:
    with app.app_context():
        request_audit.store()
        tables = db.metadata.sorted_tables
        return str([db.session.execute(table.select()).all() for table in tables])


def test_an_agent_token_is_in_no_line_no_row_and_no_further_page(
    app: Flask, account: Account, written: Lines
) -> None:
    with app.app_context():
        form = make_form(account.id)
        access = issue_token(account.id, tuple(Scope), API, now=utc_now())
    ann, client, headers = creator(app, account), app.test_client(), bearer(access)
    path = f"/api/forms/{form.id}/agent-tokens"
    tokens = [client.post(path, headers=headers, json={}).json["token"]]
    with ann.client.session_transaction(base_url=ORIGIN) as session:
        session[SIGNED_IN_AT] = int(time.time())
    made = ann.post("/connections/tokens/new", form=form.id, label="", days="9")
    tokens += re.findall(r'readonly value="(askag_\w+)"', ann.page(made.location).text)

    shown = "".join(
        client.get(f"/api/agent/asks/{called}", headers=bearer(sent)).text
        for token in tokens
        for sent in (token, token[:-1], access)
        for called in (
            f"{form.id}/answers",
            f"{form.id}/answers?token={token}",
            f"{form.id}/answers?wait={token}",
            f"{token}/answers",
        )
    )
    for place in ("/connections", "/connections/tokens/new", "/account/activity"):
        shown += ann.page(place).text
    shown += every_row(app)

    assert len(tokens) == 2
    assert "askag_" in shown  # the hints
    assert [token for token in tokens if token in shown] == []
    assert [token for token in tokens if token[6:-6] in written.getvalue()] == []


def test_the_secret_of_a_callback_is_in_no_line_row_or_page(
    app: Flask, account: Account, hook: Webhook, written: Lines
) -> None:
    with app.app_context():
        form = make_form(account.id)
        access = issue_token(account.id, tuple(Scope), API, now=utc_now())
    ann, client, headers = creator(app, account), app.test_client(), bearer(access)
    path = f"/api/forms/{form.id}/subscriptions"
    keys = [f"{CANARY}{number}" + "Zk9x" * 5 + "A" for number in range(4)]
    shown = ""
    for key, echoes, url in (
        (keys[0], True, URL),
        (keys[1], True, URL),
        (keys[2], False, f"{URL}8"),
        (f"{keys[3]}!", True, URL),
    ):
        hook.echoes = echoes
        body = {"url": url, "secret": f"whsec_{key}"}
        shown += client.post(path, headers=headers, json=body).text
    shown += client.get(path, headers=headers).text
    for sealed in (True, False):
        with app.app_context():
            make_response(form)
            if not sealed:
                db.session.execute(update(EventSubscription).values(secret="k0:AAAA"))
                db.session.commit()
            Deliverer(app, threads=2).work()
    for place in re.findall(r'href="(/deliveries[^"]*)"', ann.page("/deliveries").text):
        shown += ann.page(place.replace("&amp;", "&")).text
    shown += every_row(app)

    assert [posted.said.get("type") for posted in hook.posted] == ["verification"] * 2 + [None]
    assert "k1:" in shown
    assert CANARY not in shown
    assert CANARY not in written.getvalue()


@pytest.mark.parametrize(
    ("path", "status"), [("/test/bug", 500), ("/test/statement", 503), ("/api/test/bug", 500)]
)
def test_an_error_is_logged_by_type_and_location_only(
    app_with_faults: Flask, written: Lines, path: str, status: int
) -> None:
    app_with_faults.config["PROPAGATE_EXCEPTIONS"] = False
    answer = app_with_faults.test_client().get(path)

    fault = next(line for line in written.requests if "exception" in line)
    assert answer.status_code == status
    assert any(place.endswith(" fault") for place in fault["trace"])
    assert fault["request_id"] == answer.headers["X-Request-Id"]
    assert CANARY not in written.getvalue()


@pytest.mark.parametrize(
    ("message", "written"),
    [
        ("token askat_abc.def next", "token askat_*** next"),
        ("with askag_0Az and more", "with askag_*** and more"),
        ("Exception on /r/Sh4re/answer [POST]", "Exception on /r/***/answer [POST]"),
        ("on /r/Sh4re/continue/s3cret [GET]", "on /r/***/continue/*** [GET]"),
        ("on /mcp/app/recordings/rec_s3cret [GET]", "on /mcp/app/recordings/*** [GET]"),
        ("GET /api/forms?since=1 done", "GET /api/forms?*** done"),
        ("is it? yes", "is it? yes"),
    ],
)
def test_secrets_in_messages_of_libraries_are_cut(message: str, written: str) -> None:
    assert logs.without_secrets(message) == written
