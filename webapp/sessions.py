"""Browser sessions, which programs do not have."""

from flask import Flask, Request
from flask.sessions import SecureCookieSession, SecureCookieSessionInterface

COOKIELESS = ("/api/", "/healthz", "/readyz")


class BrowserSessions(SecureCookieSessionInterface):
    """Signed cookies as Flask's own; the API neither reads one nor answers differently by it."""

    def open_session(self, app: Flask, request: Request) -> SecureCookieSession | None:
        """None, a session that refuses to be written, for programs."""
        if request.path.startswith(COOKIELESS):
            return None
        return super().open_session(app, request)
