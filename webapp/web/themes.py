"""The light or dark theme of pages: the theme of the device, or a choice stored in a cookie.

Only a choice sets the cookie. Pages in an iframe use the theme of the device and set no cookie.
"""

from flask import Flask, Response, g

from webapp.web.browser_cookies import BrowserCookie
from webapp.web.request_kind import posted_by_respondent, says_in_iframe

FIELD = "theme"
SYSTEM = "system"
THEMES = (SYSTEM, "light", "dark")
COOKIE = BrowserCookie("askback_theme", max_age=365 * 24 * 3600)


def init_app(app: Flask) -> None:
    """Give templates the theme, and store the choices of respondents."""
    app.add_template_global(page_theme, "page_theme")
    app.add_template_global(says_in_iframe, "in_iframe")
    app.jinja_env.globals["THEMES"] = THEMES
    app.after_request(_keep_posted)


def page_theme() -> str:
    """Return the theme of the current page, one of THEMES."""
    if "theme" not in g:
        g.theme = SYSTEM if says_in_iframe() else _posted() or _kept()
    return str(g.theme)


def keep(response: Response, theme: str) -> None:
    """Store the theme in a cookie; an invalid value selects the device's theme."""
    if theme not in THEMES or theme == SYSTEM:
        COOKIE.delete(response)
    else:
        COOKIE.keep(response, theme)


def _keep_posted(response: Response) -> Response:
    theme = _posted()
    if theme and theme != _kept() and not says_in_iframe():
        keep(response, theme)
    return response


def _posted() -> str:
    theme = posted_by_respondent().get(FIELD, "")
    return theme if theme in THEMES else ""


def _kept() -> str:
    theme = COOKIE.read()
    return theme if theme in THEMES else SYSTEM
