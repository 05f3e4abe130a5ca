"""Ids as they come in a path."""

from werkzeug.routing import UnicodeConverter


class IdConverter(UnicodeConverter):
    """Any text but a slash. PostgreSQL refuses to compare with U+0000, which no id contains."""

    def to_python(self, value: str) -> str:
        return value.replace("\x00", "\N{REPLACEMENT CHARACTER}")
