"""Sends recordings over HTTP, whole or in part (RFC 9110 section 14)."""

from collections.abc import Callable, Iterator
from http import HTTPStatus
from io import FileIO
from typing import Any

from flask import Response, request
from werkzeug.datastructures import Range
from werkzeug.wsgi import wrap_file

from webapp.base.database import release_connections


def recording_response(
    recording: Any, read: Callable[[str, int, int], Iterator[bytes]]
) -> Response:
    """Return 200 with the recording, 206 with the requested range, or 416 for a range beyond it.

    The headers stop browsers from showing uploads as our pages, and other origins from reading
    them. Several ranges, and a range with `If-Range` (we have no validators), get the whole
    recording. The response holds no database connection.

    read  yields the bytes of an object from a position up to an exclusive end; not for HEAD
    """
    release_connections()
    size = recording.size
    start, end, status = _asked(size)
    response = Response(status=status, mimetype=recording.media_type)
    headers = response.headers
    headers["Accept-Ranges"] = "bytes"
    headers["Cache-Control"] = "private, no-store"
    headers.set("Content-Disposition", "attachment", filename=recording.name)
    headers["Content-Security-Policy"] = "sandbox"  # in addition to the general policy
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
    if isinstance(parts, FileIO) and "wsgi.file_wrapper" in request.environ:
        # the server sends an open file without blocking a thread
        response.direct_passthrough = True
        response.response = wrap_file(request.environ, parts)
    else:
        response.response = parts
    return response


def _asked(size: int) -> tuple[int, int, HTTPStatus]:
    """Return the first position, the position after the last, and the status."""
    asked = request.range if request.method == "GET" and "If-Range" not in request.headers else None
    if asked is None or asked.units != "bytes" or len(asked.ranges) != 1:
        return 0, size, HTTPStatus.OK
    first, after_last = asked.ranges[0]
    found = Range("bytes", [(max(first, -size), after_last)]).range_for_length(size)
    if found is None:
        return 0, 0, HTTPStatus.REQUESTED_RANGE_NOT_SATISFIABLE
    return *found, HTTPStatus.PARTIAL_CONTENT
