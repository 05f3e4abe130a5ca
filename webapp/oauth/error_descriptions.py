"""Errors of the authorization server as full sentences instead of those of Authlib.

RFC 6749 section 5.2 allows an error_description printable ASCII without `"` and `\\`.
"""

from authlib.oauth2 import OAuth2Error

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
