"""The description of a backup, its tables, and whether this program can restore it."""

import json
from collections.abc import Mapping
from contextlib import suppress
from dataclasses import dataclass
from importlib.metadata import version
from pathlib import Path
from typing import Any

from webapp.database import schema

PROGRAM = "askback"
VERSIONS = "alembic_version"


class BackupFailed(Exception):
    """The backup or restore failed and changed nothing; the message says why."""


@dataclass(frozen=True, slots=True)
class Contents:
    """The tables of a database or of a backup.

    columns  by table
    rows     number of rows by table
    mark     what `mark` wrote into the backup
    """

    revision: str | None
    columns: Mapping[str, set[str]]
    rows: Mapping[str, int]
    mark: Mapping[str, Any]


def mark(revision: str | None, rows: Mapping[str, int]) -> dict[str, Any]:
    """The description in a backup: program, version, schema revision and rows by table."""
    return {
        "program": PROGRAM,
        "version": version(PROGRAM),
        "revision": revision,
        "rows": dict(rows),
    }


def read_mark(file: Path, text: str | bytes) -> dict[str, Any]:
    """Parse what `mark` wrote, as JSON. Raises BackupFailed for anything else."""
    with suppress(ValueError, LookupError, TypeError, AttributeError):
        found = json.loads(text)
        fits = [
            found["program"] == PROGRAM,
            isinstance(found["version"], str),
            isinstance(found["revision"], str | None),
            *(type(count) is int for count in found["rows"].values()),
        ]
        if all(fits):
            return dict(found)
    raise BackupFailed(f"{file} is damaged: what it says about itself cannot be read.")


def check(file: Path, found: Contents) -> str:
    """The revision of a backup that is whole and can be restored. Raises BackupFailed."""
    if found.revision is None:
        raise BackupFailed(f"{file} is no backup of Askback: it has no schema.")
    if (said := found.mark["revision"]) != found.revision:
        raise BackupFailed(
            f"{file} is damaged: it says that it has schema {said}, and has {found.revision}."
        )
    if found.revision not in schema.revisions():
        raise BackupFailed(
            f"{file} comes from a newer Askback ({found.mark['version']}); install that one first."
        )
    wanted = schema.shape(found.revision)
    for table, columns in wanted.items():
        if missing := columns - found.columns.get(table, set()):
            raise BackupFailed(
                f"{file} is no backup of Askback: its table {table} lacks {', '.join(missing)}."
            )
    for table, columns in found.columns.items():
        if table not in wanted:
            raise not_ours(file, f"the table {table}")
        for column in columns - wanted[table]:
            raise not_ours(file, f"the column {column} of {table}")
    check_counts(file, dict.fromkeys(found.rows, 0) | found.mark["rows"], found.rows)
    return found.revision


def not_ours(file: Path, what: str) -> BackupFailed:
    """The refusal of what the schema does not have: it could do more than hold data."""
    return BackupFailed(f"{file} has {what}, which is not part of Askback. Nothing was restored.")


def check_counts(file: Path, wanted: Mapping[str, int], found: Mapping[str, int]) -> None:
    """Raises BackupFailed when the number of rows of a table differs."""
    for table, count in wanted.items():
        if found.get(table, 0) != count:
            raise BackupFailed(
                f"{file} is damaged: {table} has {found.get(table, 0)} rows, not {count}."
            )


def free_name(database: Path) -> Path:
    """An unused name for the database that a restore replaces."""
    number = 1
    while (kept := database.with_name(f"{database.name}.before-restore-{number}")).exists():
        number += 1
    return kept
