"""Private contexts in many languages, and models that put words of them into a question."""

import tomllib
from pathlib import Path
from typing import NamedTuple


class Told(NamedTuple):
    """What a form says in one language; the file says what each field is."""

    question: str
    answer: str
    context: str
    secret: str
    leaking: str


_READ = tomllib.loads(Path(__file__).with_suffix(".toml").read_text("utf-8"))
TOLD = {language: Told(**fields) for language, fields in _READ.items()}
