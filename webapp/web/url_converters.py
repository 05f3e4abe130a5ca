"""Converts parts of the paths of routes, and quotes the address of the current request."""

from urllib.parse import quote

from flask import Flask, request
from werkzeug.routing import BaseConverter, UnicodeConverter

from webapp.answers.session import START, QuestionNumber, read_place

PATH_CHARS = "/:@!$&'()*+,;="  # RFC 3986 section 3.3, besides unreserved characters
# more than RFC 3986 section 3.4 allows, because browsers send more
QUERY_CHARS = "".join(map(chr, range(0x21, 0x7F))).replace("\\", "")


class IdConverter(UnicodeConverter):
    """Any text but a slash. It replaces U+0000, which PostgreSQL refuses and no id contains."""

    def to_python(self, value: str) -> str:
        return value.replace("\x00", "\N{REPLACEMENT CHARACTER}")


class QuestionConverter(BaseConverter):
    """The place of a question, `2` or `2/f/1`, as a QuestionNumber."""

    regex = r"\d+(?:/f/\d+)?"

    def to_python(self, value: str) -> QuestionNumber:
        return read_place(value) or START  # where no question is

    def to_url(self, value: QuestionNumber) -> str:
        return value.path


def init_app(app: Flask) -> None:
    """Use IdConverter for every `<id>`, and give templates the address of their page.

    Call it before any route is added.
    """
    app.add_template_global(current_address, "current_address")
    app.url_map.converters["default"] = IdConverter
    app.url_map.converters["question"] = QuestionConverter


def current_address() -> str:
    """Return path and query of this request, quoted for a header, unlike `request.full_path`."""
    query = quoted_query(request.query_string)
    return quote(request.path, safe=PATH_CHARS) + (f"?{query}" if query else "")


def quoted_query(query: str | bytes) -> str:
    """Quote a query as visible ASCII without backslashes, which redirects to our pages refuse."""
    return quote(query, safe=QUERY_CHARS)
