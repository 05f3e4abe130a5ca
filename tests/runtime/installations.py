"""An installation on a database of the test, worked on by commands."""

import shutil
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import pytest
from click.testing import CliRunner, Result
from sqlalchemy import NullPool, create_engine, text

from webapp.app.cli import main
from webapp.app.factory import create_app
from webapp.base.config import Settings
from webapp.base.database import db, schema

PASSWORD = "correct horse battery staple"
NEXT = "9001"
NEXT_STEP = f"""
import sqlalchemy as sa
from alembic import op

revision = "{NEXT}"
down_revision = "{schema.newest()}"
expands = True


def upgrade():
    for table in ("oauth_grants", "drafts", "response_sessions", "forms", "day_counts"):
        op.add_column(table, sa.Column("of_next_version", sa.Integer(), nullable=True))
"""


def next_version(folder: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Commands of this process have one more migration from now on."""
    migrations = folder / "migrations"
    shutil.copytree(schema.MIGRATIONS, migrations)
    (migrations / "versions" / f"{NEXT}.py").write_text(NEXT_STEP)
    monkeypatch.setattr(schema, "MIGRATIONS", migrations)
    monkeypatch.setattr(schema, "revisions", schema.revisions.__wrapped__)


class Installation:
    """Commands on one database of the test."""

    def __init__(self, data: Path, database_url: str) -> None:
        self.data = data
        self.database_url = database_url
        self.variables = {"ASKBACK_DATA": str(data), "DATABASE_URL": database_url}
        self._runner = CliRunner(env=self.variables)

    def __call__(self, *arguments: str) -> Result:
        return self._runner.invoke(main, arguments, input=f"{PASSWORD}\n")

    @contextmanager
    def database(self) -> Iterator[None]:
        """In a context of an application of this process, which holds nothing afterwards."""
        own = {"public_url": "http://127.0.0.1:8000", "secret_key": PASSWORD * 2}
        app = create_app(Settings(database_url=self.database_url, data_folder=self.data, **own))
        with app.app_context():
            yield
            db.session.remove()
            db.engine.dispose()

    def says(self, *statements: str) -> None:
        """Past this program, in one transaction."""
        engine = create_engine(self.database_url, poolclass=NullPool)
        with engine.begin() as connection:
            for statement in statements:
                connection.execute(text(statement))

    def add(self, email: str) -> Result:
        return self("creator", "create", "--email", email, "--password-stdin")

    def knows(self, email: str) -> bool:
        issued = self("token", "issue", "--email", email, "--scope", "forms:read")
        return issued.exit_code == 0
