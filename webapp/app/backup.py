"""Backs up the whole database into one file beside running servers, and restores it."""

import os
from pathlib import Path

from sqlalchemy import URL

from webapp.app import backup_sqlite
from webapp.app.backup_files import BackupFailed, BackupRecordings, free_name

KEPT = "What was there before is kept as {}."


def back_up(url: URL, file: Path, recordings: BackupRecordings) -> None:
    """Write the database at `url` to a new file with mode 0600. Raises BackupFailed."""
    try:
        os.close(os.open(file, os.O_WRONLY | os.O_CREAT | os.O_EXCL, 0o600))
    except OSError as error:
        raise BackupFailed(f"{file}: {error.strerror}. Name a file that does not exist.") from error
    try:
        if url.get_backend_name() == "sqlite":
            backup_sqlite.write(Path(url.database or ""), file, recordings)
        else:
            from webapp.app import backup_postgresql

            backup_postgresql.write(url, file, recordings)
    except BaseException:
        file.unlink()
        raise


def restore(url: URL, file: Path, folder: Path, recordings: BackupRecordings) -> str:
    """Restore the database from `file`; returns a line about where the old one is kept.

    No server may use it: on SQLite the lock of the data folder prevents that, on PostgreSQL other
    connections are detected. The result has the newest schema. The restore is atomic, even if the
    process is killed: recordings, which come first, belong to nothing before its end. Raises
    BackupFailed; needs an application context.
    folder  where the dump of a replaced PostgreSQL database goes; a SQLite file is kept next to the
            new one
    """
    if not file.is_file():
        raise BackupFailed(f"There is no file {file}.")
    if url.get_backend_name() == "sqlite":
        kept = backup_sqlite.replace(Path(url.database or ""), file, recordings)
    else:
        from webapp.app import backup_postgresql

        name = free_name(folder / (url.database or "postgresql"))
        kept = backup_postgresql.replace(url, file, name, recordings)
    return KEPT.format(kept) if kept else "The database was made."
