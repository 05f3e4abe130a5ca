"""Alembic on the engine of the running application; the same scripts serve both databases."""

from contextlib import AbstractContextManager, nullcontext
from typing import Any

from alembic import context
from sqlalchemy import Connection

import webapp.answers.answering
import webapp.drafts.agent_tokens
import webapp.drafts.publishing
import webapp.oauth.models  # noqa: F401
from webapp.base.database import UtcDateTime, db, schema
from webapp.base.database.sqlite import IMMEDIATE


def render_item(kind: str, item: Any, _context: Any) -> str | bool:
    """Migrations have our column types as what they are stored as."""
    return "sa.BigInteger()" if kind == "type" and isinstance(item, UtcDateTime) else False


def connect() -> AbstractContextManager[Connection]:
    """The connection that the caller names, else one to the database of the application."""
    if given := context.config.attributes.get("connection"):
        return nullcontext(given)
    return db.engine.connect().execution_options(**{IMMEDIATE: True})


def run() -> None:
    with connect() as connection:
        context.configure(
            connection=connection,
            target_metadata=db.metadata,
            render_item=render_item,
            transactional_ddl=True,  # as SQLite can, too: all migrations or none
            render_as_batch=True,
        )
        with context.begin_transaction():
            context.run_migrations()
            schema.write_mark(connection)


run()
