"""Codes for tokens: one use, one client, one verifier, form-encoded."""

import logging
from base64 import b64encode
from datetime import timedelta
from typing import Any

import pytest
from flask import Flask
from sqlalchemy import func, select, update
from sqlalchemy.exc import OperationalError

from tests.databases import both_databases
from tests.oauth.flow import ALL_SCOPES, API, REDIRECT, Flow, at_once, change, csrf_token, refused
from tests.races.threads import each_statement
from webapp.base.database import db, utc_now
from webapp.base.vocabulary import Scope
from webapp.oauth.models import OAuthCode, OAuthGrant, OAuthToken
from webapp.oauth.tokens import issue_token
from webapp.records.accounts import invites
from webapp.records.accounts.models import Account, disable_account
from webapp.records.audit import AuditEvent, AuditKind
from webapp.web.limiter import limiter

UNKNOWN_CODE = "askac_" + "x" * 43


def test_a_code_is_exchanged_for_tokens_with_their_lifetimes(app: Flask, flow: Flow) -> None:
    code = flow.code()
    response = flow.redeem(code)

    body = response.json
    secrets = [code, body.pop("access_token"), body.pop("refresh_token")]
    assert [each[:6] for each in secrets] == ["askac_", "askat_", "askrt_"]
    assert body == {"token_type": "Bearer", "expires_in": 3600, "scope": ALL_SCOPES}
    assert response.headers["Cache-Control"] == "no-store"
    with app.app_context():
        code, grant = (db.session.scalars(select(each)).one() for each in (OAuthCode, OAuthGrant))
        tokens = db.session.scalars(select(OAuthToken).order_by(OAuthToken.kind)).all()
        lived = [each.expires_at - grant.created_at for each in (code, grant)]
        lived += [token.expires_at - token.issued_at for token in tokens]
    expected = {"seconds": 60}, {"days": 180}, {"hours": 1}, {"days": 30}
    assert lived == [timedelta(**each) for each in expected]


def test_no_secret_is_stored_or_logged(
    app: Flask, confidential: Flow, caplog: pytest.LogCaptureFixture
) -> None:
    caplog.set_level(logging.DEBUG)
    code = confidential.code()
    body = confidential.redeem(code).json
    confidential.refresh(body["refresh_token"])

    with app.app_context(), db.engine.connect() as connection:
        tables = db.metadata.sorted_tables
        stored = repr([connection.execute(select(table)).all() for table in tables])
    assert confidential.client["client_id"] in stored
    for secret in (code, body["access_token"], body["refresh_token"]):
        assert secret not in stored + caplog.text
    assert confidential.client["client_secret"] not in stored
    assert confidential.verifier not in stored


@pytest.mark.parametrize("verifier", [None, "x" * 43])
def test_reuse_of_a_code_fails_and_revokes_its_tokens(verifier: str | None, flow: Flow) -> None:
    code = flow.code()
    tokens = flow.redeem(code).json
    assert tokens is not None

    refused(flow.redeem(code, **{"code_verifier": verifier} if verifier else {}), "invalid_grant")

    assert not flow.opens(tokens)
    refused(flow.refresh(tokens["refresh_token"]), "invalid_grant")


@pytest.mark.parametrize(
    ("wrong", "error"),
    [
        ({"code_verifier": "x" * 43}, "invalid_grant"),
        ({"resource": "https://other.example"}, "invalid_target"),
    ],
)
def test_a_wrong_attempt_spends_a_code(wrong: dict[str, str], error: str, flow: Flow) -> None:
    code = flow.code()
    refused(flow.redeem(code, **wrong), error)

    refused(flow.redeem(code), "invalid_grant")


def test_another_client_can_neither_use_nor_spend_nor_revoke_what_is_ours(flow: Flow) -> None:
    code, body, other = flow.code(), flow.connect(), flow.other(client_name="Another")

    refused(other.redeem(code), "invalid_grant")
    refused(other.refresh(body["refresh_token"]), "invalid_grant")
    for kind in ("access_token", "refresh_token"):
        refused(other.revoke(token=body[kind]), "invalid_grant")

    assert flow.opens(body)
    assert flow.redeem(code).status_code == 200
    assert flow.refresh(body["refresh_token"]).status_code == 200


@pytest.mark.parametrize(
    ("changed", "error", "status"),
    [
        ({"redirect_uri": REDIRECT + "/"}, "invalid_grant", 400),
        ({"code_verifier": "x" * 43}, "invalid_grant", 400),
        ({"code_verifier": None}, "invalid_request", 400),
        ({"code_verifier": ["x" * 43, "y" * 43]}, "invalid_request", 400),
        ({"resource": "https://other.example"}, "invalid_target", 400),
        ({"resource": [API, "https://other.example"]}, "invalid_target", 400),
        ({"code": UNKNOWN_CODE}, "invalid_grant", 400),
        ({"code": "a\x00b"}, "invalid_request", 400),
        ({"grant_type": None}, "unsupported_grant_type", 400),
        ({"grant_type": "client_credentials"}, "unsupported_grant_type", 400),
        ({"client_id": "client_unknown"}, "invalid_client", 401),
        ({"client_id": None}, "invalid_client", 401),
        ({"client_secret": "askcs_guess"}, "invalid_client", 401),
    ],
)
def test_a_wrong_parameter_is_refused(
    changed: dict[str, object], error: str, status: int, flow: Flow
) -> None:
    refused(flow.redeem(flow.code(), **changed), error, status)


