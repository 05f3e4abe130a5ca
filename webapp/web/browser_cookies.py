"""Browser sessions, which programs and respondents do not have."""

from flask import Flask, Request
from flask.sessions import SecureCookieSession, SecureCookieSessionInterface

COOKIELESS = ("/api/", "/r/", "/healthz", "/readyz")


class BrowserSessions(SecureCookieSessionInterface):
    """Signed cookies as Flask's own; the API and public links neither read nor need one."""

    def open_session(self, app: Flask, request: Request) -> SecureCookieSession | None:
        """None, a session that refuses to be written, for programs and respondents."""
        if request.path.startswith(COOKIELESS):
            return None
        return super().open_session(app, request)
