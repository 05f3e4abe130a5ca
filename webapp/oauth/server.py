"""The authorization server: Authlib with our storage, issuer and responses.

It serves authorization codes, refresh tokens (RFC 6749, 7636, 8707) and revocation (RFC 7009).
Authlib parses and validates requests. This module does all the writes, because one conditional
update has to spend a code or refresh token: two concurrent requests may carry the same one.
"""

import logging
from collections.abc import Collection
from datetime import datetime, timedelta
from http import HTTPStatus
from typing import Any, cast

from authlib.common.urls import add_params_to_uri
from authlib.integrations.flask_oauth2 import AuthorizationServer
from authlib.integrations.flask_oauth2.requests import FlaskOAuth2Payload, FlaskOAuth2Request
from authlib.oauth2 import OAuth2Error, OAuth2Request, rfc6749
from authlib.oauth2.rfc7009 import RevocationEndpoint as BaseRevocationEndpoint
from authlib.oauth2.rfc7636 import CodeChallenge
from flask import Response, request
from sqlalchemy import exists, select, update
from sqlalchemy.orm import aliased

from webapp.base import config, text
from webapp.base.database import db, execute, utc_now, write_transaction
from webapp.base.vocabulary import RevokedReason, Scope, TokenKind
from webapp.oauth import protocol, registration, tokens
from webapp.oauth.connections import add_grant_event, set_trust
from webapp.oauth.models import OAuthClient, OAuthCode, OAuthGrant, OAuthToken
from webapp.records.accounts.models import Account
from webapp.records.audit import AuditKind
from webapp.web import hosts, request_audit

UNKNOWN_CODE = "Invalid 'code' in request."  # Authlib's words for a code that it does not find
# how long a spent refresh token still works for parallel refreshes, if its successor is unused
REFRESH_GRACE_SECONDS = 120

TokenResponse = tuple[int, dict[str, Any], list[tuple[str, str]]]


class S256Only(CodeChallenge):
    """PKCE with S256, required from every client; `plain` is refused (RFC 9700 section 2.1.1)."""

    def validate_code_challenge(self, grant: Any, redirect_uri: str) -> None:
        given = grant.request.payload.data
        if not given.get("code_challenge"):
            raise rfc6749.InvalidRequestError("The parameter code_challenge is missing.")
        if given.get("code_challenge_method") != "S256":
            raise rfc6749.InvalidRequestError("The code_challenge_method has to be S256.")
        super().validate_code_challenge(grant, redirect_uri)


