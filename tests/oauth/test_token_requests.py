"""Codes for tokens: one use, one client, one verifier, form-encoded."""

from base64 import b64encode
from datetime import timedelta

import pytest
from flask import Flask
from sqlalchemy import select, update
from sqlalchemy.exc import OperationalError

from tests.databases import both_databases
from tests.oauth.flow import API, REDIRECT, Flow, bearer, csrf_token, register
from tests.races.threads import each_statement
from webapp.base.database import db, utc_now
from webapp.base.vocabulary import Scope, TokenKind
from webapp.oauth.connections import list_connections
from webapp.oauth.models import OAuthClient, OAuthCode, OAuthGrant, OAuthToken
from webapp.oauth.tokens import issue_token
from webapp.records.accounts import invites
from webapp.records.accounts.models import Account, disable_account
from webapp.web.limiter import limiter


def assert_refused(response: object, error: str, status: int = 400) -> None:
    assert (response.status_code, response.json["error"]) == (status, error), response.text  # type: ignore[attr-defined]


def test_a_code_is_exchanged_for_tokens(flow: Flow) -> None:
    response = flow.redeem(flow.code())

    assert response.json is not None
    assert response.json.keys() == {
        "token_type",
        "access_token",
        "refresh_token",
        "expires_in",
        "scope",
    }
    assert response.json["expires_in"] == 3600
    assert response.json["scope"] == "forms:read responses:read forms:write offline_access"
    assert response.headers["Cache-Control"] == "no-store"


def test_tokens_have_prefixes_that_scanners_can_find(flow: Flow) -> None:
    code = flow.code()
    body = flow.redeem(code).json

    assert body is not None
    assert code.startswith("askac_")
    assert body["access_token"].startswith("askat_")
    assert body["refresh_token"].startswith("askrt_")


def test_a_client_with_a_secret_may_use_basic_authorization(confidential: Flow) -> None:
    pair = f"{confidential.client['client_id']}:{confidential.client['client_secret']}"
    form = {
        "grant_type": "authorization_code",
        "code": confidential.code(),
        "redirect_uri": REDIRECT,
        "code_verifier": confidential.verifier,
    }

    response = confidential.machine.post(
        "/oauth/token",
        data=form,
        headers={"Authorization": f"Basic {b64encode(pair.encode()).decode()}"},
    )

    assert response.status_code == 200


def test_reuse_of_a_code_fails_and_revokes_its_tokens(flow: Flow) -> None:
    code = flow.code()
    tokens = flow.redeem(code).json
    assert tokens is not None

    assert_refused(flow.redeem(code), "invalid_grant")

    used = flow.machine.get("/api/forms", headers=bearer(tokens["access_token"]))
    assert used.status_code == 401
    assert_refused(flow.refresh(tokens["refresh_token"]), "invalid_grant")


def test_a_code_can_be_tried_once(flow: Flow) -> None:
    code = flow.code()
    flow.redeem(code, code_verifier="x" * 43)

    assert_refused(flow.redeem(code), "invalid_grant")


def test_another_client_cannot_use_or_spend_a_code(flow: Flow) -> None:
    code = flow.code()
    other = Flow(
        flow.browser,
        flow.machine,
        register(flow.browser, client_name="Another", token_endpoint_auth_method="none"),
        flow.verifier,
    )

    assert_refused(other.redeem(code), "invalid_grant")

    assert flow.redeem(code).status_code == 200


def test_a_code_expires_after_a_minute(app: Flask, flow: Flow) -> None:
    code = flow.code()
    with app.app_context():
        db.session.execute(update(OAuthCode).values(expires_at=utc_now()))
        db.session.commit()

    assert_refused(flow.redeem(code), "invalid_grant")


def test_codes_tokens_and_grants_have_their_lifetimes(app: Flask, flow: Flow) -> None:
    flow.connect()

    with app.app_context():
        code = db.session.scalars(select(OAuthCode)).one()
        grant = db.session.scalars(select(OAuthGrant)).one()
        tokens = {token.kind: token for token in db.session.scalars(select(OAuthToken))}
        days = grant.expires_at - grant.created_at
        seconds = {kind: token.expires_at - token.issued_at for kind, token in tokens.items()}
        code_seconds = code.expires_at - grant.created_at
    assert (code_seconds, days) == (timedelta(seconds=60), timedelta(days=180))
    assert seconds == {
        TokenKind.ACCESS: timedelta(hours=1),
        TokenKind.REFRESH: timedelta(days=30),
    }


