"""Backs up the whole database into one file beside running servers, and restores it."""

import os
from pathlib import Path

from sqlalchemy import URL

from webapp.runtime import backup_sqlite
from webapp.runtime.backup_contents import BackupFailed, free_name

KEPT = "What was there before is kept as {}."


def back_up(url: URL, file: Path) -> None:
    """Write the database behind `url` to a new file, for its owner alone. Raises BackupFailed."""
    try:
        os.close(os.open(file, os.O_WRONLY | os.O_CREAT | os.O_EXCL, 0o600))
    except OSError as error:
        raise BackupFailed(f"{file}: {error.strerror}. Name a file that does not exist.") from error
    try:
        if url.get_backend_name() == "sqlite":
            backup_sqlite.write(Path(url.database or ""), file)
        else:
            from webapp.runtime import backup_postgresql

            backup_postgresql.write(url, file)
    except BaseException:
        file.unlink()
        raise


def restore(url: URL, file: Path, folder: Path) -> str:
    """Restore the database from `file`; returns a line about where the old one is kept.

    No server may run on it: SQLite's is kept away by the lock of its folder, one on PostgreSQL is
    seen by its connections. The schema is the newest one. A process that ends at any moment leaves
    all of the old or all of the new. Raises BackupFailed; needs an application context.
    folder  takes a dump of what PostgreSQL held; a file of SQLite is kept beside the new one
    """
    if not file.is_file():
        raise BackupFailed(f"There is no file {file}.")
    if url.get_backend_name() == "sqlite":
        kept = backup_sqlite.replace(Path(url.database or ""), file)
    else:
        from webapp.runtime import backup_postgresql

        name = free_name(folder / (url.database or "postgresql"))
        kept = backup_postgresql.replace(url, file, name)
    return KEPT.format(kept) if kept else "The database was made."
