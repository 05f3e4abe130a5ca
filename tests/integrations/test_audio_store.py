"""Recordings are kept in a folder or a bucket: whole, private, on the disk, until erased."""

import os
from collections.abc import Callable
from datetime import timedelta
from io import FileIO
from pathlib import Path
from typing import Any

import pytest

from tests.services import free_port
from tests.voice.s3_server import BUCKET, reached_at
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
def put(store: AudioStore, tmp_path: Path) -> Callable[..., str]:
    """Stores bytes, as they come out of a file; returns their key."""

    def store_bytes(content: bytes = LONG, key: str = KEY) -> str:
        (tmp_path / "uploaded").write_bytes(content)
        store.put(key, tmp_path / "uploaded")
        return key

    return store_bytes


def mode(path: Path) -> int:
    return path.stat().st_mode & 0o777


@both_stores
@pytest.mark.parametrize("content", [b"x", LONG])
def test_what_was_put_is_read_byte_for_byte(
    store: AudioStore, put: Callable[..., str], tmp_path: Path, content: bytes
) -> None:
    put(content)

    chunks = list(store.read(KEY, 0, len(content)))
    store.copy_to(KEY, tmp_path / "copy")

    assert b"".join(chunks) == (tmp_path / "copy").read_bytes() == content
    assert max(map(len, chunks)) <= CHUNK_BYTES


@both_stores
@pytest.mark.parametrize(("start", "end"), [(0, 1), (PART - 3, PART + 4), (7, len(LONG))])
def test_a_part_is_read_alone(
    store: AudioStore, put: Callable[..., str], start: int, end: int
) -> None:
    put()

    assert b"".join(store.read(KEY, start, end)) == LONG[start:end]


@both_stores
def test_what_is_read_is_an_open_file_that_closes_at_its_end(
    store: AudioStore, put: Callable[..., str]
) -> None:
    put()
    found = store.read(KEY, 2, 9)
    assert isinstance(found, FileIO)

    store.delete([KEY])

    assert (b"".join(found), found.closed) == (LONG[2:9], True)


@both_stores
def test_everything_stored_is_listed_until_it_is_erased(
    store: AudioStore, put: Callable[..., str]
) -> None:
    kept, erased = put(b"12345"), put(b"1", "frm_2/a.mp3")
    assert {each.key for each in store.list_objects()} == {kept, erased}

    store.delete([erased, "frm_2/never-there.mp3", "frm_3/never-there.mp3"])

    ((key, changed_at, size),) = store.list_objects()
    assert (key, size) == (KEY, 5)
    assert utc_now() - changed_at < timedelta(minutes=1)


@both_stores
def test_an_empty_store_lists_and_erases_nothing(store: AudioStore) -> None:
    store.delete([KEY])

    assert list(store.list_objects()) == []


@both_stores
def test_what_is_not_there_cannot_be_read(store: AudioStore, tmp_path: Path) -> None:
    with pytest.raises(AudioStoreUnavailable):
        store.read(KEY, 0, 1)
    with pytest.raises(AudioStoreUnavailable):
        store.copy_to(KEY, tmp_path / "copy")


@both_stores
def test_nothing_is_left_in_the_data_folder_by_reading(
    store: AudioStore, put: Callable[..., str], tmp_path: Path
) -> None:
    put(b"12345")
    list(store.read(KEY, 0, 5))
    store.delete([KEY])

    left = [path for path in tmp_path.glob("data/**/*") if path.is_file()]
    assert left == []


def test_the_folder_is_for_its_owner_alone(put: Callable[..., str], tmp_path: Path) -> None:
    before = os.umask(0)
    try:
        put()
    finally:
        os.umask(before)

    file = tmp_path / "data/recordings" / KEY
    assert mode(file) == 0o600
    assert {mode(folder) for folder in list(file.parents)[:3]} == {0o700}


def test_file_and_folders_are_synced_before_it_counts_as_stored(
    put: Callable[..., str], tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    synced: list[tuple[str, int]] = []
    real = os.fsync

    def note(descriptor: int) -> None:
        synced.append((os.readlink(f"/proc/self/fd/{descriptor}"), os.fstat(descriptor).st_size))
        real(descriptor)

    monkeypatch.setattr(os, "fsync", note)
    put()

    file = tmp_path / "data/recordings" / KEY
    assert synced[0] == (str(file), len(LONG))
    assert [path for path, _ in synced[1:]] == [str(folder) for folder in list(file.parents)[:3]]


def test_a_large_recording_is_held_in_small_parts(
    store: FolderStore, put: Callable[..., str], monkeypatch: pytest.MonkeyPatch
) -> None:
    asked: dict[str, Any] = {}
    monkeypatch.setattr("obstore.put", lambda *_, **options: asked.update(options))
    monkeypatch.setattr(Path, "chmod", lambda *_: None)
    monkeypatch.setattr("webapp.voice.audio_store.sync", lambda _: None)

    put()

    assert asked == {"chunk_size": 256 * 1024, "max_concurrency": 1}


def test_what_a_killed_process_left_of_an_upload_is_listed_and_erased(
    store: AudioStore, put: Callable[..., str], tmp_path: Path
) -> None:
    put()
    left = tmp_path / "data/recordings" / f"{KEY}#1"
    left.write_bytes(b"half of it")
    assert {each.key for each in store.list_objects()} == {KEY, f"{KEY}#1"}

    store.delete([f"{KEY}#1"])

    assert not left.exists()
    assert b"".join(store.read(KEY, 0, len(LONG))) == LONG


def test_the_folder_of_a_form_goes_with_its_last_recording(
    store: AudioStore, put: Callable[..., str], tmp_path: Path
) -> None:
    put()

    store.delete([KEY])

    assert list((tmp_path / "data/recordings").iterdir()) == []
    put()
    assert b"".join(store.read(KEY, 0, 5)) == LONG[:5]


def test_a_folder_that_cannot_be_written_is_told(
    put: Callable[..., str], store: AudioStore, tmp_path: Path
) -> None:
    (tmp_path / "data").write_text("a file")

    with pytest.raises(AudioStoreUnavailable, match="data"):
        put()
    with pytest.raises(AudioStoreUnavailable):
        store.has_room(1)


def test_a_bucket_that_does_not_answer_is_told(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    for name, value in reached_at(free_port()).items():
        monkeypatch.setenv(name, value)
    monkeypatch.setattr("webapp.voice.audio_store.RETRIES", 0)
    store = BucketStore(f"s3://{BUCKET}/x", tmp_path, free_bytes=0)
    (tmp_path / "uploaded").write_bytes(LONG)

    for call in (
        lambda: store.put(KEY, tmp_path / "uploaded"),
        lambda: store.read(KEY, 0, 1),
        lambda: store.copy_to(KEY, tmp_path / "copy"),
        lambda: store.delete([KEY]),
        lambda: list(store.list_objects()),
    ):
        with pytest.raises(AudioStoreUnavailable):
            call()


@pytest.mark.parametrize(("free_bytes", "size", "room"), [(0, 1, True), (2**60, 1, False)])
def test_uploads_leave_room_on_the_disk(
    tmp_path: Path, free_bytes: int, size: int, *, room: bool
) -> None:
    assert FolderStore(tmp_path / "data", free_bytes).has_room(size) is room


def test_the_size_of_an_upload_counts(tmp_path: Path) -> None:
    assert not FolderStore(tmp_path / "data", free_bytes=0).has_room(2**60)