@pytest.mark.parametrize(
    ("changed", "error"),
    [
        ({"redirect_uri": REDIRECT + "/"}, "invalid_grant"),
        ({"redirect_uri": None}, "invalid_grant"),
        ({"code_verifier": "x" * 43}, "invalid_grant"),
        ({"code_verifier": "short"}, "invalid_request"),
        ({"code_verifier": None}, "invalid_request"),
        ({"resource": "https://other.example"}, "invalid_target"),
        ({"resource": [API, "https://other.example"]}, "invalid_target"),
        ({"code": "askac_unknown"}, "invalid_grant"),
        ({"code": "askac_" + "x" * 43}, "invalid_grant"),
        ({"code": "x" * 5000}, "invalid_grant"),
        ({"code": None}, "invalid_request"),
        ({"code": "caf\u00e9"}, "invalid_request"),
        ({"code": "a\x00b"}, "invalid_request"),
        ({"code_verifier": ["x" * 43, "y" * 43]}, "invalid_request"),
        ({"grant_type": None}, "unsupported_grant_type"),
        ({"grant_type": "password"}, "unsupported_grant_type"),
        ({"grant_type": "client_credentials"}, "unsupported_grant_type"),
        ({"client_id": "client_unknown"}, "invalid_client"),
        ({"client_id": "a\x00b"}, "invalid_request"),
        ({"client_id": None}, "invalid_client"),
    ],
)
def test_a_wrong_parameter_is_refused(changed: dict[str, object], error: str, flow: Flow) -> None:
    response = flow.redeem(flow.code(), **changed)

    assert response.status_code in {400, 401}
    assert response.json is not None
    assert response.json["error"] == error, response.text
    assert response.json["error_description"]


def test_all_parameters_in_the_query_string_are_refused(flow: Flow) -> None:
    form = flow.authenticated(
        grant_type="authorization_code",
        code=flow.code(),
        redirect_uri=REDIRECT,
        code_verifier=flow.verifier,
    )

    response = flow.machine.post("/oauth/token", query_string=form)

    assert_refused(response, "invalid_request")


@pytest.mark.parametrize("name", ["client_id", "code_verifier", "anything"])
def test_a_single_parameter_in_the_query_string_is_refused(name: str, flow: Flow) -> None:
    form = flow.authenticated(
        grant_type="authorization_code",
        code=flow.code(),
        redirect_uri=REDIRECT,
        code_verifier=flow.verifier,
    )

    response = flow.machine.post("/oauth/token", data=form, query_string={name: form.get(name, 1)})

    assert_refused(response, "invalid_request")
    assert "not in the address" in response.json["error_description"]


def test_json_is_refused_with_a_hint(flow: Flow) -> None:
    response = flow.machine.post("/oauth/token", json={"grant_type": "authorization_code"})

    assert_refused(response, "invalid_request")
    assert "form-encoded" in response.json["error_description"]


def test_a_huge_body_is_refused(flow: Flow) -> None:
    response = flow.machine.post("/oauth/token", data={"code": "x" * 20_000})

    assert response.status_code == 413
    assert response.json["error"] == "invalid_request"


@pytest.mark.parametrize("secret", ["askcs_wrong", "", None])
def test_a_confidential_client_must_authenticate(secret: str | None, confidential: Flow) -> None:
    response = confidential.redeem(confidential.code(), client_secret=secret)

    assert_refused(response, "invalid_client", 401)
    assert response.headers["WWW-Authenticate"].startswith("Basic ")


@pytest.mark.parametrize(
    "credentials",
    [b"id:wrong", b"\xff\xfe:x", b"nocolon", b"", b"a\x00:b"],
)
def test_bad_basic_authorization_is_a_401(credentials: bytes, confidential: Flow) -> None:
    header = "Basic " + b64encode(credentials).decode()
    response = confidential.machine.post(
        "/oauth/token",
        data={"grant_type": "authorization_code", "code": "x"},
        headers={"Authorization": header},
    )

    assert_refused(response, "invalid_client", 401)


@pytest.mark.parametrize("endpoint", ["token", "revoke"])
def test_a_request_without_client_id_is_refused(endpoint: str, flow: Flow) -> None:
    form = {"grant_type": "authorization_code", "code": "x", "token": "x"}

    response = flow.machine.post(f"/oauth/{endpoint}", data=form)

    assert_refused(response, "invalid_client", 401)
    assert "client_id" in response.json["error_description"]


def test_a_public_client_has_no_secret_to_show(flow: Flow) -> None:
    assert_refused(flow.redeem(flow.code(), client_secret="askcs_guess"), "invalid_client", 401)


def test_a_disabled_client_gets_no_tokens(app: Flask, flow: Flow) -> None:
    code = flow.code()
    with app.app_context():
        db.session.execute(update(OAuthClient).values(disabled_at=utc_now()))
        db.session.commit()

    response = flow.redeem(code)

    assert response.json["error"] == "invalid_client"


def test_without_offline_access_there_is_no_refresh_token(flow: Flow) -> None:
    assert "refresh_token" not in flow.connect(scope="forms:read")


@pytest.mark.parametrize(("scope", "live"), [("forms:read", 0), ("forms:read offline_access", 1)])
def test_without_offline_access_the_connection_ends_with_its_token(
    scope: str, live: int, app: Flask, flow: Flow, creator: Account
) -> None:
    body = flow.connect(scope=scope)

    with app.app_context():
        now = list_connections(creator.id, now=utc_now()).live
        later = list_connections(creator.id, now=utc_now() + timedelta(seconds=3661)).live
    assert body["expires_in"] == 3600
    assert (len(now), len(later)) == (1, live)


