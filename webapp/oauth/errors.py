"""Errors of the authorization server that Authlib does not have, with their sentences."""

from authlib.oauth2 import OAuth2Error


class InvalidTargetError(OAuth2Error):
    """The requested resource is not one of ours, or there are several (RFC 8707 section 2)."""

    error = "invalid_target"
    is_worded = True
    description = "The resource is not known here, or more than one was named."


class LoginRequired(OAuth2Error):
    """The client wanted no page, but nobody is signed in (OpenID Connect Core 3.1.2.6)."""

    error = "login_required"
    is_worded = True
    description = "Nobody is signed in, and the request forbids to ask."


class ConsentRequired(OAuth2Error):
    """The client wanted no page, but consent is never remembered."""

    error = "consent_required"
    is_worded = True
    description = "Consent is asked each time, and the request forbids to ask."
