"""The keys of the current application that secrets are stored under."""

import hmac
from hashlib import sha256
from typing import cast

from flask import Flask, current_app

from webapp.base.config import Settings, settings
from webapp.events.callbacks import Sealer


def init_app(app: Flask, config: Settings) -> None:
    """Give the application the keys of its settings."""
    app.extensions["sealer"] = Sealer(dict(config.data_keys))


def cursor_key() -> bytes:
    """Signs the cursors of events."""
    return _key_for(b"cursors of events")


def fragment_key() -> bytes:
    """Signs the cursors of fragments."""
    return _key_for(b"cursors of fragments")


def request_state_key() -> bytes:
    """Signs the state of tool calls that go on later."""
    return _key_for(b"states of tool calls")


def recording_key() -> bytes:
    """Signs the addresses of recordings."""
    return _key_for(b"addresses of recordings")


def address_hash(network: str) -> str:
    """The keyed hash that the database has of a network address: 64 hexadecimal digits."""
    return hmac.digest(_key_for(b"network addresses"), network.encode(), sha256).hex()


def sealer() -> Sealer:
    """Seals and opens what the current application stores."""
    return cast(Sealer, current_app.extensions["sealer"])


def _key_for(purpose: bytes) -> bytes:
    return hmac.digest(settings().secret_key.encode(), purpose, sha256)