def test_a_client_without_the_grant_type_gets_no_refresh_token(flow: Flow) -> None:
    flow.client = register(
        flow.browser, grant_types=["authorization_code"], token_endpoint_auth_method="none"
    )

    assert "refresh_token" not in flow.connect()


def test_failures_are_limited(flow: Flow) -> None:
    limiter.reset()
    failed = [flow.redeem("askac_wrong").status_code for _ in range(10)]

    response = flow.redeem("askac_wrong")

    assert set(failed) == {400}
    assert response.status_code == 429
    assert response.json["error"] == "temporarily_unavailable"
    assert "the limit of failed requests is 10 per minute" in response.json["error_description"]
    assert 1 <= int(response.headers["Retry-After"]) <= 60


@pytest.mark.parametrize("endpoint", ["token", "revoke", "register"])
@pytest.mark.parametrize("method", ["GET", "PUT", "DELETE", "BREW"])
def test_a_wrong_method_is_refused_as_json(method: str, endpoint: str, flow: Flow) -> None:
    response = flow.machine.open(f"/oauth/{endpoint}", method=method)

    assert_refused(response, "invalid_request", 405)
    assert set(response.headers["Allow"].split(", ")) == {"OPTIONS", "POST"}
    assert response.headers["Access-Control-Allow-Origin"] == "*"
    assert response.headers["Cache-Control"] == "no-store"


@both_databases
def test_a_code_stays_valid_after_a_database_failure(app: Flask, flow: Flow) -> None:
    code = flow.code()

    def fail(_connection: object, _cursor: object, statement: str, *_more: object) -> None:
        if statement.startswith("INSERT INTO oauth_tokens"):
            raise OperationalError(statement, None, Exception("the disk is full"))

    with each_statement(app, "before_cursor_execute", fail):
        failed = flow.redeem(code)
    again = flow.redeem(code)

    assert (failed.status_code, failed.json["error"]) == (500, "server_error")
    assert "nothing was changed" not in failed.json["error_description"]
    assert again.status_code == 200
    headers = bearer(again.json["access_token"])
    assert flow.machine.get("/api/forms", headers=headers).status_code == 200


@both_databases
def test_a_wrong_attempt_spends_a_code(app: Flask, flow: Flow) -> None:
    code = flow.code()

    assert_refused(flow.redeem(code, resource="https://other.example"), "invalid_target")

    with app.app_context():
        assert db.session.scalars(select(OAuthCode.used_at)).one() is not None
    assert_refused(flow.redeem(code), "invalid_grant")


@both_databases
def test_why_a_code_is_refused_is_told_once_it_is_spent(app: Flask, flow: Flow) -> None:
    code = flow.code()

    def fail(_connection: object, _cursor: object, statement: str, *_more: object) -> None:
        if statement.startswith("UPDATE oauth_codes"):
            raise OperationalError(statement, None, Exception("the disk is full"))

    with each_statement(app, "before_cursor_execute", fail):
        failed = flow.redeem(code, code_verifier="x" * 43)

    assert (failed.status_code, failed.json["error"]) == (500, "server_error")
    assert flow.redeem(code).status_code == 200


@both_databases
def test_reuse_of_a_code_ends_the_connection_with_a_wrong_verifier_too(flow: Flow) -> None:
    code = flow.code()
    tokens = flow.redeem(code).json

    reused = flow.redeem(code, code_verifier="x" * 43)

    assert_refused(reused, "invalid_grant")
    used = flow.machine.get("/api/forms", headers=bearer(tokens["access_token"]))
    assert used.status_code == 401


def test_a_disabled_account_gets_no_tokens(app: Flask, flow: Flow, creator: Account) -> None:
    tokens, code, page = flow.redeem(flow.code()).json, flow.code(), flow.ask()
    now = utc_now()
    with app.app_context():
        link = invites.make_invite(email=creator.email, now=now)
        issued = issue_token(creator.id, [Scope.FORMS_READ], API, now=now)
        disable_account(creator.id, now=now)
        later = issue_token(creator.id, [Scope.FORMS_READ], API, now=now)
    consent = {"allow": "yes", "may": "forms:read", "csrf_token": csrf_token(page)}

    bearers = [tokens["access_token"], issued, later]
    as_agent = [flow.machine.get("/api/forms", headers=bearer(token)) for token in bearers]
    entered = [flow.browser.get("/drafts"), flow.browser.post(flow.address(), data=consent)]

    assert [answer.status_code for answer in as_agent] == [401, 401, 401]
    assert [answer.location.partition("?")[0] for answer in entered] == ["/login", "/login"]
    assert flow.redeem(code).json["error"] == "invalid_grant"
    assert flow.refresh(tokens["refresh_token"]).json["error"] == "invalid_grant"
    assert app.test_client().get(f"/join/{link}").status_code == 410
