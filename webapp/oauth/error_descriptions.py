"""Errors of the authorization server as full sentences instead of those of Authlib.

RFC 6749 section 5.2 allows an error_description printable ASCII without `"` and `\\`.
"""

from http import HTTPStatus

from authlib.oauth2 import OAuth2Error
from flask_limiter import RateLimitExceeded
from werkzeug.exceptions import HTTPException, MethodNotAllowed

from webapp.web.rate_limits.limiter import limit_in_words, seconds_to_wait, time_in_words

BODY_MAX_BYTES = 16 * 1024  # our choice
VERIFIER = "has 43 to 128 characters: letters, digits, hyphens, dots, underscores and tildes."
# by the beginning of Authlib's description; those of our own errors are kept
SENTENCES = {
    "Missing 'code' in": "The parameter code is missing.",
    "Invalid 'code' in": (
        "This code is unknown, expired, used or of another client; ask for consent again."
    ),
    "Missing 'redirect_uri' in": (
        "The parameter redirect_uri is missing; a client that registered several has to name one."
    ),
    "Invalid 'redirect_uri' in": "The redirect_uri is not the one that consent was asked with.",
    "Redirect URI ": "The redirect_uri is not one that this client registered.",
    "Missing 'refresh_token' in": "The parameter refresh_token is missing.",
    "Missing 'code_verifier'": "The parameter code_verifier is missing.",
    "Invalid 'code_verifier'": f"The code_verifier {VERIFIER}",
    "Code challenge failed.": (
        "The code_verifier does not fit the code_challenge; ask for consent again."
    ),
    "Invalid 'code_challenge'": f"The code_challenge {VERIFIER}",
    "The client does not exist": "No client is registered here under this client_id.",
    "The client is not authorized to use 'grant_type": (
        "This client did not register for this grant_type."
    ),
    "The client cannot authenticate": (
        "The client's credentials are wrong, or sent in a way that it did not register for."
    ),
}
GENERAL = {
    "access_denied": "The creator did not allow it.",
    "invalid_client": "The client is unknown or did not prove who it is.",
    "invalid_grant": "This token is unknown, expired or revoked; ask for consent again.",
    "invalid_request": "A parameter is missing, malformed or was sent more than once.",
    "invalid_scope": "A scope is unknown here, or wider than what was granted.",
    "unsupported_grant_type": "The grant_type is neither authorization_code nor refresh_token.",
    "unsupported_response_type": "The response_type is not code, the only one offered.",
}
REFUSED = "The request was refused; read the documentation of this server."
UNREADABLE = "The request cannot be read as one of this address."
REFUSALS: dict[int, tuple[str, str]] = {  # by HTTP status
    HTTPStatus.NOT_FOUND: ("invalid_request", "There is nothing at this address."),
    HTTPStatus.METHOD_NOT_ALLOWED: (
        "invalid_request",
        "This address takes {method} requests only.",
    ),
    HTTPStatus.REQUEST_ENTITY_TOO_LARGE: (
        "invalid_request",
        f"The body is larger than {BODY_MAX_BYTES // 1024} KiB.",
    ),
    HTTPStatus.TOO_MANY_REQUESTS: (
        "temporarily_unavailable",
        "Too many requests came from here: {limit}. Try again in {time}.",
    ),
    HTTPStatus.INTERNAL_SERVER_ERROR: (
        "server_error",
        # a request may have stored something before it failed, such as a spent code
        "Something broke on our side. Try again.",
    ),
}


def refusal(kind: type[OAuth2Error], sentence: str, **more: object) -> OAuth2Error:
    """An error with a sentence of ours; `more` as the error takes it."""
    error = kind(description=sentence, **more)
    error.is_worded = True
    return error


def worded(error: OAuth2Error) -> OAuth2Error:
    """The same error, described by a sentence of ours."""
    if not getattr(error, "is_worded", False):
        description = error.description or ""
        error.description = next(
            (ours for theirs, ours in SENTENCES.items() if description.startswith(theirs)),
            GENERAL.get(error.error, REFUSED),
        )
        error.is_worded = True
    return error


def described(error: HTTPException) -> tuple[str, str]:
    """`error` and `error_description` of what Flask, the router or a rate limit refused."""
    code, description = REFUSALS.get(error.code or 400, ("invalid_request", UNREADABLE))
    if isinstance(error, RateLimitExceeded):
        time = time_in_words(seconds_to_wait(error))
        description = description.format(limit=limit_in_words(error), time=time)
    if isinstance(error, MethodNotAllowed):
        method = "POST" if "POST" in (error.valid_methods or ()) else "GET"
        description = description.format(method=method)
    return code, description
