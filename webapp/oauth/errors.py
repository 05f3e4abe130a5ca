"""Errors of the authorization server that Authlib does not have, with their sentences."""

from authlib.oauth2 import OAuth2Error


class InvalidTargetError(OAuth2Error):
    """A resource was named that is not ours or was not granted (RFC 8707 section 2)."""

    error = "invalid_target"


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
