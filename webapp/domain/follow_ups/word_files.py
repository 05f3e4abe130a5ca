"""Word lists that are data: one TOML file a language."""

import tomllib
from pathlib import Path

_FOLDER = Path(__file__).parent


def load(name: str) -> dict[str, str]:
    """The lists of a file by their names; `name` is `conduct/en`."""
    lists: dict[str, str] = tomllib.loads((_FOLDER / f"{name}.toml").read_text("utf-8"))
    return lists