class AuthorizationCodeGrant(rfc6749.grants.AuthorizationCodeGrant):
    """The code grant. A code works once, so that a thief has one attempt to guess the verifier.

    The transaction that adds the tokens spends the code. A refused request spends it, too, before
    the refusal is sent. If the database fails, the code stays valid.
    """

    TOKEN_ENDPOINT_AUTH_METHODS = registration.AUTH_METHODS
    # set by an authorization request; the trust is None if the page did not ask for it
    allowed_scope: str
    attests_publish: bool | None
    resources: list[str]
    audience: str | None  # set by a token request
    code: OAuthCode | None = None  # belongs to this client, in any state
    refused: OAuth2Error | None = None  # sent once the code is spent

    def validate_authorization_request(self) -> str:
        redirect_uri: str = super().validate_authorization_request()
        self.resources = _asked_resources(protocol.served_resources(), redirect_uri)
        return redirect_uri

    def generate_authorization_code(self) -> str:
        return protocol.new_secret(protocol.CODE_PREFIX)

    def save_authorization_code(self, code: str, request: Any) -> None:
        now = utc_now()
        with write_transaction():
            scope, resource = self.allowed_scope, " ".join(self.resources)
            grant = tokens.add_grant(request.user.id, request.client, scope, resource, now=now)
            db.session.add(
                OAuthCode(
                    code_hash=text.token_hash(code),
                    grant_id=grant.id,
                    redirect_uri=request.payload.redirect_uri,
                    scope=_response_scope(scope, request.payload.scope),
                    code_challenge=request.payload.data["code_challenge"],
                    expires_at=now + timedelta(seconds=tokens.CODE_SECONDS),
                )
            )
            add_grant_event(AuditKind.CONSENT, grant, request_audit.creator(), now)
            if self.attests_publish is not None:
                grant.attests_publish = self.attests_publish
                set_trust(grant, allowed=self.attests_publish, now=now, by=request_audit.creator())

    def query_authorization_code(self, code: str, client: OAuthClient) -> OAuthCode | None:
        """Return the code, spent or not; None if it is unknown, expired or another client's."""
        if not protocol.looks_like(protocol.CODE_PREFIX, code):
            return None
        found = db.session.get(OAuthCode, text.token_hash(code))
        if found is None or found.grant.client_pk != client.id:
            return None
        self.code = found
        return found if found.expires_at > utc_now() else None

    def validate_token_request(self) -> None:
        """Check everything except whether the code is spent; keep the refusal of a known code."""
        try:
            super().validate_token_request()
            self.audience = _narrowed(self.request.authorization_code.grant)
        except OAuth2Error as error:
            if self.code is None:
                raise
            self.refused = error

    def create_token_response(self) -> TokenResponse:
        """Spend the code even if a check failed, commit, and then raise the kept refusal."""
        code = cast(OAuthCode, self.code)
        code_hash, grant_id, scope = code.code_hash, code.grant_id, code.scope
        refresh_scope = scope if Scope.OFFLINE_ACCESS in code.grant.scope.split() else None
        with write_transaction():
            unused = (OAuthCode.code_hash == code_hash, OAuthCode.used_at.is_(None))
            if not execute(update(OAuthCode).where(*unused).values(used_at=utc_now())).rowcount:
                _end_reused(grant_id, RevokedReason.CODE_REUSE, AuditKind.CODE_REUSED)
                self.refused = rfc6749.InvalidGrantError(UNKNOWN_CODE)
            if self.refused is None:
                grant = _live_grant(grant_id)
                body = _token_body(grant, scope, refresh_scope, self.audience)
                _add_event(AuditKind.TOKEN_ISSUED, grant)
        if self.refused is not None:
            raise self.refused
        return 200, body, self.TOKEN_RESPONSE_HEADER


class RefreshTokenGrant(rfc6749.grants.RefreshTokenGrant):
    """The grant of refresh tokens, with rotation: reuse of a spent token ends the connection.

    Clients refresh in parallel, so within the grace window a spent token works until its successor
    is used.
    """

    TOKEN_ENDPOINT_AUTH_METHODS = registration.AUTH_METHODS
    scope: str
    audience: str | None

    def authenticate_refresh_token(self, refresh_token: str) -> OAuthToken | None:
        if not protocol.looks_like(protocol.REFRESH_PREFIX, refresh_token):
            return None
        known = OAuthToken.token_hash == text.token_hash(refresh_token)
        works = OAuthToken.revoked_at.is_(None) & (OAuthToken.expires_at > utc_now())
        found = select(OAuthToken).where(known, works, OAuthToken.kind == TokenKind.REFRESH)
        return db.session.scalars(found).first()

    def validate_token_request(self) -> None:
        super().validate_token_request()
        self.audience = _narrowed(self.request.refresh_token.grant)

    def _validate_token_scope(self, token: OAuthToken) -> None:
        """Narrow the request to the granted scopes (RFC 6749 section 3.3); Authlib would refuse it.

        Clients repeat the scopes of their first request, and the creator may have unticked some.
        Raises InvalidScopeError when nothing is left.
        """
        granted, asked = token.scope.split(), protocol.read_scopes(self.request.payload.scope)
        if protocol.name_permission(asked):
            granted = [scope for scope in granted if scope in asked]
        if not protocol.name_permission(granted):
            sentence = f"Granted is the scope {token.scope}; ask for consent again."
            raise rfc6749.InvalidScopeError(sentence)
        self.scope = " ".join(granted)

    def create_token_response(self) -> TokenResponse:
        spent: OAuthToken = self.request.refresh_token
        token_id, grant_id, granted = spent.id, spent.grant_id, spent.scope
        with write_transaction():
            grant, now = _live_grant(grant_id), utc_now()  # the time is read under the lock
            unused = (OAuthToken.id == token_id, OAuthToken.rotated_at.is_(None))
            first_use = execute(update(OAuthToken).where(*unused).values(rotated_at=now)).rowcount
            works = first_use or _is_parallel(token_id, now)
            if works:
                # RFC 6749 section 6: the new refresh token keeps the whole scope
                body = _token_body(grant, self.scope, granted, self.audience, renews_id=token_id)
                _add_event(AuditKind.TOKEN_REFRESHED, grant)
            else:
                _end_reused(grant_id, RevokedReason.REFRESH_REUSE, AuditKind.TOKEN_REUSED)
        if not works:  # after the commit: an exception would undo the end of the connection
            sentence = "This refresh token was used before; ask for consent again."
            raise rfc6749.InvalidGrantError(sentence)
        return 200, body, self.TOKEN_RESPONSE_HEADER


