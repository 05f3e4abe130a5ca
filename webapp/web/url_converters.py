"""Paths of addresses: the ids in them, and the one of the current request."""

from urllib.parse import quote

from flask import Flask, request
from werkzeug.routing import UnicodeConverter

PATH_CHARS = "/:@!$&'()*+,;="  # RFC 3986 section 3.3, besides those that are never escaped
# more than RFC 3986 section 3.4 allows, because browsers send more
QUERY_CHARS = "".join(map(chr, range(0x21, 0x7F))).replace("\\", "")


class IdConverter(UnicodeConverter):
    """Any text but a slash. PostgreSQL refuses to compare with U+0000, which no id contains."""

    def to_python(self, value: str) -> str:
        return value.replace("\x00", "\N{REPLACEMENT CHARACTER}")


def init_app(app: Flask) -> None:
    """Read every `<id>` of every route so; call it before any route is added.

    Templates learn the address of their page.
    """
    app.add_template_global(current_address, "current_address")
    app.url_map.converters["default"] = IdConverter


def current_address() -> str:
    """Path and query of this request as they fit into a header: `request.full_path` does not."""
    query = quoted_query(request.query_string)
    return quote(request.path, safe=PATH_CHARS) + (f"?{query}" if query else "")


def quoted_query(query: str | bytes) -> str:
    """A query in visible ASCII without backslashes, which a redirect to our own pages refuses."""
    return quote(query, safe=QUERY_CHARS)
