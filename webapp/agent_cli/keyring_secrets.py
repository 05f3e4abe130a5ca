"""The keyring of the desktop, where the optional package `keyring` is installed and works."""

import importlib
from contextlib import suppress
from typing import Protocol, cast

SERVICE = "askback"


class Keyring(Protocol):
    """What is used of the package."""

    def get_password(self, service: str, user: str) -> str | None:
        """The text that was stored; None without one."""

    def set_password(self, service: str, user: str, text: str) -> None:
        """Store the text in the place of an older one."""

    def delete_password(self, service: str, user: str) -> None:
        """Remove the text."""


def keep_secret(server: str, text: str) -> bool:
    """Store the text for this server; False where no keyring takes it and gives it back."""
    found = _keyring()
    if found is None:
        return False
    with suppress(Exception):  # each backend has errors of its own
        found.set_password(SERVICE, server, text)
    return kept_secret(server) == text


def kept_secret(server: str) -> str | None:
    """The text stored for this server; None when there is none, or the keyring is locked."""
    found = _keyring()
    with suppress(Exception):
        return found.get_password(SERVICE, server) if found else None
    return None


def forget_secret(server: str) -> None:
    """Remove the text stored for this server, where there is one."""
    found = _keyring()
    with suppress(Exception):
        if found:
            found.delete_password(SERVICE, server)


def _keyring() -> Keyring | None:
    try:
        return cast(Keyring, importlib.import_module("keyring"))
    except ImportError:
        return None