@pytest.mark.parametrize(
    ("sent", "status", "said"),
    [
        ({"query": ["code", "grant_type", "client_id"]}, 400, "not in the address"),
        ({"query": ["anything"]}, 400, "not in the address"),
        ({"json": {"grant_type": "authorization_code"}}, 400, "form-encoded"),
        ({"data": {"code": "x" * 20_000}}, 413, "16 KiB"),
    ],
)
def test_what_is_not_a_small_form_is_refused_with_a_hint(
    sent: dict[str, Any], status: int, said: str, flow: Flow
) -> None:
    form = flow.redemption(flow.code())
    if names := sent.get("query"):
        moved = {name: form.get(name, "1") for name in names}
        sent = {"query_string": moved, "data": form if len(names) == 1 else {}}

    assert said in refused(flow.machine.post("/oauth/token", **sent), "invalid_request", status)


@pytest.mark.parametrize("secret", ["askcs_wrong", "", None])
def test_a_client_with_a_secret_must_authenticate(secret: str | None, confidential: Flow) -> None:
    body = confidential.connect()

    for response in (
        confidential.redeem(confidential.code(), client_secret=secret),
        confidential.refresh(body["refresh_token"], client_secret=secret),
        confidential.revoke(token=body["access_token"], client_secret=secret),
    ):
        said = refused(response, "invalid_client", 401)
        assert response.headers["WWW-Authenticate"].startswith("Basic ")
        assert said in response.headers["WWW-Authenticate"]
    assert confidential.opens(body)


@pytest.mark.parametrize(
    "credentials",
    [b"id:wrong", b"client_unknown:secret", b"\xff\xfe:x", b"nocolon", b"", b"a\x00:b"],
)
def test_bad_basic_authorization_is_a_401(credentials: bytes, flow: Flow) -> None:
    headers = {"Authorization": f"Basic {b64encode(credentials).decode()}"}
    form = {"grant_type": "authorization_code", "code": "x"}

    refused(flow.machine.post("/oauth/token", data=form, headers=headers), "invalid_client", 401)


def test_failures_are_limited(flow: Flow) -> None:
    limiter.reset()
    failed = [flow.redeem("askac_wrong").status_code for _ in range(10)]

    response = flow.redeem("askac_wrong")

    assert set(failed) == {400}
    assert "10 per minute" in refused(response, "temporarily_unavailable", 429)
    assert 1 <= int(response.headers["Retry-After"]) <= 60


@both_databases
@pytest.mark.parametrize(
    ("beginning", "verifier"),
    [("INSERT INTO oauth_tokens", None), ("UPDATE oauth_codes", "x" * 43)],
)
def test_a_code_stays_valid_after_a_database_failure(
    beginning: str, verifier: str | None, app: Flask, flow: Flow
) -> None:
    def fail(_connection: object, _cursor: object, statement: str, *_more: object) -> None:
        if statement.startswith(beginning):
            raise OperationalError(statement, None, Exception("the disk is full"))

    code = flow.code()
    with each_statement(app, "before_cursor_execute", fail):
        failed = flow.redeem(code, code_verifier=verifier or flow.verifier)

    refused(failed, "server_error", 500)
    assert flow.opens(flow.redeem(code).json)


def test_a_disabled_account_gets_no_tokens(app: Flask, flow: Flow, creator: Account) -> None:
    tokens, code, page = flow.redeem(flow.code()).json, flow.code(), flow.ask()
    now = utc_now()
    with app.app_context():
        link = invites.make_invite(email=creator.email, now=now)
        issued = issue_token(creator.id, [Scope.FORMS_READ], API, now=now)
        disable_account(creator.id, now=now)
        later = issue_token(creator.id, [Scope.FORMS_READ], API, now=now)
    consent = {"allow": "yes", "may": "forms:read", "csrf_token": csrf_token(page)}
    entered = [flow.browser.get("/drafts"), flow.browser.post(flow.address(), data=consent)]

    for token in (tokens["access_token"], issued, later):
        assert not flow.opens({"access_token": token})
    assert [answer.location.partition("?")[0] for answer in entered] == ["/login", "/login"]
    refused(flow.redeem(code), "invalid_grant")
    refused(flow.refresh(tokens["refresh_token"]), "invalid_grant")
    assert app.test_client().get(f"/join/{link}").status_code == 410


@both_databases
def test_eight_uses_of_a_code_succeed_at_most_once(app: Flask, flow: Flow) -> None:
    responses = at_once(app, [flow.redemption(flow.code())] * 8)

    succeeded = [response for response in responses if response.status_code == 200]
    assert len(succeeded) <= 1
    assert {response.status_code for response in responses} <= {200, 400}
    # seven of them were a replay, so whatever was issued is dead
    assert not any(flow.opens(response.json) for response in succeeded)


@both_databases
def test_guesses_at_once_are_no_more_than_one(app: Flask, flow: Flow) -> None:
    form = flow.redemption(flow.code())
    guesses = [form | {"code_verifier": str(digit) * 43} for digit in range(7)]

    responses = at_once(app, [*guesses, form])

    assert {response.status_code for response in responses} <= {200, 400}
    with app.app_context():
        assert db.session.scalars(select(OAuthGrant.revoked_reason)).one() == "code_reuse"
        reuse = select(func.count()).where(AuditEvent.kind == AuditKind.CODE_REUSED)
        assert db.session.scalar(reuse) == 1


def test_a_code_expires(app: Flask, flow: Flow) -> None:
    code = flow.code()
    change(app, update(OAuthCode).values(expires_at=utc_now()))

    refused(flow.redeem(code), "invalid_grant")
