"""Expired rows are deleted, and no others."""

from datetime import timedelta

import pytest
from flask import Flask
from sqlalchemy import func, select, update

from tests.databases import both_databases
from tests.event_factories import make_agent_token
from tests.factories import make_account, make_form
from tests.oauth.flow import Flow, register
from webapp.base import ownership
from webapp.base.database import db, utc_now
from webapp.oauth.models import OAuthClient, OAuthCode, OAuthGrant, OAuthToken
from webapp.oauth.registration import create_client
from webapp.oauth.tokens import purge_dead
from webapp.records.accounts.invites import make_invite
from webapp.records.accounts.models import Invite
from webapp.records.forms import AgentToken

TABLES = (OAuthClient, OAuthGrant, OAuthCode, OAuthToken)


def left(app: Flask) -> list[int]:
    """Clients, grants, codes and tokens after a purge."""
    with app.app_context():
        list(purge_dead(utc_now()))
        return [db.session.scalar(select(func.count()).select_from(t)) or 0 for t in TABLES]


def age(app: Flask, table: type, **columns: timedelta) -> None:
    with app.app_context():
        moments = {name: utc_now() - duration for name, duration in columns.items()}
        db.session.execute(update(table).values(moments))
        db.session.commit()


def test_a_live_connection_is_kept(app: Flask, flow: Flow) -> None:
    flow.connect()
    age(app, OAuthClient, created_at=timedelta(days=400))

    assert left(app) == [1, 1, 1, 2]


def test_spent_codes_and_tokens_are_deleted_after_three_months(app: Flask, flow: Flow) -> None:
    flow.connect()
    age(app, OAuthCode, expires_at=timedelta(days=91))
    age(app, OAuthToken, expires_at=timedelta(days=91))

    assert left(app) == [1, 1, 0, 0]


def test_spent_tokens_are_kept_long_enough_to_detect_reuse(app: Flask, flow: Flow) -> None:
    flow.connect()
    age(app, OAuthToken, expires_at=timedelta(days=89))

    assert left(app) == [1, 1, 1, 2]


@both_databases
@pytest.mark.parametrize("column", ["revoked_at", "expires_at"])
def test_an_ended_connection_is_deleted_after_half_a_year(
    column: str, app: Flask, flow: Flow
) -> None:
    flow.connect()
    for table in (OAuthCode, OAuthToken):
        age(app, table, expires_at=timedelta(days=181))
    age(app, OAuthGrant, **{column: timedelta(days=181)})
    age(app, OAuthClient, created_at=timedelta(days=300))

    assert left(app) == [0, 0, 0, 0]


def test_a_client_is_kept_as_long_as_its_ended_connection(app: Flask, flow: Flow) -> None:
    flow.connect()
    for table in (OAuthCode, OAuthToken):
        age(app, table, expires_at=timedelta(days=170))
    age(app, OAuthGrant, revoked_at=timedelta(days=170))
    age(app, OAuthClient, created_at=timedelta(days=300))

    assert left(app) == [1, 1, 0, 0]


def test_an_unused_client_is_deleted_after_a_day(app: Flask, flow: Flow) -> None:
    age(app, OAuthClient, created_at=timedelta(hours=25))
    register(flow.browser)

    assert left(app) == [1, 0, 0, 0]


def test_a_client_of_the_operator_is_kept(app: Flask) -> None:
    with app.app_context():
        create_client("Ours", ["https://app.example/"], now=utc_now() - timedelta(days=400))

    assert left(app) == [1, 0, 0, 0]


def test_expired_invites_are_deleted(app: Flask) -> None:
    with app.app_context():
        make_invite(now=utc_now() - timedelta(days=92))
        make_invite(now=utc_now() - timedelta(days=2))
        list(purge_dead(utc_now()))
        assert db.session.scalar(select(func.count()).select_from(Invite)) == 1


@both_databases
def test_ended_agent_tokens_are_deleted_after_three_months(app: Flask) -> None:
    now = utc_now()
    ends = {"expires_at": now - timedelta(days=91)}, {"revoked_at": now - timedelta(days=91)}
    kept = {"expires_at": now - timedelta(days=89)}, {"revoked_at": now - timedelta(days=89)}, {}
    with app.app_context():
        form = make_form(make_account().id)
        for changed in (*ends, *kept):
            make_agent_token(form, **changed)

        list(purge_dead(now))

        assert db.session.scalar(select(func.count()).select_from(AgentToken)) == len(kept)


@both_databases
def test_rows_are_deleted_in_batches(
    app: Flask, flow: Flow, monkeypatch: pytest.MonkeyPatch
) -> None:
    flow.connect()
    age(app, OAuthToken, expires_at=timedelta(days=91))
    monkeypatch.setattr(ownership, "BATCH_ROWS", 1)

    with app.app_context():
        deleted = list(purge_dead(utc_now()))

    assert deleted == [1, 1]
