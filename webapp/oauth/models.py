"""Tables of the authorization server: clients, grants, codes and tokens.

A grant is one consent of one account for one client: a "connected agent".
Codes, tokens and client secrets are stored only as SHA-256 hashes.
"""

import hmac
from datetime import datetime
from typing import Any
from urllib.parse import urlsplit

from authlib.oauth2.rfc6749 import AuthorizationCodeMixin, ClientMixin, TokenMixin
from sqlalchemy import JSON, ForeignKey, Index, String, Text
from sqlalchemy.orm import Mapped, mapped_column, relationship

from webapp.base.database import Base
from webapp.base.text import token_hash
from webapp.base.vocabulary import ClientKind, RevokedReason, Scope, TokenKind
from webapp.oauth.client_metadata import (
    is_loopback,
    is_showable,
    redirect_problem,
    web_host,
    without_port,
)
from webapp.oauth.protocol import PERMISSIONS, name_permission, read_scopes
from webapp.records.audit import Actor

CLIENT_ID_MAX_CHARS = 2048  # a client id may be a URL
NAMELESS = "An app without a name"


class OAuthClient(Base, ClientMixin):
    """A program that may ask for consent. `details` is its metadata after our validation.

    `given_name` is the name that it gave itself, or empty. For a client that registered itself
    without a secret, `created_at` is renewed with later registrations.
    """

    __tablename__ = "oauth_clients"

    id: Mapped[str] = mapped_column(String(40), primary_key=True)
    client_id: Mapped[str] = mapped_column(String(CLIENT_ID_MAX_CHARS), unique=True)
    kind: Mapped[ClientKind]
    given_name: Mapped[str] = mapped_column("name", Text)
    secret_hash: Mapped[str | None] = mapped_column(String(64))
    details: Mapped[dict[str, Any]] = mapped_column(JSON)
    fetched_until: Mapped[datetime | None]
    created_at: Mapped[datetime]
    disabled_at: Mapped[datetime | None]

    @property
    def name(self) -> str:
        """Return the name that creators see: the given one, or the host if that would mislead.

        The operator of this server may give any name.
        """
        if shows_given_name(self.kind, self.given_name):
            return self.given_name
        return self.address or self.redirect_host or NAMELESS

    def named(self, by: Actor) -> Actor:
        """Return the actor with the id and name of this client, for an audit event."""
        return by._replace(client_id=self.client_id, client_name=self.name)

    @property
    def redirect_host(self) -> str | None:
        """Return the host that receives every code for this client; None if there are several.

        Several prove nothing: anybody can register the address of another app with their own.
        """
        hosts = {web_host(uri) for uri in self.redirect_uris}
        return hosts.pop() if len(hosts) == 1 else None

    @property
    def address(self) -> str | None:
        """Return the verified host of a client id that is a URL; it proves only the domain."""
        return urlsplit(self.client_id).hostname if self.kind is ClientKind.DOCUMENT else None

    @property
    def redirect_uris(self) -> list[str]:
        return list(self.details["redirect_uris"])

    def get_default_redirect_uri(self) -> str | None:
        """Return the only registered address; None if the request has to name one.

        It has to with several addresses, and when installs on different ports share one client.
        """
        uris, shared = self.redirect_uris, self.kind is ClientKind.DYNAMIC and not self.secret_hash
        return uris[0] if len(uris) == 1 and not (shared and is_loopback(uris[0])) else None

    def get_allowed_scope(self, scope: str | None) -> str:
        """Return the scopes that a request with this `scope` asks for; the creator may untick any.

        The registered scope sets no limit, because that would break step-up authorization.
        """
        asked = read_scopes(scope)
        if not name_permission(asked):
            asked = [*PERMISSIONS, *asked]
        if not self.check_grant_type("refresh_token"):
            asked = [scope for scope in asked if scope != Scope.OFFLINE_ACCESS]
        return " ".join(asked)

    def check_redirect_uri(self, redirect_uri: str) -> bool:
        """Return whether it is registered, or differs from a loopback one by its port alone.

        In loopback addresses an empty path equals `/` (RFC 3986 section 6.2.3), as in browsers.
        """
        loopback = {without_port(each) for each in self.redirect_uris if is_loopback(each)}
        return redirect_uri in self.redirect_uris or (
            redirect_problem(redirect_uri) is None and without_port(redirect_uri) in loopback
        )

    def check_client_secret(self, client_secret: str) -> bool:
        known = self.secret_hash
        return known is not None and hmac.compare_digest(known, token_hash(client_secret))

    def check_endpoint_auth_method(self, method: str, endpoint: str) -> bool:
        """Allow either secret method for clients with a secret, and only `none` for others."""
        return (method == "none") == (self.secret_hash is None)

    def check_response_type(self, response_type: str) -> bool:
        return response_type == "code"

    def check_grant_type(self, grant_type: str) -> bool:
        return grant_type in self.details["grant_types"]


