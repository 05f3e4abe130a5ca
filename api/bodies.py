"""JSON bodies of requests and responses, and the query parameters that routes share."""

import json
import math
from collections import Counter
from http import HTTPStatus

import orjson
from flask import Response, request
from werkzeug.exceptions import RequestEntityTooLarge

from webapp.base.config import settings
from webapp.base.errors import ErrorCode, InvalidInput, sent, wrong_field
from webapp.records.responses.cursor import parse_since

API_BODY_MAX_BYTES = 256 * 1024  # limits all questions of a draft together


def json_answer(
    body: object,
    status: HTTPStatus = HTTPStatus.OK,
    headers: dict[str, str] | None = None,
) -> Response:
    """Answer with `body` as JSON that no cache may store."""
    carried = {"Content-Type": "application/json", "Cache-Control": "private, no-store"}
    return Response(orjson.dumps(body), status, carried | (headers or {}))


def draft_location(draft_id: str) -> str:
    """Return the address of the draft in the API."""
    return f"{settings().api_url}/drafts/{draft_id}"


def review_url(draft_id: str) -> str:
    """Return the address of the page where the creator reviews and confirms the draft."""
    return f"{settings().public_url}/drafts/{draft_id}"


def review_link(draft_id: str) -> str:
    """Return the value of a Link header (RFC 8288; the relation is from RFC 5023 section 11.1)."""
    return f'<{review_url(draft_id)}>; rel="edit-form"'


class UnreadableJson(Exception):
    """A body that is not acceptable JSON; the message continues a sentence after "the body"."""


def json_body() -> object:
    """Return the JSON value of the body; a byte order mark is skipped.

    raises InvalidInput `invalid_json` or `payload_too_large`. Stricter than RFC 8259:
    refuses other content types and encodings, a repeated name in an object, numbers that are not
    finite, and nesting or numbers beyond Python's limits.
    """
    _require_json()
    try:
        return decode_json(read_body())
    except UnreadableJson as problem:
        remedy = "Send one JSON object in UTF-8 (RFC 8259)."
        raise wrong_field("body", str(problem), remedy, ErrorCode.INVALID_JSON) from None


def decode_json(raw: bytes) -> object:
    """Decode JSON as strictly as `json_body`. raises UnreadableJson"""
    if not raw.strip():
        raise UnreadableJson("is empty; a JSON object is needed, {} at least")
    try:
        return _DECODER.decode(raw.decode("utf-8-sig"))
    except RecursionError:
        raise UnreadableJson("is nested too deeply") from None
    except UnicodeDecodeError as problem:
        raise UnreadableJson(f"is not UTF-8 at byte {problem.start + 1}") from None
    except json.JSONDecodeError as problem:
        where = f"line {problem.lineno}, column {problem.colno}"
        raise UnreadableJson(f"is not JSON at {where}") from None
    except ValueError:
        raise UnreadableJson("has a number that is too large") from None


def read_body() -> bytes:
    """Return the bytes of the body; raises InvalidInput `payload_too_large`."""
    request.max_content_length = API_BODY_MAX_BYTES
    try:
        return request.get_data()
    except RequestEntityTooLarge:
        raise too_large("body") from None


def too_large(field: str) -> InvalidInput:
    """Return the refusal of a `field` that is larger than a body may be."""
    size = f"{API_BODY_MAX_BYTES // 1024} KiB"
    remedy = (
        "Send less text: question texts have no limit of their own, but all questions of a "
        f"draft together must fit into {size}."
    )
    return wrong_field(field, f"is larger than {size}", remedy, ErrorCode.PAYLOAD_TOO_LARGE)


def is_uncompressed() -> bool:
    """Return True if the header Content-Encoding is absent or `identity`."""
    return request.headers.get("Content-Encoding", "identity").lower() == "identity"


def is_json_in_utf_8() -> bool:
    """Return True if the header Content-Type names JSON, and no charset but UTF-8."""
    charset = request.mimetype_params.get("charset", "utf-8").lower()
    return request.mimetype == "application/json" and charset in ("utf-8", "utf8")


def _require_json() -> None:
    if not is_uncompressed():
        encoding = sent(request.headers["Content-Encoding"].lower())
        problem = f"is {encoding}; a compressed body is not read"
        remedy = "Send the body as it is, without the header Content-Encoding."
        raise wrong_field("Content-Encoding", problem, remedy, ErrorCode.INVALID_JSON)
    if not is_json_in_utf_8():
        given = request.headers.get("Content-Type")
        problem = f"is {sent(given) if given else 'missing'}; application/json is needed"
        remedy = "Send a JSON object in UTF-8 with the header Content-Type: application/json."
        raise wrong_field("Content-Type", problem, remedy, ErrorCode.INVALID_JSON)


def _object(pairs: list[tuple[str, object]]) -> dict[str, object]:
    found = dict(pairs)
    if len(found) != len(pairs):
        ((name, _),) = Counter(name for name, _ in pairs).most_common(1)
        raise UnreadableJson(f"has the field {sent(name)} twice in one object")
    return found


def _finite(digits: str) -> float:
    number = float(digits)
    if not math.isfinite(number):
        raise UnreadableJson("has a number that is too large")
    return number


def _no_constant(name: str) -> float:
    raise UnreadableJson(f"has {name}, which is no JSON value")


_DECODER = json.JSONDecoder(
    object_pairs_hook=_object,
    parse_float=_finite,
    parse_constant=_no_constant,
)


def given_since() -> int | None:
    """Return `since` in milliseconds, None if absent. raises InvalidInput `invalid_since`"""
    return parse_since(request.args.get("since"))
