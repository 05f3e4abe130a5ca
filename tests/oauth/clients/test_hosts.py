"""What mainstream hosts send: registrations, documents, names and redirect addresses.

`hosts.json` says where each was seen. `shown` is what a creator has to read, `asks_with` the
redirect address of the request where it is not the first one of the registration.
"""

import json
from pathlib import Path
from typing import Any

import pytest
from flask import Flask
from flask.testing import FlaskClient

from tests.oauth.clients.documents import CLIENT_ID, Site
from tests.oauth.flow import Flow, location

HOSTS: list[dict[str, Any]] = json.loads((Path(__file__).parent / "hosts.json").read_text())
BODIES = [pytest.param(host, id=host["host"]) for host in HOSTS if "body" in host]
DOCUMENTS = [pytest.param(host, id=host["host"]) for host in HOSTS if "document" in host]


def connect(flow: Flow, host: dict[str, Any], redirect_uris: list[str]) -> None:
    """As far as the first tokens, past the consent page that names the host."""
    redirect_uri = host.get("asks_with", redirect_uris[0])
    address = flow.address(redirect_uri=redirect_uri)

    page = flow.browser.get(address).text
    answer = flow.decide(address)

    assert f"Let {host['shown']} work with your forms?" in page
    assert answer.location.startswith(redirect_uri.partition("?")[0])
    tokens = flow.redeem(location(answer)["code"], redirect_uri=redirect_uri)
    assert tokens.status_code == 200, tokens.text


@pytest.mark.parametrize("host", BODIES)
def test_a_host_registers_and_is_named(
    host: dict[str, Any], app: Flask, browser: FlaskClient
) -> None:
    response = browser.post("/oauth/register", json=host["body"])

    body = response.json
    assert response.status_code == 201, response.text
    assert body is not None
    refused = [each["redirect_uri"] for each in body.pop("refused_redirect_uris", [])]
    assert refused == host.get("refused", [])
    assert body["redirect_uris"] == [
        uri for uri in host["body"]["redirect_uris"] if uri not in refused
    ]
    assert body["client_name"] == host["shown"]
    assert None not in body.values()
    assert "" not in body.values()
    connect(Flow(browser, app.test_client(), body), host, body["redirect_uris"])


@pytest.mark.parametrize("host", DOCUMENTS)
def test_a_host_is_known_by_its_document(
    host: dict[str, Any], app: Flask, browser: FlaskClient, site: Site
) -> None:
    site.serve(host["document"] | {"client_id": CLIENT_ID})
    flow = Flow(browser, app.test_client(), {"client_id": CLIENT_ID})

    connect(flow, host, host["document"]["redirect_uris"])
