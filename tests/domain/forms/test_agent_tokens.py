"""Agent tokens: their shape, what they may read, and how they end."""

from datetime import timedelta
from typing import Any

import pytest
from sqlalchemy import delete

from tests.conftest import Clock
from tests.databases import both_databases
from tests.factories import make_account, make_form
from webapp.base.config import Settings
from webapp.base.database import db
from webapp.base.vocabulary import ClientKind, TokenEnd
from webapp.drafts import agent_tokens
from webapp.drafts.agent_tokens import TokenRow
from webapp.oauth import connections
from webapp.oauth.models import OAuthClient, OAuthGrant
from webapp.oauth.tokens import add_grant
from webapp.records.forms import AgentToken

pytestmark = [pytest.mark.usefixtures("app_context"), both_databases]


def make(form: Any, clock: Clock, **changed: Any) -> AgentToken:
    given: dict[str, Any] = {
        "form_id": form.id,
        "label": "Rota agent",
        "expires_at": clock.now + timedelta(days=90),
        "now": clock.now,
    }
    return agent_tokens.make_agent_token(**{"account_id": form.account_id} | given | changed)


def found(made: AgentToken) -> TokenRow:
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
