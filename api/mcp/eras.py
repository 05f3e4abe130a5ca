"""Which protocol a request speaks, and what it must say to do so."""

import base64
import binascii
import re
from collections.abc import Mapping
from enum import Enum, auto
from http import HTTPStatus
from typing import cast

from werkzeug.datastructures import Headers

from api.mcp.messages import (
    INVALID_PARAMS,
    INVALID_REQUEST,
    METHOD_NOT_FOUND,
    PARSE_ERROR,
    Json,
    Message,
    RpcError,
)

MODERN = "2026-07-28"
# the last one has another transport, but early clients of this one name it
LEGACY = ("2025-11-25", "2025-06-18", "2025-03-26", "2024-11-05")
WITHOUT_BLOCKS = (None, *LEGACY[2:])  # whose clients send no header
HEADER_MISMATCH = -32020
MISSING_CAPABILITY = -32021
UNSUPPORTED_VERSION = -32022
META = "io.modelcontextprotocol/"
VERSION_KEY, CAPABILITIES_KEY = f"{META}protocolVersion", f"{META}clientCapabilities"
NAMED_BY = {"tools/call": "name", "prompts/get": "name", "resources/read": "uri"}
ENCODED = re.compile(r"=\?base64\?([A-Za-z0-9+/=]*)\?=")

# of errors that are not answered with 200
MODERN_STATUS = {
    INVALID_PARAMS: HTTPStatus.BAD_REQUEST,
    HEADER_MISMATCH: HTTPStatus.BAD_REQUEST,
    MISSING_CAPABILITY: HTTPStatus.BAD_REQUEST,
    METHOD_NOT_FOUND: HTTPStatus.NOT_FOUND,
}
STATUS = {PARSE_ERROR: HTTPStatus.BAD_REQUEST, INVALID_REQUEST: HTTPStatus.BAD_REQUEST}


class Era(Enum):
    """MODERN: each request carries its version and the capabilities of its client in `_meta`."""

    MODERN = auto()
    LEGACY = auto()


def era_of(version: str | None, params: object) -> Era:
    """By the header `MCP-Protocol-Version` and `_meta`; what is unknown is held to be modern."""
    if version in LEGACY:
        return Era.LEGACY
    return Era.LEGACY if version is None and not _is_modern(params) else Era.MODERN


def takes_blocks(version: str | None) -> bool:
    """Whether results may hold `audio` and a `resource_link`: where none is named, it may be one
    whose clients refuse a whole result for a block that they do not know.
    """
    return version not in WITHOUT_BLOCKS


def status_of(code: int, era: Era | None) -> HTTPStatus:
    """The HTTP status of an error code; `era` is None where no message could be read."""
    known = STATUS | MODERN_STATUS if era is Era.MODERN else STATUS
    return known.get(code, HTTPStatus.OK)


def check_version(version: str | None) -> None:
    """All that is asked of a notification. raises RpcError `UNSUPPORTED_VERSION`"""
    if version not in (None, MODERN, *LEGACY):
        raise _unsupported(version)


def check_modern(message: Message, headers: Headers) -> Mapping[str, object]:
    """The capabilities of the client; what is wrong first is refused first.

    raises  RpcError `INVALID_PARAMS`, `HEADER_MISMATCH` or `UNSUPPORTED_VERSION`
    """
    meta = _meta(message.params)
    missing = [key for key in (VERSION_KEY, CAPABILITIES_KEY) if meta is None or key not in meta]
    if meta is None or missing:
        raise RpcError(INVALID_PARAMS, f"params._meta lacks {' and '.join(missing)}.")
    _require_equal(headers, "MCP-Protocol-Version", meta[VERSION_KEY])
    _require_equal(headers, "Mcp-Method", message.method)
    if message.method in NAMED_BY:
        named = cast(Json, message.params).get(NAMED_BY[message.method])
        _require_equal(headers, "Mcp-Name", named)
    if meta[VERSION_KEY] != MODERN:
        raise _unsupported(meta[VERSION_KEY])
    capabilities = meta[CAPABILITIES_KEY]
    if not isinstance(capabilities, dict):
        raise RpcError(INVALID_PARAMS, f"params._meta: {CAPABILITIES_KEY} is no object.")
    return capabilities


def negotiated_version(asked: object) -> str:
    """The version that `initialize` answers."""
    return asked if isinstance(asked, str) and asked in LEGACY else LEGACY[0]


def _unsupported(requested: object) -> RpcError:
    return RpcError(
        UNSUPPORTED_VERSION,
        "Unsupported protocol version",
        {"supported": [MODERN], "requested": requested},
        status=HTTPStatus.BAD_REQUEST,
    )


def _meta(params: object) -> Json | None:
    meta = params.get("_meta") if isinstance(params, dict) else None
    return meta if isinstance(meta, dict) else None


def _is_modern(params: object) -> bool:
    meta = _meta(params)
    return meta is not None and any(key in meta for key in (VERSION_KEY, CAPABILITIES_KEY))


def _require_equal(headers: Headers, name: str, wanted: object) -> None:
    given = headers.get(name)
    if given is None or _decoded(given.strip()) != wanted:
        raise RpcError(HEADER_MISMATCH, f"The header {name} is missing or differs from the body.")


def _decoded(value: str) -> str | None:
    """A header value in the encoding for what is not ASCII; None if it cannot be decoded."""
    found = ENCODED.fullmatch(value)
    if found is None:
        return value
    try:
        return base64.b64decode(found[1], validate=True).decode()
    except (binascii.Error, UnicodeDecodeError):
        return None
