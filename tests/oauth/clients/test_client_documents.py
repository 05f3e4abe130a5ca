"""Clients whose id is the address of a document that describes them."""

import pytest
from flask import Flask
from flask.testing import FlaskClient
from sqlalchemy import update

from tests.oauth.clients.documents import CLIENT_ID, HOST, REDIRECT, Site, document
from tests.oauth.flow import Flow, change, count, leave, refused
from webapp.base.database import utc_now
from webapp.oauth.models import OAuthClient

NO_METHOD: dict[str, object] = {"token_endpoint_auth_method": None}
REFUSED, JSON = "cannot be connected", "application/json"


@pytest.fixture
def agent(app: Flask, browser: FlaskClient) -> Flow:
    return Flow(browser, app.test_client(), {"client_id": CLIENT_ID})


def ask(agent: Flow, **changed: object) -> str:
    page = agent.ask(**{"redirect_uri": REDIRECT} | changed)
    assert "Location" not in page.headers
    return page.text


def test_a_client_connects_by_its_document_fetched_once(agent: Flow, site: Site) -> None:
    assert f"Verified address: {HOST}." in ask(agent)
    body = agent.redeem(agent.code(redirect_uri=REDIRECT), redirect_uri=REDIRECT).json

    assert body is not None
    assert agent.opens(body)
    assert agent.refresh(body["refresh_token"]).status_code == 200
    assert site.asked == ["/client.json"]


def test_nothing_is_fetched_for_a_signed_out_visitor_or_a_token(agent: Flow, site: Site) -> None:
    refused(agent.redeem("askac_" + "x" * 43), "invalid_client", 401)
    leave(agent.browser)
    agent.ask(redirect_uri=REDIRECT)
    agent.ask(redirect_uri=REDIRECT, prompt="none")

    assert site.asked == []


def test_one_creator_has_few_documents_fetched(agent: Flow, site: Site) -> None:
    leave(agent.browser)  # counted alike, without the work
    pages = [agent.ask(client_id=f"https://{HOST}/{number}") for number in range(61)]

    assert [page.status_code for page in pages] == [303] * 60 + [429]


def test_an_old_document_is_fetched_again(app: Flask, agent: Flow, site: Site) -> None:
    ask(agent)
    change(app, update(OAuthClient).values(fetched_until=utc_now()))
    site.serve(document(client_name="Renamed agent"))

    assert "Let Renamed agent work" in ask(agent)
    assert count(app, OAuthClient) == 1


def test_a_failure_is_not_remembered(agent: Flow, site: Site) -> None:
    site.status = 403
    page = ask(agent)
    site.status = 200

    assert "register itself" in page
    assert "CLIENT_DOCUMENTS=off" in page
    assert "Let Document agent work" in ask(agent)


@pytest.mark.parametrize(
    "changed",
    [
        {"client_id": f"https://{HOST}/other.json"},
        {"client_secret": "hush"},
        {"redirect_uris": ["javascript:alert(1)"]},
        {"token_endpoint_auth_method": "client_secret_basic"},
        {"token_endpoint_auth_methods_supported": ["private_key_jwt"]} | NO_METHOD,
        {"grant_types": ["implicit"]},
    ],
)
def test_a_bad_document_is_refused(
    changed: dict[str, object], app: Flask, agent: Flow, site: Site
) -> None:
    site.serve(document(**changed))

    assert REFUSED in ask(agent)
    assert count(app, OAuthClient) == 0


@pytest.mark.parametrize(
    ("changed", "shown"),
    [
        ({"client_name": None}, HOST),
        ({"redirect_uris": [REDIRECT, "http://evil.example/"]}, "Document agent"),
        ({"client_secret": "", "scope": "", "contacts": []}, "Document agent"),
        (NO_METHOD, "Document agent"),
        (NO_METHOD | {"token_endpoint_auth_methods_supported": ["none"]}, "Document agent"),
    ],
)
def test_a_document_is_read_as_generously_as_a_registration(
    changed: dict[str, object], shown: str, agent: Flow, site: Site
) -> None:
    site.serve(document(**changed))

    assert f"Let {shown} work" in ask(agent)
    assert "Location" not in agent.ask(redirect_uri="http://evil.example/").headers


def test_documents_can_be_switched_off(
    app: Flask, agent: Flow, site: Site, monkeypatch: pytest.MonkeyPatch
) -> None:
    changed = app.config["SETTINGS"].model_copy(update={"client_documents": False})
    monkeypatch.setitem(app.config, "SETTINGS", changed)

    assert "register itself" in ask(agent)
    metadata = agent.machine.get("/.well-known/oauth-authorization-server").json
    assert metadata["client_id_metadata_document_supported"] is False
    assert site.asked == []


@pytest.mark.parametrize(
    ("body", "kind"),
    [
        *(
            (body, "application/json")
            for body in (b"{", b"[]", b'"text"', b"\xff", b"", b"[" * 5000)
        ),
        (document(padding="x" * 5200), "application/json"),
        *((document(), kind) for kind in ("text/html", "application/jsonp", "text/json")),
        (document(client_id="client_somebody_else"), JSON),
    ],
)
def test_what_is_no_small_json_document_is_refused(
    body: object, kind: str, agent: Flow, site: Site
) -> None:
    site.serve(body, Content_Type=kind)

    assert REFUSED in ask(agent)
    site.serve(document(), Content_Type="application/oauth-client+json; charset=utf-8")
    assert "Let Document agent work" in ask(agent)


@pytest.mark.parametrize("status", [204, 301, 302, 307, 404, 500])
def test_only_a_200_counts_and_redirects_are_not_followed(
    status: int, agent: Flow, site: Site
) -> None:
    site.status = status
    site.headers["Location"] = f"https://{HOST}/elsewhere.json"

    assert REFUSED in ask(agent)
    assert site.asked == ["/client.json"]


NO_CLIENTS = """
https://HOST https://HOST/ https://me@HOST/client.json https://HOST/client.json#part
https://HOST/./client.json https://HOST/x/../client.json https://HOST/%2e%2E/client.json
https://HOST:443/client.json https://HOST:8443/client.json https://HOST:99999/client.json
https://93.184.215.14/client.json https://[2606:2800:21f:cb07:6820:80da:af6b:8b2c]/client.json
https://169.254.169.254/latest/meta-data https://127.0.0.1/client.json
https://2130706433/client.json https://0x7f000001/client.json https://127.1/client.json
https://localhost/client.json https:///client.json http://HOST/client.json
"""


@pytest.mark.parametrize(
    "client_id", [*NO_CLIENTS.replace("HOST", HOST).split(), f"https://{HOST}/" + "x" * 2048]
)
def test_an_address_that_cannot_be_a_client_is_not_fetched(
    client_id: str, app: Flask, agent: Flow, site: Site
) -> None:
    agent.client = {"client_id": client_id}

    assert REFUSED in ask(agent)
    assert site.asked == []
    assert count(app, OAuthClient) == 0
