"""Commands that write a backup of everything that is stored, and put it back."""

from contextlib import suppress
from pathlib import Path

import click
from sqlalchemy.exc import SQLAlchemyError

from webapp.cli_application import application, note, settings_of_the_server
from webapp.data_folder import lock_folder
from webapp.database import db, schema
from webapp.domain.audit.trail import AuditKind
from webapp.runtime.backup import back_up, restore


@click.command("backup")
@click.argument("file", type=click.Path(path_type=Path))
def backup_to(file: Path) -> None:
    """Write everything that is stored to a new FILE; servers may run meanwhile."""
    with application():
        back_up(db.engine.url, file)
        note(AuditKind.BACKED_UP)
    click.echo(f"{file}: {file.stat().st_size} bytes")


@click.command("restore")
@click.argument("file", type=click.Path(path_type=Path))
@click.option("--yes", is_flag=True, help="Do not ask.")
def restore_from(file: Path, *, yes: bool) -> None:
    """Replace everything that is stored by what FILE holds; no server may run."""
    settings = settings_of_the_server()
    if not yes:
        click.confirm(f"Replace the database of {settings.public_url}?", abort=True)
    with lock_folder(settings.data_folder, settings.public_url), application():
        with suppress(SQLAlchemyError):  # a database that is beyond reading
            schema.require_known()
        db.engine.dispose()
        click.echo(restore(db.engine.url, file, settings.data_folder))
        note(AuditKind.BACKUP_RESTORED)
