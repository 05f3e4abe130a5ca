"""Text that people typed into a form."""

from flask import request


def typed_text(name: str) -> str:
    """A posted field with line feeds as the only line ends; "" if it was not posted."""
    return with_line_feeds(request.form.get(name, ""))


def with_line_feeds(text: str) -> str:
    """The text with line feeds as the only line ends."""
    return text.replace("\r\n", "\n").replace("\r", "\n")
