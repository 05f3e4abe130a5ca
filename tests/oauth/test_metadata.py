"""The documents by which clients find their way (RFC 8414, RFC 9728), and CORS."""

import pytest
from authlib.oauth2.rfc8414 import AuthorizationServerMetadata
from authlib.oauth2.rfc9207 import AuthorizationServerMetadata as IssuerMetadata
from flask.testing import FlaskClient

from tests.oauth.flow import API, MCP, ORIGIN
from webapp.config import Settings
from webapp.oauth.endpoints import authorization_server_metadata

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
        "token_endpoint_auth_methods_supported": [
            "none",
            "client_secret_basic",
            "client_secret_post",
        ],
        "revocation_endpoint_auth_methods_supported": [
            "none",
            "client_secret_basic",
            "client_secret_post",
        ],
        "code_challenge_methods_supported": ["S256"],
        "authorization_response_iss_parameter_supported": True,
        "client_id_metadata_document_supported": True,
    }


def test_the_document_is_valid_for_an_https_issuer(settings: Settings) -> None:
    config = Settings(
        public_url="https://ask.example.org",
        database_url=settings.database_url,
        secret_key=settings.secret_key,
        data_folder=settings.data_folder,
    )

    document = AuthorizationServerMetadata(authorization_server_metadata(config))

    document.validate(metadata_classes=[IssuerMetadata])
    assert document["issuer"] == "https://ask.example.org"


@pytest.mark.parametrize(
    ("path", "resource", "name"),
    [("/api", API, "Askback API"), ("/mcp/app", MCP, "Askback for MCP")],
)
def test_each_resource_has_a_document(
    path: str, resource: str, name: str, client: FlaskClient
) -> None:
    assert client.get(RESOURCE + path).json == {
        "resource": resource,
        "authorization_servers": [ORIGIN],
        "scopes_supported": ["forms:read", "responses:read", "forms:write"],
        "bearer_methods_supported": ["header"],
        "resource_name": name,
        "resource_documentation": f"{ORIGIN}/docs/connect",
    }


@pytest.mark.parametrize(
    "path",
    [
        RESOURCE,
        f"{RESOURCE}/",
        f"{RESOURCE}/other",
        f"{RESOURCE}/mcp",
        "/.well-known/openid-configuration",
    ],
)
def test_there_is_no_other_document(path: str, client: FlaskClient) -> None:
    assert client.get(path).status_code == 404


@pytest.mark.parametrize(
    ("path", "method"),
    [
        (AUTHORIZATION_SERVER, "GET"),
        (f"{RESOURCE}/api", "GET"),
        ("/oauth/token", "POST"),
        ("/oauth/register", "POST"),
        ("/oauth/revoke", "POST"),
    ],
)
def test_browser_clients_may_preflight(path: str, method: str, client: FlaskClient) -> None:
    headers = client.options(path, headers={"Origin": "https://inspector.example"}).headers

    assert headers["Access-Control-Allow-Origin"] == "*"
    assert method in headers["Access-Control-Allow-Methods"]
    assert "mcp-protocol-version" in headers["Access-Control-Allow-Headers"]
    assert "Access-Control-Allow-Credentials" not in headers


def test_responses_are_readable_from_every_origin(client: FlaskClient) -> None:
    headers = client.get(AUTHORIZATION_SERVER, headers={"Origin": "https://x.example"}).headers

    assert headers["Access-Control-Allow-Origin"] == "*"
    assert headers["Access-Control-Expose-Headers"] == "WWW-Authenticate"


def test_the_consent_page_is_closed_to_other_origins(client: FlaskClient) -> None:
    headers = client.options("/oauth/authorize", headers={"Origin": "https://x.example"}).headers

    assert "Access-Control-Allow-Origin" not in headers


@pytest.mark.parametrize(
    ("method", "path", "status", "description"),
    [
        ("POST", AUTHORIZATION_SERVER, 405, "This address takes GET requests only."),
        ("DELETE", f"{RESOURCE}/api", 405, "This address takes GET requests only."),
        ("POST", "/.well-known/security.txt", 405, "This address takes GET requests only."),
        ("GET", "/oauth/token", 405, "This address takes POST requests only."),
        ("GET", "/.well-known/openid-configuration", 404, "There is nothing at this address."),
        ("GET", f"{RESOURCE}/else", 404, "There is nothing at this address."),
        ("POST", "/oauth/token/more", 404, "There is nothing at this address."),
    ],
)
def test_a_refusal_of_an_address_or_a_method_says_what_is_there(
    method: str, path: str, status: int, description: str, client: FlaskClient
) -> None:
    response = client.open(path, method=method)

    assert response.status_code == status
    assert response.json == {"error": "invalid_request", "error_description": description}