def shows_given_name(kind: ClientKind, given_name: str) -> bool:
    """Return whether creators see a client under the name that it gave."""
    return kind is ClientKind.PRE_REGISTERED or is_showable(given_name)


class OAuthGrant(Base):
    """One consent; revoking it ends all its tokens. `scope` is what the creator ticked.

    `scope` and `resource` separate their values by spaces.
    `muted_until` of one grant applies to all grants of its client and account.
    """

    __tablename__ = "oauth_grants"

    id: Mapped[str] = mapped_column(String(40), primary_key=True)
    account_id: Mapped[str] = mapped_column(ForeignKey("accounts.id"), index=True)
    client_pk: Mapped[str] = mapped_column(ForeignKey("oauth_clients.id"), index=True)
    resource: Mapped[str] = mapped_column(Text)
    scope: Mapped[str] = mapped_column(Text)
    attests_publish: Mapped[bool] = mapped_column(default=False)
    created_at: Mapped[datetime]
    expires_at: Mapped[datetime]
    last_used_at: Mapped[datetime | None]
    revoked_at: Mapped[datetime | None]
    revoked_reason: Mapped[RevokedReason | None]
    muted_until: Mapped[datetime | None]

    client: Mapped[OAuthClient] = relationship(lazy="joined")


class OAuthCode(Base, AuthorizationCodeMixin):
    """An authorization code; `redirect_uri` is null when the request left it out."""

    __tablename__ = "oauth_codes"
    code_challenge_method = "S256"

    code_hash: Mapped[str] = mapped_column(String(64), primary_key=True)
    grant_id: Mapped[str] = mapped_column(ForeignKey("oauth_grants.id"), index=True)
    redirect_uri: Mapped[str | None] = mapped_column(Text)
    scope: Mapped[str] = mapped_column(Text)
    code_challenge: Mapped[str] = mapped_column(String(128))
    expires_at: Mapped[datetime]
    used_at: Mapped[datetime | None]

    grant: Mapped[OAuthGrant] = relationship(lazy="joined")

    def get_redirect_uri(self) -> str | None:
        return self.redirect_uri


class OAuthToken(Base, TokenMixin):
    """An access or a refresh token; a refresh token is spent once `rotated_at` is set.

    `renews_id` is the id of the spent refresh token that this one replaces; null for the first.
    `resource` is the part of the grant's resources that an access token is for; null for all.
    """

    __tablename__ = "oauth_tokens"
    __table_args__ = (Index("ix_oauth_tokens_expires_at", "expires_at"),)

    id: Mapped[str] = mapped_column(String(40), primary_key=True)
    token_hash: Mapped[str] = mapped_column(String(64), unique=True)
    kind: Mapped[TokenKind]
    grant_id: Mapped[str] = mapped_column(ForeignKey("oauth_grants.id"), index=True)
    scope: Mapped[str] = mapped_column(Text)
    resource: Mapped[str | None] = mapped_column(Text)
    issued_at: Mapped[datetime]
    expires_at: Mapped[datetime]
    revoked_at: Mapped[datetime | None]
    rotated_at: Mapped[datetime | None]
    # no foreign key: the purge deletes tokens in any order
    renews_id: Mapped[str | None] = mapped_column(String(40))

    grant: Mapped[OAuthGrant] = relationship(lazy="joined")

    def check_client(self, client: OAuthClient) -> bool:
        return self.grant.client_pk == client.id
