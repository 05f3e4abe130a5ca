"""Word lists that are data: one TOML file a language."""

import tomllib
from pathlib import Path
from typing import Any

_FOLDER = Path(__file__).parent


def load(name: str) -> dict[str, Any]:
    """What the file has, by the names of its lists; a name is `conduct/en`."""
    return tomllib.loads((_FOLDER / f"{name}.toml").read_text("utf-8"))
