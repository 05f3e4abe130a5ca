"""The OAuth consent page: a signed-in creator grants or denies a client access.

The form posts to the address of the request, so the server validates every parameter again.
"""

from http import HTTPStatus
from typing import cast

from authlib.oauth2 import OAuth2Error
from flask import Blueprint, Response, render_template, request
from flask_login import current_user, logout_user

from webapp.base.config import settings
from webapp.base.database import utc_now
from webapp.base.vocabulary import ClientKind, Scope
from webapp.oauth import client_metadata, connections, models, protocol, tokens
from webapp.oauth.registration import Refused, load_document_client, names_document
from webapp.oauth.server import AUTHORIZE, AuthorizationCodeGrant, server
from webapp.pages.creator.request import Acting
from webapp.records.accounts.browser_sessions import end_session
from webapp.records.accounts.models import Account
from webapp.records.audit import AuditKind, AuditOutcome
from webapp.web import extensions, hosts, request_audit, security_headers
from webapp.web.limiter import limiter

REQUESTS = "60/minute"  # each request may fetch a client metadata document, from any host
FORBIDDEN_IN_VALUES = frozenset('"\\')
# RFC 6749 section 3.1: others are ignored, such as OpenID's `claims` and `login_hint`
PARAMETERS = (
    "response_type",
    "client_id",
    "redirect_uri",
    "scope",
    "state",
    "code_challenge",
    "code_challenge_method",
    "resource",
    "prompt",
    hosts.ASKED_HOST,
)
bp = Blueprint("consent", __name__)
limiter.limit(REQUESTS)(bp)


@bp.errorhandler(OAuth2Error)
def oauth_error(error: OAuth2Error) -> Response | tuple[str, int]:
    """Redirect to the client if its redirect URI was validated, else show an error page.

    A client that is not pre-registered chose its own redirect URI. Before its first consent, the
    person sees the host and follows a link there (RFC 9700 section 4.11.2).
    """
    if not error.redirect_uri:
        return _problem(protocol.worded(error).description)
    error.state = request.args.get("state")
    answer = cast(Response, server.handle_error_response(None, error))
    if _may_be_sent_on():
        return answer
    back_to = client_metadata.redirect_host(error.redirect_uri)
    return _problem("", error=error.error, back=answer.location, back_to=back_to)


@bp.errorhandler(Refused)
def refused(refusal: Refused) -> tuple[str, int]:
    """Show an error that must not be redirected to the client."""
    has_document = names_document(request.args.get("client_id", ""))
    return _problem(refusal.description, has_document=has_document)


@bp.before_request
def check_request() -> Response | None:
    """Require visible ASCII and a signed-in creator.

    Authlib cannot echo other characters (RFC 6749 appendix A). `scope` is exempt: a malformed one,
    such as a JSON list, is ignored like an unknown one.
    """
    for name in set(PARAMETERS) - {"scope"}:
        for value in request.values.getlist(name):
            plain = value.isascii() and value.isprintable()
            if not plain or (name != "state" and FORBIDDEN_IN_VALUES & set(value)):
                raise Refused("invalid_request", "The app sent an address that cannot be read.")
    if current_user.is_authenticated:
        return None
    if _asks_nobody():
        grant = cast(AuthorizationCodeGrant, server.get_consent_grant())
        raise OAuth2Error(error="login_required", redirect_uri=grant.redirect_uri)
    return cast(Response, extensions.login.unauthorized())


@bp.get(AUTHORIZE)
@bp.get(f"{AUTHORIZE}/api", strict_slashes=False)
@bp.get(f"{AUTHORIZE}/mcp/app", strict_slashes=False)
def authorize() -> Response | tuple[str, int]:
    """Ask the creator, after sign-in; without a session, fetch no client metadata document."""
    return _consent_page(_asked_grant())


