"""The page of connected agents, and what a creator hands to one that is to connect."""

import re
from datetime import timedelta
from typing import Any

import pytest
from flask import Flask
from sqlalchemy import select, update

from tests.factories import next_millisecond
from tests.oauth.flow import API, MCP, Flow, bearer, enter, register
from tests.pages.creator_client import Creator, plain
from webapp.base.database import db, to_millis, utc_now
from webapp.base.vocabulary import RevokedReason, Scope
from webapp.drafts import editing
from webapp.oauth.models import OAuthGrant
from webapp.oauth.tokens import issue_token
from webapp.records.content.draft_input import parse_draft_input
from webapp.records.drafts import Draft
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


def test_disconnecting_says_by_name_and_to_nobody_else_what_ended(
    ann: Creator, stranger: Creator, flow: Flow, token: str
) -> None:
    path = f"/connections/{grant(ann).id}/disconnect"
    flow.connect()

    one, again = ann.post(path).location, ann.post(path).location
    rest = ann.post("/connections/disconnect-all").location

    assert again == one
    assert disconnected(ann, one) == ["Askback command line"]
    assert disconnected(ann, rest) == ["Example agent"]
    assert disconnected(stranger, one) == []
    for moment in ("", "x", "-1", "0", "9" * 13, "9" * 40, "²"):
        assert disconnected(ann, f"/connections?ended={moment}") == []


def disconnected(creator: Creator, address: str) -> list[str]:
    """The names that the page says were just disconnected."""
    words = re.search(r"Disconnected:(.*?)</b>", creator.page(address).text)
    return re.findall("<bdi>(.*?)</bdi>", words[1]) if words else []


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


@pytest.mark.parametrize("action", ["disconnect", "trust"])
def test_somebody_elses_and_unknown_agents_are_not_found(
    app: Flask, ann: Creator, stranger: Creator, token: str, action: str
) -> None:
    for grant_id in (grant(ann).id, "con_unknown", "%00", "x" * 300):
        assert stranger.post(f"/connections/{grant_id}/{action}", trust="on").status_code == 404
    assert works(app, token)
    assert not grant(ann).attests_publish


@pytest.mark.parametrize(
    ("reason", "days", "count"),
    [
        (RevokedReason.REFRESH_REUSE, 29, 1),
        (RevokedReason.REFRESH_REUSE, 31, 0),
        (RevokedReason.CODE_REUSE, 29, 1),
        (RevokedReason.DISCONNECTED, 1, 0),
        (RevokedReason.REVOKED_BY_CLIENT, 1, 0),
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


# --- connecting one ---


def draft_by(creator: Creator, title: str) -> Draft:
    content = parse_draft_input({"title": title, "questions": ["What?"]})
    by: dict[str, Any] = {"author": grant(creator).id, "now": next_millisecond()}
    return creator.within(editing.create_draft, creator.account.id, content, **by)


def test_the_line_tells_each_step_once(ann: Creator, stranger: Creator) -> None:
    asked = f"/connections/progress?since={to_millis(utc_now())}&have="
    after = f"{asked}Askback%20command%20line"
    connect(stranger, Scope.FORMS_WRITE, at=MCP)
    draft_by(stranger, "Not hers")
    nothing = ann.swap(asked)

    connect(ann, Scope.FORMS_WRITE, at=MCP)
    connected, same = ann.swap(asked), ann.swap(after)
    ann.draft(title="By hand")
    by_hand = ann.swap(after)
    draft = draft_by(ann, "Lunch <b>")
    arrived = ann.swap(after)

    assert [one.status_code for one in (nothing, same, by_hand)] == [204, 204, 204]
    steps = plain(connected.text.partition('id="agent-progress"')[2].partition("</ol>")[0])
    assert steps.endswith("Askback command line is connected Waiting for its first draft … ")
    assert 'id="connected-agents" hx-swap-oob="true"' in connected.text
    assert 'have=Askback%20command%20line" hx-trigger="app:poll from:body"' in connected.text
    assert f'<a href="/drafts/{draft.id}" dir="auto">Lunch &lt;b&gt;</a>' in arrived.text
    assert "app:poll" not in arrived.text.partition("</ol>")[0]
