"""The folder of the embedded mode: database, secrets that were made here, and the server's lock."""

import fcntl
import json
import os
import secrets
from pathlib import Path
from typing import IO

DATABASE = "askback.sqlite3"
SECRETS = "secrets.json"
LOCK = "server.lock"


class FolderInUse(Exception):
    """Another server runs on this data folder; the message names its process."""


def open_folder(folder: Path) -> Path:
    """Make the folder when it is missing, readable by its owner alone; raises OSError."""
    folder.mkdir(mode=0o700, parents=True, exist_ok=True)
    return folder


def embedded_secret(folder: Path) -> str:
    """The signing key of this folder, made at first use; two first starts agree on one key."""
    path = open_folder(folder) / SECRETS
    if not path.exists():
        _write_once(path, json.dumps({"secret_key": secrets.token_urlsafe(48)}))
    key: str = json.loads(path.read_text())["secret_key"]
    return key


def _write_once(path: Path, text: str) -> None:
    """Appear complete or not at all; an existing file is left as it is."""
    draft = path.with_name(f"{path.name}.{secrets.token_hex(4)}")
    with os.fdopen(os.open(draft, os.O_WRONLY | os.O_CREAT | os.O_EXCL, 0o600), "w") as file:
        file.write(text)
        file.flush()
        os.fsync(file.fileno())
    try:
        os.link(draft, path)
    except FileExistsError:
        return
    finally:
        draft.unlink()


def lock_folder(folder: Path, public_url: str) -> IO[str]:
    """Keep other servers out for as long as the returned file stays open; raises FolderInUse."""
    file = (open_folder(folder) / LOCK).open("a+")
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
    """The public address of the server that runs, or last ran, on this folder."""
    try:
        return (folder / LOCK).read_text() or None
    except OSError:
        return None
