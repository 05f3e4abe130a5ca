"""Authlib's authorization server with our storage, issuer and responses."""

import logging
from http import HTTPStatus
from typing import Any

from authlib.common.urls import add_params_to_uri
from authlib.integrations.flask_oauth2 import AuthorizationServer
from authlib.integrations.flask_oauth2.requests import FlaskOAuth2Payload
from authlib.oauth2 import OAuth2Error, OAuth2Request
from authlib.oauth2.rfc6749 import (
    InvalidClientError,
    InvalidRequestError,
    UnsupportedResponseTypeError,
)
from authlib.oauth2.rfc7009 import RevocationEndpoint as BaseRevocationEndpoint
from flask import Flask, Response, json, request
from sqlalchemy import select

from webapp.base.config import settings
from webapp.base.database import db, utc_now, write_transaction
from webapp.base.text import token_hash
from webapp.base.vocabulary import RevokedReason, TokenKind
from webapp.oauth.grants import (
    CLIENT_AUTH_METHODS,
    AuthorizationCodeGrant,
    RefreshTokenGrant,
    S256Only,
)
from webapp.oauth.models import OAuthClient, OAuthToken
from webapp.oauth.protocol import worded
from webapp.oauth.tokens import revoke_access_token, revoke_grant
from webapp.records.audit import AuditKind, add_event
from webapp.web import request_audit
from webapp.web.hosts import ASKED_HOST, origin_under

AUTHORIZE = "/oauth/authorize"  # the path of a resource may follow, by which clients know us


class Request(OAuth2Request):
    """The Flask request for Authlib, with the configured public address.

    Authlib refuses plain http by the address; behind a proxy `request.url` is not the public one.
    """

    def __init__(self) -> None:
        address = settings().public_url + request.path
        super().__init__(request.method, address, headers=request.headers)
        self.payload = FlaskOAuth2Payload(request)

    @property
    def args(self) -> Any:
        return request.args

    @property
    def form(self) -> Any:
        return request.form


class Server(AuthorizationServer):
    """Adds the issuer to every redirect (RFC 9207); redirects forms with 303 (RFC 9700 4.12)."""

    def create_oauth2_request(self, _request: Any) -> Request:
        return Request()

    def get_authorization_grant(self, request: Any) -> Any:
        """RFC 6749 section 4.1.2.1: a required parameter that is missing is an invalid request."""
        try:
            return super().get_authorization_grant(request)
        except UnsupportedResponseTypeError as error:
            if request.payload.response_type:
                raise
            raise InvalidRequestError(
                "The parameter response_type is missing.",
                redirect_uri=error.redirect_uri,
            ) from error

    def handle_error_response(self, request: Any, error: OAuth2Error) -> Any:
        if isinstance(error, InvalidClientError):  # only at a 401 do hosts register anew
            error.status_code = HTTPStatus.UNAUTHORIZED
        return super().handle_error_response(request, worded(error))

    def handle_response(
        self, status_code: int, payload: Any, headers: list[tuple[str, str]]
    ) -> Response:
        if isinstance(payload, dict):
            payload = json.dumps(payload)
        response = Response(payload, status=status_code, headers=headers)
        if response.location:
            origin = origin_under(request.args.get(ASKED_HOST), settings())
            issuer = {"iss": origin + request.path.removeprefix(AUTHORIZE)}
            response.location = add_params_to_uri(response.location, issuer)
            response.status_code = HTTPStatus.SEE_OTHER
            response.headers["Cache-Control"] = "no-store"
        return response


class RevocationEndpoint(BaseRevocationEndpoint):
    """RFC 7009: open to every client; hints are ignored.

    A refresh token ends the connection, as does an access token after which none is left.
    """

    CLIENT_AUTH_METHODS = CLIENT_AUTH_METHODS

    def check_params(self, oauth_request: Any, client: OAuthClient) -> None:
        if "token" not in oauth_request.form:
            raise InvalidRequestError("The parameter token is missing.")

    def query_token(self, token_string: str, _hint: str | None) -> OAuthToken | None:
        return db.session.scalars(
            select(OAuthToken).where(OAuthToken.token_hash == token_hash(token_string))
        ).first()

    def revoke_token(self, token: OAuthToken, _request: Any) -> None:
        now, token_id, grant_id, kind = utc_now(), token.id, token.grant_id, token.kind
        agent = request_audit.agent(token.grant.client.client_id, token.grant.client.name)
        account_id, was_live = token.grant.account_id, _is_live(token)
        with write_transaction():
            if kind is TokenKind.REFRESH or not revoke_access_token(token_id, grant_id, now=now):
                revoke_grant(grant_id, RevokedReason.REVOKED_BY_CLIENT, now=now)
            if was_live:
                add_event(AuditKind.TOKEN_REVOKED, account_id, by=agent, now=now, subject=grant_id)


def _is_live(token: OAuthToken) -> bool:
    return token.revoked_at is None and token.grant.revoked_at is None


def find_client(client_id: str) -> OAuthClient | None:
    """The client with this id unless it is disabled; never fetches a metadata document."""
    if not client_id.isprintable() or not client_id.isascii():
        return None
    return db.session.scalars(
        select(OAuthClient).where(
            OAuthClient.client_id == client_id, OAuthClient.disabled_at.is_(None)
        )
    ).first()


server = Server(query_client=find_client)


def init_app(app: Flask) -> None:
    """Bind the server to `app`."""
    # at DEBUG Authlib writes tokens in clear
    logging.getLogger("authlib").setLevel(logging.WARNING)
    # only tests pin hosts of client documents to this machine (see outbound.Pinned)
    app.config["PINNED_HOSTS"] = ()
    server.init_app(app)


server.register_grant(AuthorizationCodeGrant, [S256Only()])
server.register_grant(RefreshTokenGrant)
server.register_endpoint(RevocationEndpoint)
