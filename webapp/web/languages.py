"""Selects the language of a page: six for respondents, English for creators.

Only pages under the paths of respondents are translated, and the catalog of each language
(`webapp/translations`) has their messages only. So no page is partly translated. English is the
source language and has no catalog.

The first use of a language compiles its committed `.po` file in memory. Nothing is written, so an
installation may be read-only, and no compiled catalog can be stale.
"""

from contextlib import suppress
from functools import cache
from io import BytesIO
from pathlib import Path
from typing import NamedTuple

from babel.support import NullTranslations, Translations
from flask import Flask, Response, g, has_request_context, request
from flask_babel import Babel, Domain, get_locale

from webapp.web import browser_cookies, request_kind

babel = Babel()
DOMAIN = "respondents"
FOLDER = Path(__file__).parent.parent / "translations"
FIELD = "lang"  # the language of the page, in the query string and in each respondent's form
CHOICE = "language"  # another language that the respondent chooses
VARY = "Accept-Language, Cookie"
# lasts as long as the cookie that leads a browser back to its answers
COOKIE = browser_cookies.BrowserCookie("askback_lang", max_age=30 * 24 * 3600, path="/r")


class Language(NamedTuple):
    """A language: `tag` for HTML (BCP 47), `name` in the language itself, `locale` for Babel."""

    tag: str
    name: str
    locale: str
    direction: str = "ltr"


# British English writes the day before the month; no message has a regional spelling
ENGLISH = Language("en", "English", "en_GB")
LANGUAGES = (
    ENGLISH,
    Language("es", "Español", "es"),
    Language("de", "Deutsch", "de"),
    Language("fr", "Français", "fr"),
    Language("pt-BR", "Português (Brasil)", "pt_BR"),
    Language("ar", "العربية", "ar", "rtl"),
)
_BY_PRIMARY = {language.tag.partition("-")[0]: language for language in LANGUAGES}


class Catalogs(Domain):  # type: ignore[misc]
    """The translations for Flask-Babel: one catalog per process and language."""

    def get_translations(self) -> NullTranslations:
        """Return the catalog of the current page; empty for English or an unreadable file."""
        with suppress(OSError):
            return read_catalog(str(get_locale()))
        return NullTranslations()


def init_app(app: Flask) -> None:
    """Select the language of each page, pass it to templates, set Vary, and remember a choice."""
    babel.init_app(
        app, default_locale=ENGLISH.locale, locale_selector=lambda: page_language().locale
    )
    babel.domain_instance = Catalogs(domain=DOMAIN)
    app.add_template_global(page_language, "page_language")
    app.add_template_global(for_respondents, "for_respondents")
    app.jinja_env.globals["LANGUAGES"] = LANGUAGES
    app.after_request(_add_headers)


def page_language() -> Language:
    """Return the language of the current page, which is selected once per request."""
    if "language" not in g:
        g.language = _named() or _expected() if for_respondents() else ENGLISH
    language: Language = g.language
    return language


def for_respondents() -> bool:
    """Return whether the request is for a respondent page, including error pages."""
    return (
        has_request_context()
        and request_kind.request_kind() is request_kind.RequestKind.RESPONDENT_PAGE
    )


def find_language(tag: str) -> Language | None:
    """Return the language for a tag such as `pt-BR`, `pt_PT` or `PT`; None if unsupported."""
    return _BY_PRIMARY.get(tag.replace("_", "-").partition("-")[0].lower())


@cache
def read_catalog(locale: str) -> NullTranslations:
    """Return the translations of a supported locale; empty if it has no catalog."""
    file = FOLDER / locale / "LC_MESSAGES" / f"{DOMAIN}.po"
    if not file.exists():
        return NullTranslations()
    # imported here to keep the start fast: many processes never need them
    from babel.messages.mofile import write_mo
    from babel.messages.pofile import read_po

    compiled = BytesIO()
    with file.open("rb") as source:
        write_mo(compiled, read_po(source, locale=locale))
    compiled.seek(0)
    return Translations(compiled)


def _named() -> Language | None:
    """Return the language in the query string, else the choice or page language in the form."""
    posted = request_kind.posted_by_respondent()
    named = request.args.get(FIELD, ""), posted.get(CHOICE, ""), posted.get(FIELD, "")
    return next(filter(None, map(find_language, named)), None)


def _expected() -> Language:
    """Return the browser's default: its last choice, else its Accept-Language preference."""
    chosen = find_language(COOKIE.read())
    accepted = (
        find_language(tag) for tag, quality in request_kind.accepted_languages() if quality > 0
    )
    return chosen or next(filter(None, accepted), ENGLISH)


def _add_headers(response: Response) -> Response:
    if for_respondents() and response.mimetype == "text/html":
        response.headers["Content-Language"] = page_language().tag
        before = response.headers.get("Vary")
        response.headers["Vary"] = f"{before}, {VARY}" if before else VARY
        named = _named()
        if named and named is not _expected() and not request_kind.says_in_iframe():
            COOKIE.keep(response, named.tag)
    return response
