"""Alembic on the engine of the running application; the same scripts serve both databases."""

from typing import Any

from alembic import context
from flask import current_app

import webapp.domain.publishing
import webapp.domain.responding
import webapp.oauth.models  # noqa: F401
from webapp.database import UtcDateTime, db


def render_item(kind: str, item: Any, _context: Any) -> str | bool:
    """Our column types stand in migrations as what they are stored as."""
    return "sa.BigInteger()" if kind == "type" and isinstance(item, UtcDateTime) else False


def run() -> None:
    with db.engine.connect() as connection:
        context.configure(
            connection=connection,
            target_metadata=db.metadata,
            render_item=render_item,
            **current_app.extensions["migrate"].configure_args,
        )
        with context.begin_transaction():
            context.run_migrations()


run()
