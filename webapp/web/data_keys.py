"""The keys of the current application that secrets are stored under."""

from typing import cast

from flask import Flask, current_app

from webapp.config import Settings
from webapp.domain.events.sealing import Sealer


def init_app(app: Flask, config: Settings) -> None:
    """Give the application the keys of its settings."""
    app.extensions["sealer"] = Sealer(dict(config.data_keys))


def sealer() -> Sealer:
    """Seals and opens what the current application stores."""
    return cast(Sealer, current_app.extensions["sealer"])
