"""The data folder of the embedded mode: database, generated secrets, server lock."""

import fcntl
import json
import os
import secrets
import stat
import time
from base64 import b64encode
from contextlib import suppress
from pathlib import Path
from typing import IO

DEFAULT_FOLDER = "./var"
DATABASE = "askback.sqlite3"
SECRETS = "secrets.json"
LOCK = "server.lock"
RECORDINGS = "recordings"
SPOOL = "spool"
SPOOLED_SECONDS = 2 * 3600  # longer than any request, and than a recording waits for its engine


class FolderInUse(Exception):
    """Another server runs on this data folder; the message names its address."""


def open_folder(folder: Path) -> Path:
    """Create the folder if it is missing, readable by its owner alone; raises OSError."""
    folder.mkdir(mode=0o700, parents=True, exist_ok=True)
    return folder


def sync(path: Path) -> None:
    """fsync a file or a folder."""
    opened = os.open(path, os.O_RDONLY)
    try:
        os.fsync(opened)
    finally:
        os.close(opened)


def spool_folder(folder: Path) -> Path:
    """Return the folder of request bodies that are being read; raises OSError."""
    return open_folder(folder / SPOOL)


def empty_spool(folder: Path) -> None:
    """Delete request bodies and copies of recordings that ended processes left behind."""
    oldest = time.time() - SPOOLED_SECONDS
    for path in (folder / SPOOL).glob("*"):
        with suppress(OSError):  # another process does the same
            if path.lstat().st_mtime < oldest:
                path.unlink()


def is_private(folder: Path) -> bool:
    """Return whether this account owns the folder, and nobody else can enter it."""
    found = folder.stat()
    return found.st_uid == os.geteuid() and not found.st_mode & 0o077


def make_private(folder: Path) -> str:
    """Close the folder to others; return a message if it was open, else "".

    One that belongs to others, or that others share, stays as it is.
    """
    if is_private(folder):
        return ""
    found = folder.stat()
    if found.st_uid != os.geteuid() or found.st_mode & stat.S_ISVTX:
        return f"{folder} is not Askback's alone; give it a folder of its own"
    folder.chmod(0o700)
    return f"{folder} could be read by others, and was closed to them"


def embedded_secrets(folder: Path) -> dict[str, str]:
    """Return `secret_key` and `data_keys` of this folder, in the format of these settings.

    Makes them if there are none; two simultaneous first starts agree on them.
    Raises OSError, and ValueError for a file that holds something else.
    """
    path = open_folder(folder) / SECRETS
    opened = os.open(folder, os.O_RDONLY | os.O_DIRECTORY)
    try:
        fcntl.flock(opened, fcntl.LOCK_EX)
        if not path.exists():
            data_key = b64encode(secrets.token_bytes(32)).decode()
            made = {
                "secret_key": secrets.token_urlsafe(48),
                "data_keys": f"{secrets.token_hex(4)}:{data_key}",
            }
            replace_file(path, json.dumps(made))
            os.fsync(opened)  # stores the name of the new file, too
    finally:
        os.close(opened)
    kept = json.loads(path.read_text())
    if not isinstance(kept, dict) or not all(isinstance(value, str) for value in kept.values()):
        raise ValueError(f"{path.name} is not an object of texts")
    if missing := {"secret_key", "data_keys"} - kept.keys():
        raise ValueError(f"{path.name} lacks {min(missing)}")
    return kept


def replace_file(path: Path, text: str) -> None:
    """Write a file for its owner alone; after a crash it has the old or the new content."""
    draft = path.with_name(f"{path.name}.{secrets.token_hex(4)}")
    try:
        with os.fdopen(os.open(draft, os.O_WRONLY | os.O_CREAT | os.O_EXCL, 0o600), "wb") as file:
            file.write(text.encode())
            file.flush()
            os.fsync(file.fileno())
        draft.replace(path)
    finally:
        draft.unlink(missing_ok=True)


def lock_folder(folder: Path, public_url: str) -> IO[str]:
    """Lock out other servers until the returned file is closed; raises FolderInUse."""
    path = open_folder(folder) / LOCK
    file = os.fdopen(os.open(path, os.O_RDWR | os.O_CREAT | os.O_APPEND, 0o600), "a+")
    try:
        fcntl.flock(file, fcntl.LOCK_EX | fcntl.LOCK_NB)
    except BlockingIOError:
        file.close()
        raise FolderInUse(
            f"An Askback already runs on {folder}, at {served_address(folder)}. "
            "Stop it, or start this one with another ASKBACK_DATA."
        ) from None
    file.truncate(0)
    file.write(public_url)
    file.flush()
    return file


def served_address(folder: Path) -> str | None:
    """Return the public address of the server that runs, or last ran, on this folder."""
    try:
        return (folder / LOCK).read_text() or None
    except OSError:
        return None