def _response_scope(granted: str, requested: str | None) -> str:
    """Return the scope that the token response names.

    Official SDKs refuse a scope that they did not request. So the response leaves out an
    `offline_access` that only the creator ticked; the refresh token implies it.
    """
    named = protocol.read_scopes(requested)
    if Scope.OFFLINE_ACCESS in named or not protocol.name_permission(named):
        return granted
    return " ".join(scope for scope in granted.split() if scope != Scope.OFFLINE_ACCESS)


def _asked_resources(among: Collection[str], redirect_uri: str | None = None) -> list[str]:
    """Return the resources in `among` that the request names, or all if it names none.

    Raises `invalid_target` (RFC 8707 section 2) for a name that matches none of them.
    """
    # RFC 6749 section 3.1: a parameter without a value counts as omitted
    names = [name for name in request.values.getlist("resource") if name]
    meant = [protocol.named_resources(name).intersection(among) for name in names]
    if not all(meant):
        sentence = f"The resource has to be {' or '.join(among)}, or left out."
        raise OAuth2Error(sentence, error="invalid_target", redirect_uri=redirect_uri)
    return [resource for resource in among if not meant or any(resource in each for each in meant)]


def _narrowed(grant: OAuthGrant) -> str | None:
    """Return the resources of a new token, None for all granted. Raises `invalid_target`."""
    granted = grant.resource.split()
    served = [resource for resource in granted if resource in protocol.served_resources()]
    if not served:
        sentence = f"{grant.resource} is no longer served here; ask for consent again."
        raise OAuth2Error(sentence, error="invalid_target")
    asked = _asked_resources(served)
    return None if asked == granted else " ".join(asked)


def _end_reused(grant_id: str, reason: RevokedReason, kind: AuditKind) -> None:
    if tokens.revoke_grants(OAuthGrant.id == grant_id, reason, now=utc_now()):
        _add_event(kind, db.session.get_one(OAuthGrant, grant_id))


def _is_parallel(token_id: str, now: datetime) -> bool:
    """Return whether a spent token still works: in the grace window, with every successor unused.

    Once a client uses a successor, it has received a response and needs the spent token no more.
    """
    grace = timedelta(seconds=REFRESH_GRACE_SECONDS)
    successor = aliased(OAuthToken)
    used_on = exists().where(successor.renews_id == token_id, successor.rotated_at.is_not(None))
    in_time = select(OAuthToken.id).where(
        OAuthToken.id == token_id, OAuthToken.rotated_at > now - grace, ~used_on
    )
    return db.session.scalar(in_time) is not None


def _add_event(kind: AuditKind, grant: OAuthGrant) -> None:
    agent = request_audit.agent(grant.client.client_id, grant.client.name)
    add_grant_event(kind, grant, agent, utc_now())


def _live_grant(grant_id: str) -> OAuthGrant:
    """Return the grant, locked for this transaction. Raises InvalidGrantError if it is not live."""
    locked = {"of": OAuthGrant}
    grant = db.session.get_one(OAuthGrant, grant_id, with_for_update=locked, populate_existing=True)
    if grant.revoked_at is not None or grant.expires_at <= utc_now():
        raise rfc6749.InvalidGrantError("This connection has ended; ask for consent again.")
    if db.session.scalar(select(Account.disabled_at).where(Account.id == grant.account_id)):
        raise rfc6749.InvalidGrantError("The account of this connection is switched off.")
    return grant


