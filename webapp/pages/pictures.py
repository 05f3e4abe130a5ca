"""Pictures of who asks, as responses: the address has the digest, so they never change."""

from http import HTTPStatus

from flask import Response, abort


def as_picture(content: bytes | None) -> Response:
    """The PNG; 404 for none."""
    if content is None:
        abort(HTTPStatus.NOT_FOUND)
    headers = {"Cache-Control": "private, max-age=31536000, immutable"}
    return Response(content, mimetype="image/png", headers=headers)
