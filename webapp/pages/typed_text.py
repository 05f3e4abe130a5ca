"""Text that people typed into a form."""

from flask import request


def typed_text(name: str) -> str:
    """A posted field with line feeds as the only line ends; "" if it was not posted."""
    return request.form.get(name, "").replace("\r\n", "\n").replace("\r", "\n")
