"""Recordings are kept in a folder or a bucket: whole, private, on the disk, until erased."""

import os
from collections.abc import Callable
from datetime import timedelta
from io import FileIO
from pathlib import Path

import pytest

from tests.services import free_port
from tests.voice.s3_server import BUCKET, reached_at
from webapp.base.data_folder import open_folder
from webapp.base.database import utc_now
from webapp.voice.audio_store import (
    CHUNK_BYTES,
    AudioStore,
    AudioStoreUnavailable,
    BucketStore,
    FolderStore,
)

KEY = "frm_1/b8Zk.webm"
LONG = os.urandom(PART := 5 * 1024**2) + b"the last part"

both_stores = pytest.mark.parametrize("store", ["folder", "bucket"], indirect=True)
Put = Callable[..., str]


@pytest.fixture
def store(
    request: pytest.FixtureRequest, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> AudioStore:
    if getattr(request, "param", "folder") == "folder":
        return FolderStore(tmp_path / "data", free_bytes=0)
    for name, value in reached_at(request.getfixturevalue("s3_port")).items():
        monkeypatch.setenv(name, value)
    return BucketStore(f"s3://{BUCKET}/{tmp_path.name}", tmp_path / "data", free_bytes=0)


@pytest.fixture
def put(store: AudioStore, tmp_path: Path) -> Put:
    """Stores bytes, as they come out of a file; returns their key."""

    def store_bytes(content: bytes = LONG, key: str = KEY) -> str:
        (tmp_path / "uploaded").write_bytes(content)
        store.put(key, tmp_path / "uploaded")
        return key

    return store_bytes


def keys(store: AudioStore) -> set[str]:
    return {each.key for each in store.list_objects()}


@both_stores
def test_what_was_put_is_read_byte_for_byte_and_leaves_nothing_behind(
    store: AudioStore, put: Put, tmp_path: Path
) -> None:
    put()

    chunks = list(store.read(KEY, 0, len(LONG)))
    store.copy_to(KEY, tmp_path / "copy")
    store.delete([KEY])

    assert b"".join(chunks) == (tmp_path / "copy").read_bytes() == LONG
    assert max(map(len, chunks)) <= CHUNK_BYTES
    assert list(tmp_path.glob("data/recordings/*")) == []


@both_stores
def test_parts_are_open_files_that_close_at_their_end(store: AudioStore, put: Put) -> None:
    put()
    places = [(0, 1), (PART - 3, PART + 4), (7, len(LONG))]
    parts = [store.read(KEY, *place) for place in places]
    store.delete([KEY])

    assert [b"".join(part) for part in parts] == [LONG[start:end] for start, end in places]
    assert all(isinstance(part, FileIO) and part.closed for part in parts)


@both_stores
def test_everything_stored_is_listed_until_it_is_erased(store: AudioStore, put: Put) -> None:
    store.delete([KEY])
    assert keys(store) == set()
    kept, erased = put(b"12345"), put(b"1", "frm_2/a.mp3")
    assert keys(store) == {kept, erased}

    store.delete([erased, "frm_2/never-there.mp3", "frm_3/never-there.mp3"])

    ((key, changed_at, size),) = store.list_objects()
    assert (key, size) == (KEY, 5)
    assert utc_now() - changed_at < timedelta(minutes=1)


def test_file_and_folders_are_private_and_synced(
    put: Put, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    synced: list[tuple[str, int]] = []
    real = os.fsync

    def note(descriptor: int) -> None:
        synced.append((os.readlink(f"/proc/self/fd/{descriptor}"), os.fstat(descriptor).st_size))
        real(descriptor)

    monkeypatch.setattr(os, "fsync", note)
    before = os.umask(0)
    try:
        put()
    finally:
        os.umask(before)

    file = tmp_path / "data/recordings" / KEY
    folders = list(file.parents)[:3]
    assert synced[0] == (f"{file}.part", len(LONG))
    assert [path for path, _ in synced[1:]] == [str(folder) for folder in folders]
    modes = [path.stat().st_mode & 0o777 for path in (file, *folders)]
    assert modes == [0o600, 0o700, 0o700, 0o700]


def test_a_store_that_is_away_is_reported(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    for name, value in reached_at(free_port()).items():
        monkeypatch.setenv(name, value)
    monkeypatch.setattr("webapp.voice.audio_store.RETRIES", 0)
    (tmp_path / "uploaded").write_bytes(LONG)
    (tmp_path / "data").write_text("a file")
    bucket = BucketStore(f"s3://{BUCKET}/x", tmp_path, free_bytes=0)
    for store in (FolderStore(tmp_path / "data", free_bytes=0), bucket):
        for call in (
            lambda store=store: store.put(KEY, tmp_path / "uploaded"),
            lambda store=store: store.read(KEY, 0, 1),
            lambda store=store: store.delete([KEY]),
        ):
            with pytest.raises(AudioStoreUnavailable):
                call()


@pytest.mark.parametrize(
    ("free", "size", "room"), [(0, 1, True), (2**60, 1, False), (0, 2**60, False)]
)
def test_uploads_leave_room_on_the_disk(
    tmp_path: Path, free: int, size: int, *, room: bool
) -> None:
    assert FolderStore(tmp_path / "data", free).has_room(size) is room


def test_an_erasure_may_remove_the_empty_folder_meanwhile(
    store: AudioStore, put: Put, monkeypatch: pytest.MonkeyPatch
) -> None:
    erased: list[Path] = []

    def open_and_erase(folder: Path) -> None:
        open_folder(folder)
        if folder.name == "frm_1" and not erased:
            folder.rmdir()
            erased.append(folder)

    monkeypatch.setattr("webapp.voice.audio_store.open_folder", open_and_erase)

    put()

    assert erased
    assert keys(store) == {KEY}
