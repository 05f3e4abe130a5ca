"""The words of the example, by their names in `example_texts.toml`."""

import tomllib
from pathlib import Path
from typing import Any

TEXTS = tomllib.loads(Path(__file__).with_suffix(".toml").read_text("utf-8"))


def __getattr__(name: str) -> Any:
    try:
        return TEXTS[name]
    except KeyError:
        raise AttributeError(name) from None
