"""The application factory: settings in, a bound Flask application out."""

from pathlib import Path

from flask import Flask
from jinja2 import StrictUndefined

import api
from webapp import assets, health, security, waiting
from webapp.config import Settings, settings
from webapp.database import db, prepare_engine
from webapp.extensions import babel, csrf, htmx, init_limiter, login, migrate
from webapp.pages import (
    confirm,
    desk,
    drafts,
    errors,
    filters,
    forms,
    home,
    questions,
    respond,
)

__all__ = ["create_app", "settings"]

ROOT = Path(__file__).resolve().parent.parent
BLUEPRINTS = (health.bp, home.bp, drafts.bp, questions.bp, confirm.bp, forms.bp, respond.bp)


def create_app(config: Settings) -> Flask:
    """An application on `config`; nothing is started and no schema is changed."""
    app = Flask("webapp", template_folder=str(ROOT / "templates"), static_folder=None)
    app.config.update(
        SETTINGS=config,
        SECRET_KEY=config.secret_key,
        SQLALCHEMY_DATABASE_URI=config.database_url,
    )
    app.jinja_env.undefined = StrictUndefined
    security.init_app(app, config)
    db.init_app(app)
    with app.app_context():
        prepare_engine(db.engine)
    migrate.init_app(app, db, directory=str(ROOT / "webapp" / "migrations"))
    csrf.init_app(app)
    htmx.init_app(app)
    init_limiter(app, config)
    login.init_app(app)
    babel.init_app(app)
    waiting.init_app(app)
    assets.init_app(app, ROOT / "static")
    filters.init_app(app)
    errors.init_app(app)
    api.init_app(app, elsewhere=errors.http_problem)
    desk.init_app(app)
    for blueprint in BLUEPRINTS:
        app.register_blueprint(blueprint)
    return app
