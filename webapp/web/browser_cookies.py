"""Cookies of browsers, and the session cookie, which programs and respondents do not get."""

from typing import NamedTuple

from flask import Flask, Request, request
from flask.sessions import SecureCookieSession, SecureCookieSessionInterface
from werkzeug.wrappers import Response

from webapp.base.config import settings
from webapp.web.request_kind import PROGRAMS, RequestKind, of_address

COOKIELESS = {*PROGRAMS, RequestKind.RESPONDENT_PAGE, RequestKind.PROBE}


class BrowserCookie(NamedTuple):
    """An HttpOnly, SameSite=Lax cookie; over https it is Secure, and its name has a prefix.

    max_age  in seconds
    """

    name: str
    max_age: int
    path: str = "/"

    def read(self) -> str:
        """Return the value in this request; "" without one."""
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
        """Return the name with the prefix that binds it to https (RFC 6265bis section 4.1.3)."""
        if not settings().secure:
            return self.name
        return f"{'__Host-' if self.path == '/' else '__Secure-'}{self.name}"


class BrowserSessions(SecureCookieSessionInterface):
    """Flask's signed session cookies, but not for the API and public links, which need none."""

    def open_session(self, app: Flask, request: Request) -> SecureCookieSession | None:
        """Open the session; None for programs and respondents, which makes writes fail."""
        if of_address(request.path) in COOKIELESS:
            return None
        return super().open_session(app, request)
