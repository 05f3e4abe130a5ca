"""Refresh tokens: rotation, a window for parallel use, and the end of a copied one."""

from datetime import timedelta

import pytest
from flask import Flask
from sqlalchemy import select, update

from tests.oauth.flow import Flow, bearer, register
from webapp.base.database import db, utc_now
from webapp.base.vocabulary import RevokedReason
from webapp.oauth.models import OAuthGrant, OAuthToken


def age(app: Flask, **columns: timedelta) -> None:
    """Move these moments of every token into the past."""
    with app.app_context():
        for token in db.session.scalars(select(OAuthToken)):
            for name, duration in columns.items():
                moment = getattr(token, name)
                setattr(token, name, moment and moment - duration)
        db.session.commit()


def works(flow: Flow, body: dict[str, str]) -> bool:
    response = flow.machine.get("/api/forms", headers=bearer(body["access_token"]))
    return response.status_code == 200


def test_refreshing_gives_a_new_pair(flow: Flow) -> None:
    first = flow.connect()

    second = flow.refresh(first["refresh_token"]).json

    assert second is not None
    assert second["refresh_token"] != first["refresh_token"]
    assert works(flow, second)


def test_a_spent_token_still_works_inside_the_window(flow: Flow) -> None:
    first = flow.connect()
    flow.refresh(first["refresh_token"])

    again = flow.refresh(first["refresh_token"])

    assert again.status_code == 200
    assert works(flow, again.json)


def test_a_spent_token_whose_successor_was_used_ends_the_connection(app: Flask, flow: Flow) -> None:
    first = flow.connect()
    second = flow.refresh(first["refresh_token"]).json
    third = flow.refresh(second["refresh_token"]).json

    reused = flow.refresh(first["refresh_token"])

    assert reused.json["error"] == "invalid_grant"
    assert not works(flow, third)
    with app.app_context():
        assert db.session.scalars(select(OAuthGrant.revoked_reason)).one() == "refresh_reuse"


def test_parallel_chains_do_not_revoke_each_other(flow: Flow) -> None:
    first = flow.connect()
    here = flow.refresh(first["refresh_token"]).json
    there = flow.refresh(first["refresh_token"]).json
    flow.refresh(here["refresh_token"])

    assert flow.refresh(there["refresh_token"]).status_code == 200
    assert flow.refresh(there["refresh_token"]).status_code == 200


def test_reuse_after_the_window_ends_the_connection(app: Flask, flow: Flow) -> None:
    first = flow.connect()
    second = flow.refresh(first["refresh_token"]).json
    age(app, rotated_at=timedelta(seconds=121))

    reused = flow.refresh(first["refresh_token"])

    assert reused.json["error"] == "invalid_grant"
    assert not works(flow, second)
    assert flow.refresh(second["refresh_token"]).json["error"] == "invalid_grant"
    with app.app_context():
        assert db.session.scalars(select(OAuthGrant.revoked_reason)).one() == "refresh_reuse"


@pytest.mark.constants("webapp.oauth.grants", REFRESH_GRACE_SECONDS=0)
def test_without_a_grace_window_reuse_ends_the_connection(flow: Flow) -> None:
    first = flow.connect()
    second = flow.refresh(first["refresh_token"]).json

    assert flow.refresh(first["refresh_token"]).json["error"] == "invalid_grant"
    assert not works(flow, second)


def test_another_client_can_neither_use_nor_spend_a_token(flow: Flow) -> None:
    first = flow.connect()
    other = Flow(
        flow.browser,
        flow.machine,
        register(flow.browser, client_name="Another", token_endpoint_auth_method="none"),
    )

    assert other.refresh(first["refresh_token"]).json["error"] == "invalid_grant"

    assert works(flow, first)
    assert flow.refresh(first["refresh_token"]).status_code == 200


def test_the_scope_of_an_access_token_may_shrink(flow: Flow) -> None:
    body = flow.refresh(flow.connect()["refresh_token"], scope="forms:read").json

    assert body["scope"] == "forms:read"


def test_the_refresh_token_keeps_the_whole_scope(flow: Flow) -> None:
    smaller = flow.refresh(flow.connect()["refresh_token"], scope="forms:read").json

    again = flow.refresh(smaller["refresh_token"]).json

    assert again["scope"] == "forms:read responses:read forms:write offline_access"


