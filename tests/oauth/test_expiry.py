"""Expired rows are deleted, and no others."""

from datetime import timedelta

import pytest
from flask import Flask
from sqlalchemy import func, select, update

from tests.databases import both_databases
from tests.event_factories import make_agent_token
from tests.factories import make_account, make_form
from tests.oauth.flow import Flow, change, register
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


def age(app: Flask, table: type, **days: float) -> None:
    moments = {name: utc_now() - timedelta(days=number) for name, number in days.items()}
    change(app, update(table).values(moments))


@both_databases
@pytest.mark.parametrize(
    ("spent", "ended", "kept"),
    [
        (89, {}, [1, 1, 1, 2]),  # reuse is still told from an unknown token
        (91, {}, [1, 1, 0, 0]),
        (170, {"revoked_at": 170}, [1, 1, 0, 0]),
        (181, {"revoked_at": 181}, [0, 0, 0, 0]),
        (181, {"expires_at": 181}, [0, 0, 0, 0]),
    ],
)
def test_a_connection_is_kept_while_it_can_be_asked_for(
    spent: int, ended: dict[str, float], kept: list[int], app: Flask, flow: Flow
) -> None:
    flow.connect()
    age(app, OAuthClient, created_at=400)
    for table in (OAuthCode, OAuthToken):
        age(app, table, expires_at=spent)
    if ended:
        age(app, OAuthGrant, **ended)

    assert left(app) == kept


def test_an_unused_client_is_deleted_after_a_day_unless_it_is_the_operators(
    app: Flask, flow: Flow
) -> None:
    age(app, OAuthClient, created_at=25 / 24)
    register(flow.browser)
    with app.app_context():
        create_client("Ours", ["https://app.example/"], now=utc_now() - timedelta(days=400))

    assert left(app) == [2, 0, 0, 0]


def test_expired_invites_and_agent_tokens_are_deleted_after_three_months(app: Flask) -> None:
    now = utc_now()
    ends = [(name, days) for name in ("expires_at", "revoked_at") for days in (89, 91)]
    with app.app_context():
        for days in (92, 2):
            make_invite(now=now - timedelta(days=days))
        form = make_form(make_account().id)
        make_agent_token(form)
        for name, days in ends:
            make_agent_token(form, **{name: now - timedelta(days=days)})

        list(purge_dead(now))

        assert db.session.scalar(select(func.count()).select_from(Invite)) == 1
        assert db.session.scalar(select(func.count()).select_from(AgentToken)) == 3
