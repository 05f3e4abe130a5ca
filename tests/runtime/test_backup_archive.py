"""The tar file of a PostgreSQL backup, where it is large."""

import os
import tarfile
from collections.abc import Iterator
from contextlib import contextmanager
from io import BytesIO
from pathlib import Path
from typing import IO, Any

import pytest
from sqlalchemy import make_url

from webapp.app import backup_postgresql
from webapp.app.backup_files import (
    DUMP,
    MANIFEST,
    RECORDINGS,
    add_json,
    append_recordings,
    dump_begins,
    mark,
    recordings_in,
)
from webapp.app.backup_postgresql import _append_dump

URL = make_url("postgresql://nobody@localhost/none")
NINE_GIB = 9 * 1024**3


def test_a_dump_beyond_8_gib_is_where_its_header_says(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    @contextmanager
    def dump(*_: object) -> Iterator[IO[bytes]]:
        yield BytesIO(b"PGDMP")

    def copy(source: IO[bytes], target: IO[bytes], _: int) -> None:
        target.write(source.read())
        target.seek(NINE_GIB, os.SEEK_CUR)  # nothing of that is on the disk

    monkeypatch.setattr(backup_postgresql, "_running", dump)
    monkeypatch.setattr("shutil.copyfileobj", copy)
    path = tmp_path / "backup"
    with path.open("w+b") as file:
        _append_dump(URL, file, 0)

    with path.open("rb") as file:
        file.seek(dump_begins(path))
        assert file.read(5) == b"PGDMP"


def test_many_recordings_are_found_without_looking_through_all_for_each(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    path = tmp_path / "backup"
    contents: Any = ((f"frm_1/{number}.webm", BytesIO(b"%d" % number)) for number in range(9))
    with path.open("w+b") as file:
        with tarfile.open(fileobj=file, mode="w") as archive:
            add_json(archive, MANIFEST, mark("0012", {}) | {RECORDINGS: True})
            add_json(archive, DUMP, {})
        append_recordings(file, contents)

    def look_through_all(*_: object) -> None:
        raise AssertionError

    monkeypatch.setattr(tarfile.TarFile, "getmember", look_through_all)
    found = {key: content.read() for key, content, _ in recordings_in(path)}

    assert found == {f"frm_1/{number}.webm": b"%d" % number for number in range(9)}
