"""Every error of the endpoints for programs has a code and a description (RFC 6749 section 5.2)."""

import re
from base64 import b64encode
from collections.abc import Callable

import pytest
from sqlalchemy import update
from werkzeug.test import TestResponse

from tests.oauth.flow import Flow, register
from webapp.base.database import db, utc_now
from webapp.oauth.models import OAuthGrant
from webapp.web.limiter import limiter

DESCRIPTION = re.compile(r"[ !#-\[\]-~]+")
Case = Callable[[Flow], TestResponse]


def posted(endpoint: str, **form: object) -> Case:
    return lambda flow: flow.machine.post(f"/oauth/{endpoint}", data=flow.authenticated(**form))


def redeemed(**changed: object) -> Case:
    return lambda flow: flow.redeem(flow.code(), **changed)


def refreshed(**changed: object) -> Case:
    return lambda flow: flow.refresh(flow.connect()["refresh_token"], **changed)


def registered(**metadata: object) -> Case:
    values = {"client_name": "Example", "redirect_uris": ["https://app.example/cb"]} | metadata
    return lambda flow: flow.machine.post("/oauth/register", json=values)


def basic(credentials: bytes) -> Case:
    header = "Basic " + b64encode(credentials).decode()
    return lambda flow: flow.machine.post(
        "/oauth/token", data={"grant_type": "refresh_token"}, headers={"Authorization": header}
    )


def used_twice(flow: Flow) -> TestResponse:
    code = flow.code()
    flow.redeem(code)
    return flow.redeem(code)


def reused(flow: Flow) -> TestResponse:
    first = flow.connect()
    flow.refresh(flow.refresh(first["refresh_token"]).json["refresh_token"])
    return flow.refresh(first["refresh_token"])


def ended(flow: Flow) -> TestResponse:
    body = flow.connect()
    with flow.browser.application.app_context():
        db.session.execute(update(OAuthGrant).values(revoked_at=utc_now()))
        db.session.commit()
    return flow.refresh(body["refresh_token"])


def without_the_grant_type(flow: Flow) -> TestResponse:
    flow.client = register(
        flow.browser, grant_types=["authorization_code"], token_endpoint_auth_method="none"
    )
    return flow.refresh("askrt_" + "x" * 43)


def revoked_by_another(flow: Flow) -> TestResponse:
    token = flow.connect()["access_token"]
    flow.client = register(flow.browser, client_name="Another", token_endpoint_auth_method="none")
    return flow.machine.post("/oauth/revoke", data=flow.authenticated(token=token))


def too_often(flow: Flow) -> TestResponse:
    limiter.reset()
    return [flow.redeem("askac_wrong") for _ in range(11)][-1]


CASES: list[Case] = [
    *(redeemed(**{name: None}) for name in ("code", "redirect_uri", "code_verifier", "client_id")),
    redeemed(code_verifier="short"),
    redeemed(code_verifier="x" * 43),
    redeemed(code_verifier=["x" * 43, "y" * 43]),
    redeemed(redirect_uri="https://app.example/other"),
    redeemed(resource="https://other.example"),
    redeemed(client_id="client_unknown"),
    redeemed(client_secret="askcs_guess"),
    redeemed(grant_type=None),
    redeemed(grant_type="password"),
    redeemed(code="café"),
    posted("token", grant_type="authorization_code", code="askac_unknown"),
    posted("token", grant_type="refresh_token"),
    posted("token", grant_type="refresh_token", refresh_token="askrt_" + "x" * 43),
    lambda flow: flow.refresh(
        flow.connect(scope="forms:read offline_access")["refresh_token"], scope="forms:write"
    ),
    refreshed(resource="https://other.example"),
    used_twice,
    reused,
    ended,
    without_the_grant_type,
    too_often,
    basic(b"client_unknown:secret"),
    basic(b"\xff\xfe:x"),
    basic(b"nocolon"),
    lambda flow: flow.machine.post("/oauth/token", json={"grant_type": "refresh_token"}),
    lambda flow: flow.machine.post("/oauth/token?client_id=x", data={}),
    lambda flow: flow.machine.post("/oauth/token", data={"code": "x" * 20_000}),
    lambda flow: flow.machine.get("/oauth/token"),
    posted("revoke"),
    posted("revoke", token="askrt_x", client_id="client_unknown"),
    posted("revoke", token="askrt_x", client_id=None),
    revoked_by_another,
    lambda flow: flow.machine.get("/oauth/revoke"),
    registered(redirect_uris=None),
    registered(redirect_uris=[]),
    registered(redirect_uris=["javascript:alert(1)"]),
    registered(redirect_uris=["http://app.example/"]),
    registered(redirect_uris=["c:/x"]),
    registered(grant_types=["password"]),
    lambda flow: flow.machine.post("/oauth/register", data="no JSON"),
    lambda flow: flow.machine.post("/oauth/register", json=[]),
    lambda flow: flow.machine.post("/oauth/register", data=b"x" * 20_000),
    lambda flow: flow.machine.get("/oauth/register"),
]


@pytest.mark.parametrize("case", CASES)
def test_an_error_is_described(case: Case, flow: Flow) -> None:
    response = case(flow)

    assert response.status_code >= 400
    assert response.json is not None
    assert response.json.keys() == {"error", "error_description"}
    assert DESCRIPTION.fullmatch(response.json["error_description"])


def test_a_401_says_the_same_in_its_header(flow: Flow) -> None:
    response = basic(b"client_unknown:secret")(flow)

    assert response.json is not None
    assert response.json["error_description"] in response.headers["WWW-Authenticate"]
