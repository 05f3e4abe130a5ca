"""The same code or refresh token brought by several requests at once, on both databases."""

from concurrent.futures import ThreadPoolExecutor

import pytest
from flask import Flask
from sqlalchemy import func, select
from werkzeug.test import TestResponse

from tests.databases import both_databases
from tests.oauth.flow import Flow
from webapp.base.database import db
from webapp.oauth.models import OAuthGrant
from webapp.records.audit import AuditEvent, AuditKind

pytestmark = both_databases


def at_once(app: Flask, forms: list[dict[str, str]]) -> list[TestResponse]:
    def post(form: dict[str, str]) -> TestResponse:
        return app.test_client().post("/oauth/token", data=form)

    with ThreadPoolExecutor(len(forms)) as pool:
        return list(pool.map(post, forms))


def test_eight_uses_of_a_code_succeed_at_most_once(app: Flask, flow: Flow) -> None:
    form = flow.authenticated(
        grant_type="authorization_code",
        code=flow.code(),
        redirect_uri="https://app.example/callback",
        code_verifier=flow.verifier,
    )

    responses = at_once(app, [form] * 8)

    succeeded = [response for response in responses if response.status_code == 200]
    assert len(succeeded) <= 1
    assert {response.status_code for response in responses} <= {200, 400}
    # seven of them were a replay, so whatever was issued is dead
    assert not any(flow.opens(response.json) for response in succeeded)


def test_guesses_at_once_are_no_more_than_one(app: Flask, flow: Flow) -> None:
    form = flow.authenticated(
        grant_type="authorization_code",
        code=flow.code(),
        redirect_uri="https://app.example/callback",
    )
    guesses = [form | {"code_verifier": str(digit) * 43} for digit in range(7)]

    responses = at_once(app, [*guesses, form | {"code_verifier": flow.verifier}])

    descriptions = [
        response.json["error_description"] for response in responses[:-1] if response.json
    ]
    assert sum("does not fit" in description for description in descriptions) <= 1
    assert {response.status_code for response in responses} <= {200, 400}
    with app.app_context():
        assert db.session.scalars(select(OAuthGrant.revoked_reason)).one() == "code_reuse"
        reuse = select(func.count()).where(AuditEvent.kind == AuditKind.CODE_REUSED)
        assert db.session.scalar(reuse) == 1


def test_parallel_refreshes_all_succeed_inside_the_window(app: Flask, flow: Flow) -> None:
    body = flow.connect()
    form = flow.authenticated(grant_type="refresh_token", refresh_token=body["refresh_token"])

    responses = at_once(app, [form] * 6)

    assert [response.status_code for response in responses] == [200] * 6
    assert all(flow.opens(response.json) for response in responses)


def test_a_late_request_races_the_use_of_the_successor(app: Flask, flow: Flow) -> None:
    """Either it came first and both work, or it is reuse and nothing works."""
    for _ in range(4):
        first = flow.connect()
        second = flow.refresh(first["refresh_token"]).json
        assert second is not None
        forms = [
            flow.authenticated(grant_type="refresh_token", refresh_token=token)
            for token in (first["refresh_token"], second["refresh_token"])
        ]

        late, used = at_once(app, forms)

        assert used.status_code in {200, 400}
        if late.status_code == 200:
            assert used.status_code == 200
            assert flow.opens(late.json)
        else:
            assert not (used.status_code == 200 and flow.opens(used.json))


@pytest.mark.constants("webapp.oauth.server", REFRESH_GRACE_SECONDS=0)
def test_without_a_window_parallel_refreshes_end_the_connection(app: Flask, flow: Flow) -> None:
    body = flow.connect()
    form = flow.authenticated(grant_type="refresh_token", refresh_token=body["refresh_token"])

    responses = at_once(app, [form] * 6)

    succeeded = [response for response in responses if response.status_code == 200]
    assert len(succeeded) <= 1
    assert not any(flow.opens(response.json) for response in succeeded)
