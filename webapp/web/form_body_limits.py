"""Bounds the bodies of forms, and reads them once, before our code or an extension reads fields.

Recordings and pictures may be larger than other forms. Recordings are stored in the data folder,
which has room for them: a temporary folder may be in memory.
"""

import errno
import re
from collections.abc import Callable
from io import BytesIO
from pathlib import Path
from tempfile import NamedTemporaryFile
from typing import IO, Any, cast

from flask import Flask, Request, abort, request
from werkzeug.datastructures import FileStorage, MultiDict
from werkzeug.exceptions import RequestEntityTooLarge
from werkzeug.formparser import FormDataParser

from webapp.base.config import settings
from webapp.base.data_folder import spool_folder
from webapp.web.request_kind import PROGRAMS, RequestKind, request_kind

FORM_BODY_MAX_BYTES = 1280 * 1024  # 12 bytes per character of the longest spoken answer
PICTURE_BODY_MAX_BYTES = 2 * 1024 * 1024 + 64 * 1024  # a picture of two megabytes
UPLOAD_BODY_MAX_BYTES = 32 * 1024 * 1024  # a recording and its transcript
UPLOAD_FIELDS_MAX = 100  # more than our page and browser extensions send
UPLOAD_FILES_MAX = 3  # the recording, possibly doubled
FORM_FIELDS_MAX = 1000  # Werkzeug's default for multipart bodies
URLENCODED = "application/x-www-form-urlencoded"
READ_THEIR_OWN = {*PROGRAMS, RequestKind.OAUTH}  # these read and bound bodies themselves

UPLOAD_PATH = re.compile(r"/r/[^/]+/q/[0-9]+(?:/f/[0-9]+)?/recording")
PICTURE_PATH = "/account/picture"
REFUSED = "askback.refused"  # key in the WSGI environment: the status of a server's refusal

Parsed = tuple[IO[bytes], MultiDict[str, str], MultiDict[str, FileStorage]]


class FormParser(FormDataParser):
    """Bounds the number of fields of URL-encoded bodies; Werkzeug bounds only multipart bodies."""

    def parse(self, stream: IO[bytes], mimetype: str, *more: Any, **named: Any) -> Parsed:
        """Parse a body. Raises RequestEntityTooLarge."""
        if mimetype == URLENCODED:
            body = stream.read()
            if body.count(b"&") >= FORM_FIELDS_MAX:
                raise RequestEntityTooLarge
            stream = BytesIO(body)
        return super().parse(stream, mimetype, *more, **named)


class UploadedFile:
    """A posted file, which is in the data folder from its first byte until the request ends.

    If the disk fails, the file is lost, but not the text that was posted with it.
    open_file  creates the file; its OSError counts as a failure of the disk
    """

    def __init__(self, open_file: Callable[[], IO[bytes]]) -> None:
        self.size = 0
        self._open_file = open_file
        self._file: IO[bytes] | None = None
        self._failure: OSError | None = None

    @property
    def path(self) -> Path:
        """Return the path of the file. Raises OSError if it could not be stored."""
        if self._failure or not self._file:
            raise self._failure or OSError("closed")
        return Path(self._file.name)

    def write(self, data: bytes) -> int:
        """Write data; never raises, because `path` raises the failure later."""
        self.size += len(data)
        try:
            if data and not self._failure:
                self._file = self._file or self._open_file()
                self._file.write(data)
        except OSError as error:
            self._failure = error
        return len(data)

    def seek(self, position: int) -> int:
        """Seek, as Werkzeug does once the file is complete."""
        if self._file and not self._failure:
            self._file.seek(position)
        return position

    def close(self) -> None:
        """Delete the file."""
        if self._file:
            self._file.close()
            self._file = None


class BoundedRequest(Request):
    """A request that stores posted files in the data folder, but only at addresses for uploads.

    A browser extension may add file fields. The limit of the body bounds all files together; only
    few are stored, because each holds a descriptor.
    """

    form_data_parser_class = FormParser
    _stored = 0

    def _get_file_stream(self, *_described: object, **_by_name: object) -> IO[bytes]:
        if not UPLOAD_PATH.fullmatch(self.path):
            return BytesIO()
        return cast(IO[bytes], UploadedFile(self._open_file))

    def _open_file(self) -> IO[bytes]:
        """Create a file in the spool folder. Raises OSError, also beyond UPLOAD_FILES_MAX files."""
        self._stored += 1
        if self._stored > UPLOAD_FILES_MAX:
            raise OSError(errno.EMFILE, "too many files in one request")
        folder = spool_folder(settings().data_folder)
        return cast(IO[bytes], NamedTemporaryFile(dir=folder, buffering=0))


def body_max_bytes(path: str) -> int:
    """Return the maximum size in bytes of a body to this path."""
    if UPLOAD_PATH.fullmatch(path):
        return UPLOAD_BODY_MAX_BYTES
    return PICTURE_BODY_MAX_BYTES if path == PICTURE_PATH else FORM_BODY_MAX_BYTES


def init_app(app: Flask) -> None:
    """Bound the bodies of all routes.

    Call it after anything that replaces the request class, and before anything that reads forms.
    """
    app.request_class = type("Bounded", (BoundedRequest, app.request_class), {})
    app.config.update(
        MAX_CONTENT_LENGTH=FORM_BODY_MAX_BYTES,
        MAX_FORM_MEMORY_SIZE=FORM_BODY_MAX_BYTES,
        MAX_FORM_PARTS=FORM_FIELDS_MAX,
    )

    app.before_request(_read_form)


def _read_form() -> None:
    """Refuse a form that is too large here; in the limiter it would be a server error."""
    if REFUSED in request.environ:
        abort(request.environ[REFUSED])
    request.max_content_length = body_max_bytes(request.path)
    if UPLOAD_PATH.fullmatch(request.path):
        request.max_form_parts = UPLOAD_FIELDS_MAX
    if request.content_type and request_kind() not in READ_THEIR_OWN:
        request.form  # noqa: B018
