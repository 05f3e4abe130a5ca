"""Rules for every template."""

from pathlib import Path

from flask import Flask
from jinja2 import nodes

TEMPLATES = Path(__file__).parents[2] / "templates"
NAMES = sorted(str(path.relative_to(TEMPLATES)) for path in TEMPLATES.rglob("*.html"))
MESSAGES = {"_": 1, "gettext": 1, "ngettext": 2}  # how many arguments are messages


def test_only_literals_are_translated(app: Flask) -> None:
    """Gettext takes its message for a format string and for safe markup."""
    found = {name: variables_translated(app, (TEMPLATES / name).read_text()) for name in NAMES}

    assert found
    assert {name: lines for name, lines in found.items() if lines} == {}


def variables_translated(app: Flask, source: str) -> list[int]:
    """The lines on which something else than a literal is, or may be, translated."""
    tree = app.jinja_env.parse(source)
    called = {id(call.node): call for call in tree.find_all(nodes.Call)}
    found = [use.lineno for use in tree.find_all(nodes.Filter) if use.name in MESSAGES]
    for use in tree.find_all(nodes.Name):
        if use.name not in MESSAGES:
            continue
        call = called.get(id(use))
        messages = call.args[: MESSAGES[use.name]] if call else []
        if not messages or not all(_is_literal(message) for message in messages):
            found.append(use.lineno)
    return found


def _is_literal(message: nodes.Expr) -> bool:
    return isinstance(message, nodes.Const) and isinstance(message.value, str)
