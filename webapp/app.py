"""The application factory: settings in, a bound Flask application out."""

import logging
from collections.abc import Callable
from functools import cached_property
from pathlib import Path
from typing import Any
from urllib.parse import urlsplit

from flask import Flask, Request
from jinja2 import StrictUndefined
from sqlalchemy.exc import DBAPIError
from werkzeug.routing import MapAdapter

import api
from webapp import (
    assets,
    auditing,
    bodies,
    database,
    faults,
    health,
    hosts,
    languages,
    logs,
    notes,
    openings,
    paths,
    security,
    themes,
    waiting,
)
from webapp.config import Settings, settings
from webapp.database import TRIES, engine_options
from webapp.extensions import csrf, htmx, init_limiter
from webapp.oauth import authorize, protocol, server
from webapp.pages import (
    account,
    activity,
    appearance,
    browsers,
    confirm,
    connections,
    cross_site,
    desk,
    docs,
    downloads,
    drafts,
    elsewhere,
    errors,
    exports,
    filters,
    forms,
    history,
    home,
    inbox,
    privacy,
    questions,
    respond,
    results,
    security_txt,
    sign_in,
    trash,
)
from webapp.sessions import BrowserSessions

__all__ = ["create_app", "settings"]

ROOT = Path(__file__).resolve().parent.parent
ROUTES = (
    health,
    home,
    inbox,
    drafts,
    questions,
    history,
    confirm,
    forms,
    trash,
    results,
    exports,
    connections,
    account,
    activity,
    browsers,
    docs,
    privacy,
    security_txt,
    appearance,
    sign_in,
    authorize,
    protocol,
    respond,
    elsewhere,
)

log = logging.getLogger("askback.requests")


class Application(Flask):
    """Flask without what it does anew for each request and always comes out the same.

    Transactions take their locks in one order, except where an account ends: that locks the account
    before its drafts, and publishing a draft before its account. PostgreSQL ends one of two that
    wait for each other; nothing of it is stored, so the view runs once more.

    So it does when a connection ends before its transaction is committed. A commit whose answer is
    lost is no reason: its connection finds out what became of it. What a view does after its first
    transaction is `tried_again` by itself. A connection may also end under what a view reads to
    answer: run once more, it finds its work done.
    """

    def dispatch_request(self) -> Any:
        """The answer of the view, which runs at most TRIES times."""
        for _ in range(TRIES - 1):
            try:
                return super().dispatch_request()
            except DBAPIError as error:
                if not faults.may_run_again(error):
                    raise
                log.warning("given up by the database, tried again")
                database.release()
        return super().dispatch_request()

    def ensure_sync(self, func: Callable[..., Any]) -> Callable[..., Any]:
        """The function as it is: none of ours is a coroutine."""
        return func

    def create_url_adapter(self, request: Request | None) -> MapAdapter | None:
        """For the addresses of a request; without one, what every request gets besides."""
        return self._outside if request is None else super().create_url_adapter(request)

    @cached_property
    def _outside(self) -> MapAdapter | None:
        return super().create_url_adapter(None)


def create_app(config: Settings) -> Flask:
    """An application on `config`; nothing is started and no schema is changed."""
    app = Application("webapp", template_folder=str(ROOT / "templates"), static_folder=None)
    app.config.update(
        SETTINGS=config,
        SECRET_KEY=config.secret_key,
        # for addresses that are made outside of a request
        SERVER_NAME=urlsplit(config.public_url).netloc,
        PREFERRED_URL_SCHEME=urlsplit(config.public_url).scheme,
        SQLALCHEMY_DATABASE_URI=config.database_url,
        SQLALCHEMY_ENGINE_OPTIONS=engine_options(config.database_url),
    )
    app.jinja_env.undefined = StrictUndefined
    app.session_interface = BrowserSessions()
    paths.init_app(app)
    logs.init_app(app)
    security.init_app(app, config)
    hosts.init_app(app, config)
    database.init_app(app)
    htmx.init_app(app)
    bodies.init_app(app)
    cross_site.init_app(app)
    csrf.init_app(app)
    init_limiter(app, config)
    sign_in.init_app(app, config)
    server.init_app(app)
    languages.init_app(app)
    themes.init_app(app)
    waiting.init_app(app)
    downloads.init_app(app)
    openings.init_app(app)
    notes.init_app(app)
    auditing.init_app(app)
    assets.init_app(app, ROOT / "static")
    filters.init_app(app)
    errors.init_app(app)
    api.init_app(app, elsewhere=protocol.router_refusal(errors.http_problem))
    desk.init_app(app)
    for module in ROUTES:
        app.register_blueprint(module.bp)
    return app