@bp.post(AUTHORIZE)
@bp.post(f"{AUTHORIZE}/api", strict_slashes=False)
@bp.post(f"{AUTHORIZE}/mcp/app", strict_slashes=False)
def decide() -> Response | tuple[str, int]:
    """Redirect to the client with a code, or with access_denied, as the creator decided."""
    if request.form.get("allow") == "switch":
        end_session(current_user.get_id(), now=utc_now(), by=request_audit.creator())
        logout_user()
        return cast(Response, extensions.login.unauthorized())
    grant = _asked_grant()
    if request.form.get("allow") != "yes":
        by = grant.client.named(request_audit.creator())
        act, denied = Acting(now=utc_now(), by=by), AuditOutcome.DENIED
        request_audit.note(AuditKind.CONSENT, _creator().id, **act, outcome=denied)
        return _authlib_response(grant)
    ticked = [scope for scope in _offered(grant) if scope in request.form.getlist("may")]
    if not protocol.name_permission(ticked):
        return _consent_page(grant, nothing_ticked=True)
    # attests_publish is None if the page did not ask whether the agent may publish
    asked = Scope.FORMS_WRITE in grant.request.scope.split()
    may_publish = "trust" in request.form and Scope.FORMS_WRITE in ticked
    grant.allowed_scope, grant.attests_publish = " ".join(ticked), may_publish if asked else None
    return _authlib_response(grant, _creator())


def _authlib_response(grant: AuthorizationCodeGrant, creator: Account | None = None) -> Response:
    """Redirect with a code for the creator's account; without an account, deny access."""
    answer = server.create_authorization_response(
        request=grant.request, grant_user=creator, grant=grant
    )
    return cast(Response, answer)


def _asks_nobody() -> bool:
    return "none" in request.args.get("prompt", "").split()


def _asked_grant() -> AuthorizationCodeGrant:
    """Return the validated authorization request; raises OAuth2Error or Refused."""
    client_id = request.args.get("client_id", "")
    if names_document(client_id):
        if not settings().client_documents:
            raise Refused("invalid_client", "This server does not fetch descriptions of apps.")
        load_document_client(client_id, now=utc_now())
    grant = cast(AuthorizationCodeGrant, server.get_consent_grant(end_user=_creator()))
    if _asks_nobody():
        raise OAuth2Error(error="consent_required", redirect_uri=grant.redirect_uri)
    return grant


def _offered(grant: AuthorizationCodeGrant) -> list[str]:
    """Return the scopes to tick: those requested, and offline_access if the client can refresh."""
    scopes: list[str] = grant.request.scope.split()
    if grant.client.check_grant_type("refresh_token") and Scope.OFFLINE_ACCESS not in scopes:
        scopes.append(Scope.OFFLINE_ACCESS)
    return scopes


def _creator() -> Account:
    return cast(Account, current_user._get_current_object())


def _consent_page(
    grant: AuthorizationCodeGrant, *, nothing_ticked: bool = False
) -> tuple[str, int]:
    security_headers.allow_any_form_action()
    client: models.OAuthClient = grant.client
    page = render_template(
        "oauth/consent.html",
        client=client,
        called=models.NAMELESS.lower() if client.name == models.NAMELESS else client.name,
        scopes=_offered(grant),
        uses_api=settings().api_url in grant.resources,
        uses_mcp=settings().mcp_url in grant.resources,
        going_back_to=client_metadata.redirect_host(grant.redirect_uri),
        host=client_metadata.web_host(grant.redirect_uri),
        on_this_computer=client_metadata.stays_on_this_computer(grant.redirect_uri),
        nothing_ticked=nothing_ticked,
        lasting_days=tokens.GRANT_SECONDS // 86_400,
        ticked=request.form.getlist("may") if nothing_ticked else grant.request.scope.split(),
    )
    return page, HTTPStatus.UNPROCESSABLE_ENTITY if nothing_ticked else HTTPStatus.OK


def _may_be_sent_on() -> bool:
    """Return whether errors redirect to the client without a page in between.

    Pre-registered clients are trusted from the start. A client that registered itself, or whose id
    is the URL of a metadata document, is trusted once the signed-in creator has consented to it.
    """
    client = server.query_client(server.create_oauth2_request(None).payload.client_id)
    if client is None or client.kind is ClientKind.PRE_REGISTERED:
        return client is not None
    return bool(current_user.is_authenticated and connections.has_consented(_creator().id, client))


def _problem(what: str, **more: object) -> tuple[str, int]:
    """Show an error page, whose template lists the variables in `more`."""
    values = {"error": "", "back": "", "back_to": "", "has_document": False} | more
    documents = settings().client_documents
    page = render_template("oauth/problem.html", what=what, client_documents=documents, **values)
    return page, HTTPStatus.BAD_REQUEST
