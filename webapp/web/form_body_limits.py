"""The bounds of form bodies, which are read once, before our code or an extension reads fields.

A blueprint with another bound sets `request.max_content_length` in a URL value preprocessor.
"""

from io import BytesIO
from typing import IO

from flask import Flask, request
from werkzeug.datastructures import FileStorage, MultiDict
from werkzeug.exceptions import RequestEntityTooLarge
from werkzeug.formparser import FormDataParser

from webapp.domain.shared.limits import FORM_BODY_MAX_BYTES, FORM_FIELDS_MAX
from webapp.web.request_kind import PROGRAMS, RequestKind, request_kind

URLENCODED = "application/x-www-form-urlencoded"
READ_THEIR_OWN = {*PROGRAMS, RequestKind.OAUTH}  # these read and bound bodies themselves

Parsed = tuple[IO[bytes], MultiDict[str, str], MultiDict[str, FileStorage]]


class FormParser(FormDataParser):
    """Werkzeug bounds the number of fields in multipart bodies only."""

    def parse(
        self,
        stream: IO[bytes],
        mimetype: str,
        content_length: int | None,
        options: dict[str, str] | None = None,
    ) -> Parsed:
        """Raises RequestEntityTooLarge."""
        if mimetype == URLENCODED:
            body = stream.read()
            if body.count(b"&") >= FORM_FIELDS_MAX:
                raise RequestEntityTooLarge
            stream = BytesIO(body)
        return super().parse(stream, mimetype, content_length, options)


def init_app(app: Flask) -> None:
    """Bound the bodies of all routes.

    Call it after anything that replaces the request class, and before anything that reads forms.
    """
    bounded = {"form_data_parser_class": FormParser}
    app.request_class = type("BoundedRequest", (app.request_class,), bounded)
    app.config.update(
        MAX_CONTENT_LENGTH=FORM_BODY_MAX_BYTES,
        MAX_FORM_MEMORY_SIZE=FORM_BODY_MAX_BYTES,
        MAX_FORM_PARTS=FORM_FIELDS_MAX,
    )

    @app.before_request
    def read_form() -> None:
        """Refuse a form that is too large here: the limiter would treat it as a server error."""
        if request.content_type and request_kind() not in READ_THEIR_OWN:
            request.form  # noqa: B018
