"""The application factory: builds a Flask application from settings."""

from pathlib import Path
from typing import Any
from urllib.parse import urlsplit

from flask import Blueprint, Flask, Response
from jinja2 import StrictUndefined
from werkzeug.exceptions import HTTPException
from werkzeug.utils import find_modules, import_string

import api
from jobs import queue
from webapp.base import database
from webapp.base.config import Settings
from webapp.oauth import endpoints as oauth_endpoints
from webapp.pages import errors, filters
from webapp.pages.creator import sign_in
from webapp.pages.public import site
from webapp.pages.respondent import error_handling, routes as respondent_routes
from webapp.voice import audio_store
from webapp.web import (
    assets,
    deferred_writes,
    form_body_limits,
    health,
    hosts,
    languages,
    logs,
    request_audit,
    request_kind,
    security_headers,
    themes,
    url_converters,
    wakeups,
)
from webapp.web.browser_cookies import BrowserSessions
from webapp.web.extensions import csrf, htmx
from webapp.web.limiter import init_limiter
from webapp.web.request_kind import PROGRAMS, RequestKind

ROOT = Path(__file__).resolve().parents[2]
PAGES = {
    "webapp.pages.creator": RequestKind.CREATOR_PAGE,
    "webapp.pages.public": RequestKind.PUBLIC_PAGE,
    "webapp.pages.respondent": RequestKind.RESPONDENT_PAGE,
}
OTHERS = {
    health.bp: RequestKind.PROBE,
    oauth_endpoints.bp: RequestKind.OAUTH,
    site.about_bp: RequestKind.RESPONDENT_PAGE,
}


class Application(Flask):
    """Flask that runs a view again if the database aborted its transaction in favour of others.

    Transactions take their locks in one order, with one exception: closing an account locks it
    before its drafts, and publishing a draft locks the draft before the account. PostgreSQL aborts
    one of two transactions that wait for each other; it stores nothing, so the view runs once more.

    The view also runs again if a connection ends before its transaction commits. A lost reply to a
    commit is no reason, because the connection finds out the outcome. Later transactions of a view
    use `tried_again` themselves. If the connection ends while a view reads for its response, the
    second run finds the work done.
    """

    @database.tried_again
    def dispatch_request(self) -> Any:
        """Return the response of the view."""
        return super().dispatch_request()


def create_app(config: Settings) -> Flask:
    """Return an application for `config`; starts nothing and does not change the schema."""
    app = Application("webapp", template_folder=str(ROOT / "templates"), static_folder=None)
    app.config.update(
        SETTINGS=config,
        SECRET_KEY=config.secret_key,
        # for URLs that are built outside a request
        SERVER_NAME=urlsplit(config.public_url).netloc,
        PREFERRED_URL_SCHEME=urlsplit(config.public_url).scheme,
        SQLALCHEMY_DATABASE_URI=config.database_url,
        SQLALCHEMY_ENGINE_OPTIONS=database.engine_options(config.database_url),
    )
    app.jinja_env.undefined = StrictUndefined
    app.session_interface = BrowserSessions()
    url_converters.init_app(app)
    logs.init_app(app)
    security_headers.init_app(app)
    hosts.init_app(app, config)
    database.init_app(app)
    audio_store.init_app(app, config)
    with request_kind.hooks_without(app, PROGRAMS):
        htmx.init_app(app)
        form_body_limits.init_app(app)
        error_handling.init_app(app)
        respondent_routes.init_app(app)
        csrf.init_app(app)
        init_limiter(app, config)
        sign_in.init_app(app, config)
        languages.init_app(app)
        themes.init_app(app)
    wakeups.init_app(app)
    queue.init_app(app, config)
    assets.init_app(app, ROOT / "static")
    for module in (deferred_writes, request_audit, filters, errors):
        module.init_app(app)
    api.init_app(app)
    refusals = api.ROUTER_REFUSALS | {RequestKind.OAUTH: oauth_endpoints.router_refusal}

    @app.errorhandler(HTTPException)
    def refused(error: HTTPException) -> Response:
        return refusals.get(request_kind.request_kind(), errors.http_problem)(error)

    pages = {bp: kind for package, kind in PAGES.items() for bp in _blueprints(package)}
    for blueprint, kind in (pages | OTHERS).items():
        request_kind.register(app, blueprint, kind)
    return app


def _blueprints(package: str) -> list[Blueprint]:
    """Return the blueprints of all modules of a package."""
    modules = [import_string(name) for name in find_modules(package)]
    found = [value for module in modules for value in vars(module).values()]
    return [value for value in found if isinstance(value, Blueprint)]
