"""Agent tokens: their shape, what they may read, and how they end."""

import zlib
from datetime import timedelta
from typing import Any

import pytest
from flask import Flask
from sqlalchemy import delete

from tests.conftest import Clock
from tests.databases import both_databases
from tests.factories import make_account, make_form
from tests.races.threads import each_statement
from webapp.base.config import Settings
from webapp.base.database import db
from webapp.base.vocabulary import ClientKind, TokenEnd
from webapp.drafts import agent_tokens
from webapp.drafts.agent_tokens import MadeToken, TokenRow
from webapp.oauth import connections
from webapp.oauth.models import OAuthClient, OAuthGrant
from webapp.oauth.tokens import add_grant
from webapp.records.forms import AgentToken

pytestmark = [pytest.mark.usefixtures("app_context"), both_databases]

DIGITS = "0123456789ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz"


def make(form: Any, clock: Clock, **changed: Any) -> MadeToken:
    given: dict[str, Any] = {
        "form_id": form.id,
        "label": "Rota agent",
        "expires_at": clock.now + timedelta(days=90),
        "now": clock.now,
    }
    return agent_tokens.make_agent_token(**{"account_id": form.account_id} | given | changed)


def found(made: MadeToken) -> TokenRow:
    row = agent_tokens.find_agent_token(made.token)
    assert row is not None
    return row


def connect(account_id: str, settings: Settings, clock: Clock) -> OAuthGrant:
    client = OAuthClient(
        id=f"cli_{account_id}",
        client_id=account_id,
        kind=ClientKind.PRE_REGISTERED,
        given_name="Claude",
        details={"redirect_uris": [], "grant_types": []},
        created_at=clock.now,
    )
    db.session.add(client)
    db.session.flush()
    grant = add_grant(
        account_id, client, "responses:read offline_access", settings.api_url, now=clock.now
    )
    db.session.commit()
    return grant


def test_a_token_has_43_random_digits_and_a_sum(clock: Clock) -> None:
    token = make(make_form(make_account().id), clock).token

    assert token.startswith("askag_")
    assert len(token) == 6 + 43 + 6
    total = 0
    for digit in token[-6:]:
        total = total * 62 + DIGITS.index(digit)
    assert total == zlib.crc32(token[:-6].encode())


def test_a_mistyped_token_costs_no_query(app: Flask, clock: Clock) -> None:
    token = make(make_form(make_account().id), clock).token
    wrong = [token[:20] + ("b" if token[20] == "a" else "a") + token[21:]]
    wrong += [token[:20] + token[21] + token[20] + token[22:]] if token[20] != token[21] else []
    wrong += [token[:-1], f"{token}0", token.upper(), f" {token}", "", "askag_" + "é" * 49]
    asked: list[str] = []

    def note(*arguments: Any) -> None:
        asked.append(arguments[2])

    with each_statement(app, "before_cursor_execute", note):
        answers = [agent_tokens.find_agent_token(each) for each in wrong]

    assert answers == [None] * len(wrong)
    assert asked == []


@pytest.mark.parametrize("forgotten", [False, True])
def test_a_token_ends_with_the_connection_that_made_it(
    forgotten: bool,  # noqa: FBT001
    settings: Settings,
    clock: Clock,
) -> None:
    form = make_form(make_account().id)
    grant = connect(form.account_id, settings, clock)
    before = make(form, clock, grant_id=grant.id)
    own = make(form, clock)

    connections.disconnect_all(form.account_id, now=clock.now)
    meanwhile = make(form, clock, grant_id=grant.id)
    if forgotten:
        db.session.execute(delete(OAuthGrant))
        db.session.commit()

    assert found(before).ended(clock.now) is TokenEnd.REVOKED
    assert forgotten or found(meanwhile).ended(clock.now) is TokenEnd.REVOKED
    assert found(own).ended(clock.now) is None


def test_a_deleted_token_counts_as_revoked(clock: Clock) -> None:
    made = make(make_form(make_account().id), clock)
    db.session.execute(delete(AgentToken))
    db.session.commit()

    assert agent_tokens.ended_tokens([made.id], now=clock.now) == {made.id: TokenEnd.REVOKED}
