"""What commands that work beside running servers share: the application, its settings, a note."""

import os
from collections.abc import Iterator
from contextlib import contextmanager

import click
from sqlalchemy.exc import SQLAlchemyError

from webapp.app import create_app
from webapp.config import Settings
from webapp.config_environment import read_settings
from webapp.data_folder import served_address
from webapp.database import db, utc_now, write_transaction
from webapp.domain.audit.trail import OPERATOR, AuditKind, add_event
from webapp.web.wakeups import changes_told

ADDRESS_VARIABLES = ("PUBLIC_URL", "HOST", "PORT")


@contextmanager
def application() -> Iterator[Settings]:
    """The application context of a command that works beside running servers."""
    settings = settings_of_the_server()
    app = create_app(settings)
    with app.app_context():
        try:
            with changes_told(app):
                yield settings
        finally:
            db.session.remove()
            db.engine.dispose()


def settings_of_the_server() -> Settings:
    """Links and tokens carry the public address: the server's, unless the environment has one."""
    settings = read_settings(os.environ)
    served = served_address(settings.data_folder)
    if served and not any(os.environ.get(name) for name in ADDRESS_VARIABLES):
        return settings.model_copy(update={"public_url": served})
    return settings


def note(kind: AuditKind) -> None:
    """What the operator has done with everything; a database that takes no writes is told."""
    try:
        with write_transaction():
            add_event(kind, None, by=OPERATOR, now=utc_now())
    except SQLAlchemyError:
        click.echo("This was not noted in the audit trail: the database takes no writes.", err=True)
