"""Success answers: JSON bytes with the headers that all of them carry."""

from http import HTTPStatus

import orjson
from flask import Response

from webapp.config import settings
from webapp.domain.drafts.models import Draft


def json_answer(
    body: object,
    status: HTTPStatus = HTTPStatus.OK,
    headers: dict[str, str] | None = None,
) -> Response:
    """`body` as JSON that no cache keeps."""
    carried = {"Content-Type": "application/json", "Cache-Control": "private, no-store"}
    return Response(orjson.dumps(body), status, carried | (headers or {}))


def draft_headers(draft: Draft) -> dict[str, str]:
    """The revision as an entity tag, and where the creator reviews the draft."""
    return {"ETag": f'"{draft.revision}"', "Link": review_link(draft.id)}


def draft_location(draft_id: str) -> str:
    """The address of the draft in the API."""
    return f"{settings().api_url}/drafts/{draft_id}"


def review_url(draft_id: str) -> str:
    """The page where the creator reviews and confirms the draft."""
    return f"{settings().public_url}/drafts/{draft_id}"


def review_link(draft_id: str) -> str:
    """The value of a Link header (RFC 8288; the relation is RFC 5023 section 11.1)."""
    return f'<{review_url(draft_id)}>; rel="edit-form"'
