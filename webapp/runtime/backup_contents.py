"""The description of a backup, its tables, and whether this program can restore it."""

import json
from collections.abc import Mapping
from contextlib import suppress
from dataclasses import dataclass, field
from importlib.metadata import version
from pathlib import Path
from typing import Any

from webapp.database import schema

PROGRAM = "askback"
VERSIONS = "alembic_version"
OURS = {"accounts", "drafts", "forms", "answers"}  # in every version


class BackupFailed(Exception):
    """The backup or restore failed and changed nothing; the message says why."""


@dataclass(frozen=True, slots=True)
class Contents:
    """The tables of a database or of a backup.

    columns  by table
    rows     number of rows by table
    mark     what `mark` wrote into the backup; None in backups of earlier versions
    """

    revision: str | None
    columns: Mapping[str, set[str]]
    rows: Mapping[str, int]
    mark: Mapping[str, Any] | None = field(default=None, compare=False)


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
    with suppress(ValueError):
        found = json.loads(text)
        if isinstance(found, dict) and "version" in found and isinstance(found.get("rows"), dict):
            return found
    raise BackupFailed(f"{file} is damaged: what it says about itself cannot be read.")


def check(file: Path, found: Contents) -> None:
    """Raises BackupFailed for an incomplete backup or one that this version cannot read."""
    known = found.revision in schema.revisions()
    if found.revision is None or not (known or found.mark or found.columns.keys() >= OURS):
        raise BackupFailed(f"{file} is no backup of Askback.")
    if not known:
        newer = f" ({found.mark['version']})" if found.mark else ""
        raise BackupFailed(f"{file} comes from a newer Askback{newer}; install that one first.")
    for table, columns in schema.shape(found.revision).items():
        if missing := columns - found.columns.get(table, set()):
            raise BackupFailed(
                f"{file} is no backup of Askback: its table {table} lacks {', '.join(missing)}."
            )
    if found.mark:
        check_counts(file, found.mark["rows"], found.rows)


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
