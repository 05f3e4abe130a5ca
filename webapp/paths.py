"""Ids as they come in the path of an address."""

from flask import Flask
from werkzeug.routing import UnicodeConverter


class IdConverter(UnicodeConverter):
    """Any text but a slash. PostgreSQL refuses to compare with U+0000, which no id contains."""

    def to_python(self, value: str) -> str:
        return value.replace("\x00", "\N{REPLACEMENT CHARACTER}")


def init_app(app: Flask) -> None:
    """Read every `<id>` of every route so; call it before any route is added."""
    app.url_map.converters["default"] = IdConverter
