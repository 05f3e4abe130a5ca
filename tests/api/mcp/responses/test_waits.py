"""`watch_ask` and `wait_for_form_responses`: short waits, after which nothing stays."""

from collections.abc import Callable
from functools import partial
from typing import Any

import pytest
from flask import Flask
from werkzeug.test import TestResponse

from api.mcp.tools import forms as tools
from api.waiting import Waited
from tests.api.conftest import at_once, while_waiting
from tests.api.mcp.conftest import Host
from tests.api.mcp.responses.reading import quoted, refused
from tests.factories import make_answer, make_response
from webapp.base.database import db, utc_now, write_transaction
from webapp.oauth.models import OAuthToken
from webapp.web import wakeups

BOTH = pytest.mark.parametrize("tool", ["watch_ask", "wait_for_form_responses"])
KEY = "a" * 32


def answers(app: Flask, form: Any) -> None:
    with app.app_context():
        make_answer(form, KEY)
        wakeups.wakeups().notify(form.id)


@BOTH
def test_what_is_there_is_returned_at_once_and_nothing_after_since_times_out(
    app: Flask, host: Host, form: Any, tool: str
) -> None:
    without = quoted(host, tool, formId=form.id, timeoutSeconds=0)
    with app.app_context():
        make_response(form)
    at = at_once(partial(quoted, host, tool, formId=form.id, since=None, timeoutSeconds=None))
    (seen,) = at["responses"]
    newest = {"watch_ask": seen["answers"][-1]["respondedAt"]}.get(tool, seen["submittedAt"])

    assert (at["returnedResponseCount"], at["timedOut"]) == (1, False)
    assert (without["timedOut"], without["responses"], without["nextSince"]) == (True, [], None)
    for since in (newest, "2999-01-01T00:00:00.000Z"):
        found = quoted(host, tool, formId=form.id, since=since, timeoutSeconds=0)
        assert (found["timedOut"], found["responses"], found["nextSince"]) == (True, [], since)


@BOTH
def test_a_wait_lasts_20_seconds_unless_asked_otherwise_and_25_at_most(
    host: Host, form: Any, tool: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    asked: list[int] = []

    def wait_for(_key: str, read: Any, _is_over: Any, seconds: int, **_: Any) -> Waited[Any]:
        asked.append(seconds)
        return Waited(read(), is_new=False)

    monkeypatch.setattr(tools, "wait_for", wait_for)

    for given in ({}, {"timeoutSeconds": 25.0}):
        assert quoted(host, tool, formId=form.id, **given)["timedOut"]
    assert asked == [20, 25]
    for seconds in (26, -1, 1.5, "5", True, [5], 10**30):
        said = refused(host, tool, formId=form.id, timeoutSeconds=seconds)
        assert said["code"] == "validation_failed"
        assert said["message"].startswith("timeoutSeconds: ")


NAMED: list[tuple[dict[str, Any], str]] = [
    ({}, "validation_failed"),
    ({"formId": "frm_1", "askId": "frm_2"}, "validation_failed"),
    ({"askId": "frm_1", "wait": 5}, "unknown_field"),
    ({"askId": "frm_1", "since": "soon"}, "invalid_since"),
]


def test_a_watch_names_exactly_one_form_or_ask(host: Host) -> None:
    for given, code in NAMED:
        assert refused(host, "watch_ask", **given)["code"] == code


def ended_by(host: Host, tool: str, form: Any, happens: Callable[[], object]) -> TestResponse:
    call = {"name": tool, "arguments": {"formId": form.id, "timeoutSeconds": 25}}
    return while_waiting(host.app, partial(host.send, "tools/call", call), happens)


@pytest.mark.usefixtures("frequent_looks")
@BOTH
def test_a_token_that_ends_ends_the_wait(host: Host, form: Any, tool: str) -> None:
    def ends() -> None:
        changed = db.update(OAuthToken).values(revoked_at=utc_now())
        with host.app.app_context(), write_transaction() as connection:
            connection.execute(changed)

    answer = ended_by(host, tool, form, ends)

    assert answer.status_code == 401
    assert 'error="invalid_token"' in answer.headers["WWW-Authenticate"]
    assert "/.well-known/oauth-protected-resource/mcp/app" in answer.headers["WWW-Authenticate"]
