"""Recordings over HTTP, whole or a part of them (RFC 9110, section 14)."""

from collections.abc import Callable, Iterator
from http import HTTPStatus
from io import FileIO
from typing import Protocol

from flask import Response, request
from werkzeug.datastructures import Range
from werkzeug.wsgi import wrap_file

from webapp.base.database import release_connections

SERVER_SENDS_FILES = "wsgi.file_wrapper"


class StoredRecording(Protocol):
    """What its row says of the object that a recording is."""

    @property
    def object_key(self) -> str: ...
    @property
    def media_type(self) -> str: ...
    @property
    def size(self) -> int: ...
    @property
    def name(self) -> str: ...


def recording_response(
    recording: StoredRecording,
    read: Callable[[str, int, int], Iterator[bytes]],
    *,
    download: bool = True,
) -> Response:
    """200, the part of a Range header as 206, or 416 where there is none of it.

    What people uploaded is never shown as a page of ours, nor read by other origins. Several
    ranges, and ranges under a condition (`If-Range`: there are no validators), get all of it.
    No database connection is held.

    read      the bytes of an object from one position up to, not including, another; not for HEAD
    download  name the file as which a browser keeps it
    """
    release_connections()
    size = recording.size
    start, end, status = _asked(size)
    response = Response(status=status, mimetype=recording.media_type)
    headers = response.headers
    headers["Accept-Ranges"] = "bytes"
    headers["Cache-Control"] = "private, no-store"
    headers["Content-Disposition"] = "attachment"
    if download:
        headers.set("Content-Disposition", "attachment", filename=recording.name)
    headers["Content-Security-Policy"] = "sandbox"  # besides the one of every response
    headers["Cross-Origin-Resource-Policy"] = "same-origin"
    if status is HTTPStatus.REQUESTED_RANGE_NOT_SATISFIABLE:
        headers["Content-Range"] = f"bytes */{size}"
        return response
    if status is HTTPStatus.PARTIAL_CONTENT:
        headers["Content-Range"] = f"bytes {start}-{end - 1}/{size}"
    headers["Content-Length"] = str(end - start)
    if request.method == "HEAD":
        return response
    parts = read(recording.object_key, start, end)
    if isinstance(parts, FileIO) and SERVER_SENDS_FILES in request.environ:
        # the server sends an open file without a thread for it
        response.direct_passthrough = True
        response.response = wrap_file(request.environ, parts)
    else:
        response.response = parts
    return response


def _asked(size: int) -> tuple[int, int, HTTPStatus]:
    """First position, the one after the last, and how it is answered."""
    asked = request.range if request.method == "GET" and "If-Range" not in request.headers else None
    if asked is None or asked.units != "bytes" or len(asked.ranges) != 1:
        return 0, size, HTTPStatus.OK
    first, after_last = asked.ranges[0]
    found = Range("bytes", [(max(first, -size), after_last)]).range_for_length(size)
    if found is None:
        return 0, 0, HTTPStatus.REQUESTED_RANGE_NOT_SATISFIABLE
    return *found, HTTPStatus.PARTIAL_CONTENT