@pytest.mark.parametrize(
    ("asked", "granted"),
    [
        ("forms:read openid", "forms:read"),
        ("forms:read forms:write", "forms:read"),
        ("openid email", "forms:read offline_access"),
        ("offline_access", "forms:read offline_access"),
        ("", "forms:read offline_access"),
    ],
)
def test_the_scope_narrows_to_what_was_granted(asked: str, granted: str, flow: Flow) -> None:
    body = flow.connect(may=["forms:read", "offline_access"])

    refreshed = flow.refresh(body["refresh_token"], scope=asked).json

    assert refreshed["scope"] == granted
    used = flow.machine.post("/api/drafts", json={}, headers=bearer(refreshed["access_token"]))
    assert used.status_code == 401


@pytest.mark.parametrize("scope", ["forms:write", "forms:write offline_access everything"])
def test_the_scope_never_grows(scope: str, flow: Flow) -> None:
    body = flow.connect(may=["forms:read", "offline_access"])

    refused = flow.refresh(body["refresh_token"], scope=scope).json

    assert refused["error"] == "invalid_scope"
    assert "forms:read offline_access" in refused["error_description"]
    assert flow.refresh(body["refresh_token"]).status_code == 200


def test_there_are_no_new_tokens_for_a_resource_that_is_not_served(app: Flask, flow: Flow) -> None:
    body = flow.connect()
    with app.app_context():
        db.session.execute(update(OAuthGrant).values(resource="https://old.example/api"))
        db.session.commit()

    response = flow.refresh(body["refresh_token"])

    assert response.json["error"] == "invalid_target"
    assert "no longer served here; ask for consent again" in response.json["error_description"]


def test_a_token_unused_for_a_month_has_expired(app: Flask, flow: Flow) -> None:
    body = flow.connect()
    age(app, expires_at=timedelta(days=30))

    assert flow.refresh(body["refresh_token"]).json["error"] == "invalid_grant"


def test_a_connection_ends_after_half_a_year(app: Flask, flow: Flow) -> None:
    body = flow.connect()
    with app.app_context():
        db.session.execute(update(OAuthGrant).values(expires_at=utc_now()))
        db.session.commit()

    assert flow.refresh(body["refresh_token"]).json["error"] == "invalid_grant"
    assert not works(flow, body)


def test_no_token_outlives_its_connection(app: Flask, flow: Flow) -> None:
    body = flow.connect()
    end = utc_now() + timedelta(minutes=10)
    with app.app_context():
        db.session.execute(update(OAuthGrant).values(expires_at=end))
        db.session.commit()

    refreshed = flow.refresh(body["refresh_token"]).json

    assert 590 <= refreshed["expires_in"] <= 600


@pytest.mark.parametrize("token", ["", "askrt_unknown", "askrt_" + "x" * 43, "x" * 5000])
def test_an_unknown_token_is_refused(token: str, flow: Flow) -> None:
    assert flow.refresh(token).json["error"] in {"invalid_grant", "invalid_request"}


def test_an_expired_token_is_refused_with_the_next_step(flow: Flow) -> None:
    response = flow.refresh("askrt_" + "x" * 43)

    assert "ask for consent again" in response.json["error_description"]


def test_an_access_token_cannot_be_used_to_refresh(flow: Flow) -> None:
    assert flow.refresh(flow.connect()["access_token"]).json["error"] == "invalid_grant"


def test_a_confidential_client_must_authenticate(confidential: Flow) -> None:
    body = confidential.connect()

    response = confidential.refresh(body["refresh_token"], client_secret=None)

    assert (response.status_code, response.json["error"]) == (401, "invalid_client")


def test_reuse_is_shown_as_a_notice(app: Flask, flow: Flow) -> None:
    first = flow.connect()
    flow.refresh(first["refresh_token"])
    age(app, rotated_at=timedelta(seconds=121))
    flow.refresh(first["refresh_token"])

    page = flow.browser.get("/connections").text

    assert "its key was used twice" in page
    assert RevokedReason.REFRESH_REUSE not in page
