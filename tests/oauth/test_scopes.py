"""What a creator is asked for, by what clients send as `scope`, and what is granted."""

import pytest

from tests.oauth.flow import ALL_SCOPES, Flow, bearer, refused, ticked
from webapp.oauth.protocol import PERMISSIONS

ALL = "forms:read forms:write responses:read"
ASKED = [
    (None, ALL),
    ("mcp:tools https://other.example/scope", ALL),
    ("FORMS:READ forms", ALL),
    ("größe\\ \x00 forms:read\nforms:write", "forms:read forms:write"),
    ("offline_access", f"{ALL} offline_access"),
    ("openid forms:write offline_access email", "forms:write offline_access"),
    ("forms:read,responses:read", "forms:read responses:read"),
    ("responses:read forms:read responses:read", "responses:read forms:read"),
]


@pytest.mark.parametrize(("asked", "granted"), ASKED)
def test_unknown_scopes_are_ignored_and_the_response_says_what_was_granted(
    asked: str | None, granted: str, flow: Flow
) -> None:
    assert ticked(flow.ask(scope=asked).text) == granted.split()
    assert flow.connect(scope=asked)["scope"] == granted


@pytest.mark.parametrize("scope", [None, ALL])
@pytest.mark.parametrize("kept", ALL.split())
def test_what_was_unticked_is_not_granted(kept: str, scope: str | None, flow: Flow) -> None:
    body = flow.connect(scope=scope, may=[kept])
    headers = bearer(body["access_token"])
    answers = {
        "forms:read": flow.machine.get("/api/forms", headers=headers),
        "forms:write": flow.machine.post("/api/drafts", json={"title": "Rota"}, headers=headers),
        "responses:read": flow.machine.get("/api/forms/frm_x/responses", headers=headers),
    }

    assert body["scope"] == kept
    assert answers.pop(kept).status_code in {200, 201, 404}
    for needed, answer in answers.items():
        assert answer.status_code == 401
        assert needed in answer.headers["WWW-Authenticate"]


@pytest.mark.parametrize("scope", [None, "openid", "forms:read", ALL])
def test_staying_connected_is_offered_unticked_and_the_creator_decides(
    scope: str | None, flow: Flow
) -> None:
    page = flow.ask(scope=scope).text
    asked = ticked(page)

    without = flow.connect(scope=scope)
    lasting = flow.connect(scope=scope, may=[*asked, "offline_access"])

    assert 'name="may" value="offline_access">' in page
    assert "offline_access" not in without["scope"].split()
    assert "refresh_token" not in without
    # a client that named its scopes may refuse others: the refresh token alone tells it
    told = [] if scope in {"forms:read", ALL} else ["offline_access"]
    assert lasting["scope"].split() == asked + told
    refreshed = flow.refresh(lasting["refresh_token"]).json
    assert refreshed["scope"] == lasting["scope"]


@pytest.mark.parametrize("scope", [None, ALL_SCOPES, "offline_access"])
def test_a_client_that_cannot_refresh_is_not_offered_to_stay(scope: str | None, flow: Flow) -> None:
    flow = flow.other(grant_types=["authorization_code"])

    body = flow.connect(scope=scope, may=ALL_SCOPES.split())

    assert 'value="offline_access"' not in flow.ask(scope=scope).text
    assert set(body["scope"].split()) == {*PERMISSIONS}
    assert "refresh_token" not in body
    refused(flow.refresh("askrt_" + "x" * 43), "unauthorized_client")
