"""Detects failures caused by a full disk."""

import errno
import os
import sqlite3
from collections.abc import Iterator
from pathlib import Path

EXIT_TEMPORARY = 75  # sysexits.h, EX_TEMPFAIL
DISK_FULL = "53100"  # SQLSTATE of PostgreSQL
# what SQLite reports instead of SQLITE_FULL when it cannot create or extend a journal or log
UNCLEAR = {sqlite3.SQLITE_IOERR, sqlite3.SQLITE_CANTOPEN}
LITTLE_BYTES = 256 * 1024


def is_full(error: BaseException, folder: Path) -> bool:
    """Whether `error` or one of its causes is a full disk.

    folder  where the database is: its free space is checked when the error is ambiguous
    """
    return any(_says_full(each, folder) for each in _causes(error))


def _causes(error: BaseException | None) -> Iterator[BaseException]:
    while error is not None:
        yield error
        driver = getattr(error, "orig", None)
        if isinstance(driver, BaseException):
            yield driver
        error = error.__cause__ or error.__context__


def _says_full(error: BaseException, folder: Path) -> bool:
    if isinstance(error, OSError):
        return error.errno in {errno.ENOSPC, errno.EDQUOT}
    code = getattr(error, "sqlite_errorcode", 0) & 0xFF
    if code in UNCLEAR:
        return _free_bytes(folder) < LITTLE_BYTES
    return code == sqlite3.SQLITE_FULL or getattr(error, "sqlstate", None) == DISK_FULL


def _free_bytes(folder: Path) -> int:
    """Free bytes at the nearest existing parent folder."""
    existing = next(each for each in (folder, *folder.parents) if each.exists())
    found = os.statvfs(existing)
    return found.f_bavail * found.f_frsize
