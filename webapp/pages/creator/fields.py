"""Parsers for the form fields and query parameters of creator pages."""

import re

from flask import request

from webapp.pages.fragments import typed_text


def typed(name: str) -> str:
    """Return a posted field, stripped, with line feeds as line ends; "" if absent."""
    return typed_text(name).strip()


def revision(name: str = "revision") -> int:
    """Return a revision, posted or in the address; 0, which no draft has, if it is no number."""
    return number(name, digits=9)


def millis(name: str) -> int:
    """Return milliseconds since the epoch, posted or in the address; 0 if that is no number."""
    return number(name, digits=13)


def asked_position() -> tuple[int, str] | None:
    """Return where a list continues, from `?before=`: milliseconds since the epoch and an id."""
    found = re.fullmatch(r"([0-9]{1,13})-(\w{1,80})", request.args.get("before", ""), re.ASCII)
    return (int(found[1]), found[2]) if found else None


def number(name: str, *, digits: int) -> int:
    """Return a whole number of at most so many digits, posted or in the address, or else 0."""
    text = (request.form.get(name) or request.args.get(name, "")).strip()
    return int(text) if re.fullmatch(f"[0-9]{{1,{digits}}}", text) else 0