def _token_body(
    grant: OAuthGrant,
    scope: str,
    refresh_scope: str | None,
    audience: str | None,
    *,
    renews_id: str | None = None,
) -> dict[str, Any]:
    """Add new tokens to the session, and return the response body (RFC 6749 section 5.1).

    Only the access token is narrowed to `audience`: a refresh token keeps all granted resources.
    """
    now = utc_now()
    lasts = min(tokens.LIFETIMES[TokenKind.ACCESS], grant.expires_at - now)
    token = tokens.add_token(grant, TokenKind.ACCESS, scope, resource=audience, now=now)
    body: dict[str, Any] = {
        "token_type": "Bearer",
        "access_token": token,
        "expires_in": int(lasts.total_seconds()),
        "scope": scope,
    }
    if refresh_scope is not None:
        body["refresh_token"] = tokens.add_token(
            grant, TokenKind.REFRESH, refresh_scope, renews_id=renews_id, now=now
        )
    return body


AUTHORIZE = "/oauth/authorize"  # may be followed by the path of a resource, as in the issuer


class Request(FlaskOAuth2Request):
    """The Flask request for Authlib, with the configured public address.

    Authlib refuses addresses with plain http, which `request.url` shows behind a proxy.
    """

    def __init__(self) -> None:
        address = config.settings().public_url + request.path
        OAuth2Request.__init__(self, request.method, address, headers=request.headers)
        self._request, self.payload = request, FlaskOAuth2Payload(request)


class Server(AuthorizationServer):
    """A server that adds its issuer to redirects (RFC 9207) and uses 303 (RFC 9700 4.12)."""

    def create_oauth2_request(self, _request: Any) -> Request:
        return Request()

    def handle_error_response(self, request: Any, error: OAuth2Error) -> Any:
        if isinstance(error, rfc6749.InvalidClientError):  # hosts register again only after a 401
            error.status_code = HTTPStatus.UNAUTHORIZED
        return super().handle_error_response(request, protocol.worded(error))

    def handle_response(self, *reply: Any) -> Response:
        response = cast(Response, super().handle_response(*reply))
        if response.location:
            origin = hosts.origin_under(request.args.get(hosts.ASKED_HOST))
            issuer = {"iss": origin + request.path.removeprefix(AUTHORIZE)}
            response.location = add_params_to_uri(response.location, issuer)
            response.status_code = HTTPStatus.SEE_OTHER
            response.headers["Cache-Control"] = "no-store"
        return response


class RevocationEndpoint(BaseRevocationEndpoint):
    """Revocation (RFC 7009), open to every client; token hints are ignored.

    Revoking a refresh token, or the last token that works, ends the connection.
    """

    CLIENT_AUTH_METHODS = registration.AUTH_METHODS

    def check_params(self, oauth_request: Any, client: OAuthClient) -> None:
        if "token" not in oauth_request.form:
            raise rfc6749.InvalidRequestError("The parameter token is missing.")

    def query_token(self, token_string: str, _hint: str | None) -> OAuthToken | None:
        return db.session.scalars(
            select(OAuthToken).where(OAuthToken.token_hash == text.token_hash(token_string))
        ).first()

    def revoke_token(self, token: OAuthToken, _request: Any) -> None:
        now, token_id, grant_id, kind = utc_now(), token.id, token.grant_id, token.kind
        was_live = token.revoked_at is None and token.grant.revoked_at is None
        with write_transaction():
            if kind is TokenKind.ACCESS:
                execute(update(OAuthToken).where(OAuthToken.id == token_id).values(revoked_at=now))
            others = select(exists().where(OAuthGrant.id == grant_id, tokens.has_token(now)))
            if kind is TokenKind.REFRESH or not db.session.scalar(others):
                mine, reason = OAuthGrant.id == grant_id, RevokedReason.REVOKED_BY_CLIENT
                tokens.revoke_grants(mine, reason, now=now)
            if was_live:
                _add_event(AuditKind.TOKEN_REVOKED, db.session.get_one(OAuthGrant, grant_id))


def find_client(client_id: str) -> OAuthClient | None:
    """Return the client with this id unless it is disabled; never fetch a metadata document."""
    found = select(OAuthClient).where(OAuthClient.client_id == client_id)
    return db.session.scalars(found.where(OAuthClient.disabled_at.is_(None))).first()


server = Server(query_client=find_client)
server.register_grant(AuthorizationCodeGrant, [S256Only()])
server.register_grant(RefreshTokenGrant)
server.register_endpoint(RevocationEndpoint)
logging.getLogger("authlib").setLevel(logging.WARNING)  # it logs tokens at DEBUG
