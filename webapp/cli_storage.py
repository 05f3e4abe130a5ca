"""Commands for everything that is stored: backup, restore, secrets sealed with a new key."""

from contextlib import suppress
from pathlib import Path

import click
from sqlalchemy.exc import SQLAlchemyError

from webapp.cli_application import application, note, settings_of_the_server
from webapp.data_folder import lock_folder
from webapp.data_keys import sealer
from webapp.database import db, schema
from webapp.domain.audit.trail import AuditKind
from webapp.domain.events.subscriptions.rekeying import rekey as seal_anew
from webapp.integrations.audio_store import audio_store
from webapp.runtime.backup import back_up, restore
from webapp.runtime.backup_recordings import BackupRecordings


@click.command("backup")
@click.argument("file", type=click.Path(path_type=Path))
def backup_to(file: Path) -> None:
    """Write everything that is stored to a new FILE; servers may run meanwhile."""
    with application() as settings:
        recordings = BackupRecordings(audio_store(), settings.data_folder)
        back_up(db.engine.url, file, recordings)
        note(AuditKind.BACKED_UP)
    for line in (f"{file}: {file.stat().st_size} bytes", *recordings.notes()):
        click.echo(line)


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
        recordings = BackupRecordings(audio_store(), settings.data_folder)
        click.echo(restore(db.engine.url, file, settings.data_folder, recordings))
        note(AuditKind.BACKUP_RESTORED)


@click.command()
def rekey() -> None:
    """Encrypt all secrets of callbacks with the first of DATA_KEYS; servers may run meanwhile."""
    with application():
        done = seal_anew(sealer())
        if done.sealed:
            note(AuditKind.REKEYED)
        click.echo(f"{done.read} secrets; {done.sealed} encrypted anew with the first key")
        if done.unopened:
            click.echo(UNOPENED.format(done.unopened), err=True)


UNOPENED = "{} that none of DATA_KEYS opens: nothing is sent there until its agent subscribes again"
