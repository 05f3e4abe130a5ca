"""The documents by which clients find their way (RFC 8414, RFC 9728), and CORS."""

import pytest
from authlib.oauth2.rfc8414 import AuthorizationServerMetadata
from authlib.oauth2.rfc9207 import AuthorizationServerMetadata as IssuerMetadata
from flask.testing import FlaskClient

from tests.oauth.flow import API, MCP, ORIGIN

PUBLIC = "https://ask.example.org"
METHODS = ["none", "client_secret_basic", "client_secret_post"]
AUTHORIZATION_SERVER = "/.well-known/oauth-authorization-server"
RESOURCE = "/.well-known/oauth-protected-resource"


def test_the_authorization_server_describes_itself(client: FlaskClient) -> None:
    document = client.get(AUTHORIZATION_SERVER).json

    assert document == {
        "issuer": ORIGIN,
        "authorization_endpoint": f"{ORIGIN}/oauth/authorize",
        "token_endpoint": f"{ORIGIN}/oauth/token",
        "registration_endpoint": f"{ORIGIN}/oauth/register",
        "revocation_endpoint": f"{ORIGIN}/oauth/revoke",
        "scopes_supported": ["forms:read", "responses:read", "forms:write", "offline_access"],
        "response_types_supported": ["code"],
        "response_modes_supported": ["query"],
        "grant_types_supported": ["authorization_code", "refresh_token"],
        "token_endpoint_auth_methods_supported": METHODS,
        "revocation_endpoint_auth_methods_supported": METHODS,
        "code_challenge_methods_supported": ["S256"],
        "authorization_response_iss_parameter_supported": True,
        "client_id_metadata_document_supported": True,
    }


@pytest.mark.parametrize(
    ("path", "issued_for"),
    [
        (f"{AUTHORIZATION_SERVER}/", ""),
        *((f"{AUTHORIZATION_SERVER}{path}", path) for path in ("/mcp/app", "/mcp/app/", "/api")),
        *((f"{path}{AUTHORIZATION_SERVER}", path) for path in ("/mcp/app", "/api")),
    ],
)
def test_the_authorization_server_is_found_at_each_address_that_clients_try(
    path: str, issued_for: str, client: FlaskClient
) -> None:
    names = {
        "issuer": f"{ORIGIN}{issued_for}",
        "authorization_endpoint": f"{ORIGIN}/oauth/authorize{issued_for}",
    }

    assert client.get(path).json == client.get(AUTHORIZATION_SERVER).json | names


@pytest.mark.parametrize(
    ("path", "resource", "name"),
    [
        (f"{RESOURCE}/api", API, "Askback API"),
        (f"{RESOURCE}/mcp/app", MCP, "Askback for MCP"),
        (f"{RESOURCE}/mcp/app/", f"{MCP}/", "Askback for MCP"),
        (f"/mcp/app{RESOURCE}", MCP, "Askback for MCP"),
        (f"/api{RESOURCE}", API, "Askback API"),
        (RESOURCE, ORIGIN, "Askback"),
    ],
)
def test_each_resource_has_a_document(
    path: str, resource: str, name: str, client: FlaskClient
) -> None:
    assert client.get(path).json == {
        "resource": resource,
        "authorization_servers": [ORIGIN],
        "scopes_supported": ["forms:read", "responses:read", "forms:write"],
        "bearer_methods_supported": ["header"],
        "resource_name": name,
        "resource_documentation": f"{ORIGIN}/docs/connect",
    }


@pytest.mark.parametrize("path", ["/mcp/app", "/mcp/app/"])
def test_the_challenge_leads_to_the_document_of_the_address_that_was_asked(
    path: str, client: FlaskClient
) -> None:
    refused = client.post(path, json={}, headers={"Host": "localhost:8000"})
    leads_to = f"http://localhost:8000{RESOURCE}{path}"

    assert f'resource_metadata="{leads_to}"' in refused.headers["WWW-Authenticate"]
    document = client.get(leads_to, headers={"Host": "localhost:8000"}).json
    assert document["resource"] == f"http://localhost:8000{path}"


@pytest.mark.parametrize("host", ["localhost:9000", "me@localhost:8000", 'localhost:8000"x'])
def test_other_names_and_ports_are_not_repeated(host: str, client: FlaskClient) -> None:
    document = client.get(f"{RESOURCE}/mcp/app", headers={"Host": host})

    assert document.status_code == 400 or document.json["resource"] == MCP


@pytest.mark.settings(public_url=PUBLIC, trusted_hosts=("localhost", "10.0.0.7"))
@pytest.mark.parametrize("host", ["localhost", "10.0.0.7", "ask.example.org:443"])
def test_a_public_installation_has_one_name(host: str, client: FlaskClient) -> None:
    headers = {"Host": host}

    resource = client.get(f"{RESOURCE}/mcp/app", headers=headers).json
    document = client.get(AUTHORIZATION_SERVER, headers=headers).json

    assert (resource["resource"], document["issuer"]) == (f"{PUBLIC}/mcp/app", PUBLIC)
    AuthorizationServerMetadata(document).validate(metadata_classes=[IssuerMetadata])


@pytest.mark.parametrize(
    ("path", "method"),
    [
        (AUTHORIZATION_SERVER, "GET"),
        (f"{RESOURCE}/mcp/app", "GET"),
        *((f"/oauth/{name}", "POST") for name in ("token", "register", "revoke")),
        ("/oauth/authorize", None),
    ],
)
def test_browser_clients_may_preflight_all_but_the_consent_page(
    path: str, method: str | None, client: FlaskClient
) -> None:
    origin = {"Origin": "https://inspector.example"}
    headers, read = client.options(path, headers=origin).headers, client.get(path, headers=origin)

    opened = [each.get("Access-Control-Allow-Origin") for each in (headers, read.headers)]
    assert opened == ["*" if method else None] * 2
    assert "Access-Control-Allow-Credentials" not in headers
    if method:
        assert read.headers["Access-Control-Expose-Headers"] == "WWW-Authenticate"
        assert method in headers["Access-Control-Allow-Methods"]
        assert "mcp-protocol-version" in headers["Access-Control-Allow-Headers"]
