"""The page of connected agents, and what a creator hands to one that is to connect."""

import re
from datetime import timedelta

import pytest
from flask import Flask
from sqlalchemy import select, update

from tests.oauth.flow import API, Flow, bearer, enter, register
from tests.pages.creator_client import Creator
from webapp.base.database import db, utc_now
from webapp.base.vocabulary import RevokedReason, Scope
from webapp.oauth.models import OAuthGrant
from webapp.oauth.tokens import issue_token
from webapp.web.limiter import limiter


def connect(creator: Creator, *scopes: Scope, at: str = API) -> str:
    """The token of a new agent, which is called Askback command line."""
    return creator.within(issue_token, creator.account.id, list(scopes), at, now=utc_now())


@pytest.fixture
def token(ann: Creator) -> str:
    """Of an agent that may read and write forms."""
    return connect(ann, Scope.FORMS_READ, Scope.FORMS_WRITE)


@pytest.fixture
def flow(app: Flask, ann: Creator) -> Flow:
    """An app that asks this creator."""
    limiter.reset()
    client = register(ann.client, token_endpoint_auth_method="none")
    return Flow(ann.client, app.test_client(), client)


def grant(creator: Creator, **having: str) -> OAuthGrant:
    """The only one that has these values."""
    query = select(OAuthGrant).filter_by(account_id=creator.account.id, **having)
    with creator.context():
        return db.session.scalars(query).one()


def works(app: Flask, token: str) -> bool:
    return app.test_client().get("/api/forms", headers=bearer(token)).status_code == 200


def test_disconnecting_all_stops_every_agent_and_unused_consents(
    app: Flask, ann: Creator, flow: Flow, token: str
) -> None:
    code, other = flow.code(), connect(ann, Scope.FORMS_READ)

    ann.post("/connections/disconnect-all")

    assert (works(app, token), works(app, other)) == (False, False)
    assert flow.redeem(code).status_code == 400


def test_disconnecting_ends_every_grant_of_the_client_and_of_nobody_else(
    app: Flask, ann: Creator, stranger: Creator, flow: Flow, token: str
) -> None:
    mine = [flow.connect(scope=scope)["access_token"] for scope in ("forms:read", "forms:write")]
    oldest = grant(ann, scope="forms:read").id
    enter(flow.browser, stranger.account)
    theirs = flow.connect(scope="forms:read")["access_token"]
    enter(flow.browser, ann.account)
    pages = [ann.page("/connections").text]

    refused = stranger.post(f"/connections/{oldest}/disconnect").status_code
    ann.token = ""
    ann.post(f"/connections/{oldest}/disconnect")

    pages.append(ann.page("/connections").text)
    assert refused == 404
    assert [works(app, each) for each in (*mine, token, theirs)] == [False, False, True, True]
    assert [page.count('<li class="agent"') for page in pages] == [2, 1]


def test_trust_holds_for_every_grant_that_may_write_until_it_ends(ann: Creator, flow: Flow) -> None:
    scopes = ("forms:write", "forms:read forms:write", "forms:read")
    for scope in scopes:
        flow.connect(scope=scope)
    shown = re.search(r'id="connection-([^"]+)"', ann.page("/connections").text)
    assert shown is not None

    found = []
    for form in ({"trust": "on"}, {}):
        ann.post(f"/connections/{shown[1]}/trust", **form)
        with ann.context():
            trusted = db.session.execute(select(OAuthGrant.scope, OAuthGrant.attests_publish))
            found.append({scope for scope, trusts in trusted if trusts})

    assert found == [{*scopes[:2]}, set()]


@pytest.mark.parametrize(
    ("reason", "days", "count"),
    [
        (RevokedReason.REFRESH_REUSE, 29, 1),
        (RevokedReason.REFRESH_REUSE, 31, 0),
        (RevokedReason.DISCONNECTED, 1, 0),
    ],
)
@pytest.mark.usefixtures("token")
def test_reuse_of_a_token_is_reported_for_a_month(
    ann: Creator, reason: RevokedReason, days: int, count: int
) -> None:
    with ann.context():
        ended = utc_now() - timedelta(days=days)
        db.session.execute(update(OAuthGrant).values(revoked_at=ended, revoked_reason=reason))
        db.session.commit()

    assert ann.page("/connections").text.count("its key was used twice") == count
