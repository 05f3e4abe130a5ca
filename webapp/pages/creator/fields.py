"""Parsers for the form fields and query parameters of creator pages."""

import re
from datetime import datetime

from flask import request

from webapp.base.database import from_millis
from webapp.pages.fragments import typed_text


def typed(name: str) -> str:
    """Return a posted field, stripped, with line feeds as line ends; "" if absent."""
    return typed_text(name).strip()


def posted_revision(name: str = "revision") -> int:
    """Return the posted revision; 0, which no draft has, if it is missing or no number."""
    return _number_in(request.form.get(name, ""), digits=9)


def asked_revision(name: str) -> int:
    """Return a revision in the address; 0, which no draft has, if it is missing or no number."""
    return _number_in(request.args.get(name, ""), digits=9)


def moment_in(text: str) -> datetime | None:
    """Parse a moment in milliseconds since the epoch; None for other text."""
    return from_millis(int(text)) if re.fullmatch("[0-9]{1,13}", text) else None


def millis_in(text: str) -> int:
    """Parse milliseconds since the epoch; 0 for other text."""
    return _number_in(text, digits=13)


def asked_position() -> tuple[int, str] | None:
    """Return where a list continues, from `?before=`: milliseconds since the epoch and an id."""
    found = re.fullmatch(r"([0-9]{1,13})-(\w{1,80})", request.args.get("before", ""), re.ASCII)
    return (int(found[1]), found[2]) if found else None


def _number_in(text: str, *, digits: int) -> int:
    return int(text) if re.fullmatch(f"[0-9]{{1,{digits}}}", text) else 0
