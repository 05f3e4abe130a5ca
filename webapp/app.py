"""The application factory: settings in, a bound Flask application out."""

from pathlib import Path
from typing import cast

from flask import Flask, current_app
from jinja2 import StrictUndefined

from webapp.config import Settings
from webapp.database import db, prepare_engine
from webapp.extensions import csrf, htmx, login, migrate

ROOT = Path(__file__).resolve().parent.parent


def create_app(settings: Settings) -> Flask:
    """An application on `settings`; nothing is started and no schema is changed."""
    app = Flask(
        "webapp", template_folder=str(ROOT / "templates"), static_folder=str(ROOT / "static")
    )
    app.config.update(
        SETTINGS=settings,
        SECRET_KEY=settings.secret_key,
        SQLALCHEMY_DATABASE_URI=settings.database_url,
    )
    app.jinja_env.undefined = StrictUndefined
    db.init_app(app)
    with app.app_context():
        prepare_engine(db.engine)
    migrate.init_app(app, db, directory=str(ROOT / "webapp" / "migrations"))
    csrf.init_app(app)
    htmx.init_app(app)
    login.init_app(app)
    return app


def settings() -> Settings:
    """The settings of the current application."""
    return cast(Settings, current_app.config["SETTINGS"])
