"""Cookies in browsers, and the session cookie, which programs and respondents do not have."""

from typing import NamedTuple

from flask import Flask, Request, request
from flask.sessions import SecureCookieSession, SecureCookieSessionInterface
from werkzeug.wrappers import Response

from webapp.base.config import settings
from webapp.web.request_kind import PROGRAMS, RequestKind, of_address

COOKIELESS = {*PROGRAMS, RequestKind.RESPONDENT_PAGE, RequestKind.PROBE}


class BrowserCookie(NamedTuple):
    """An HttpOnly, SameSite=Lax cookie; over https it is Secure and its name says so.

    max_age  seconds
    """

    name: str
    max_age: int
    path: str = "/"

    def read(self) -> str:
        """The value in this request, "" without one."""
        return request.cookies.get(self._full_name(), "")

    def keep(self, response: Response, value: str, max_age: int | None = None) -> None:
        """Set the cookie to this value."""
        response.set_cookie(
            self._full_name(),
            value,
            max_age=self.max_age if max_age is None else max_age,
            path=self.path,
            secure=settings().secure,
            httponly=True,
            samesite="Lax",
        )

    def delete(self, response: Response) -> None:
        """Delete the cookie."""
        self.keep(response, "", max_age=0)

    def _full_name(self) -> str:
        """With the prefix that binds the cookie to https (RFC 6265bis, section 4.1.3)."""
        if not settings().secure:
            return self.name
        return f"{'__Host-' if self.path == '/' else '__Secure-'}{self.name}"


class BrowserSessions(SecureCookieSessionInterface):
    """Signed cookies as Flask's own; the API and public links neither read nor need one."""

    def open_session(self, app: Flask, request: Request) -> SecureCookieSession | None:
        """None, a session that refuses to be written, for programs and respondents."""
        if of_address(request.path) in COOKIELESS:
            return None
        return super().open_session(app, request)
