"""The protocol of the MCP endpoint: messages, the two eras, calls, and CORS."""

import base64
import json
import re
import tomllib
from collections.abc import Mapping
from dataclasses import KW_ONLY, dataclass, field
from http import HTTPStatus
from importlib.metadata import version
from pathlib import Path
from typing import NamedTuple, cast
from urllib.parse import urlsplit

import orjson
from flask import Blueprint, Response, request

from webapp.base.config import Settings, settings
from webapp.base.config_readers import is_loopback, origin
from webapp.oauth.guard import Caller
from webapp.records.content.draft_input import ONE_QUESTION_RULE
from webapp.web import assets, hosts

bp = Blueprint("mcp", __name__, url_prefix="/mcp/app")

PARSE_ERROR = -32700
INVALID_REQUEST = -32600
METHOD_NOT_FOUND = -32601
INVALID_PARAMS = -32602
INTERNAL_ERROR = -32603

BATCH = (
    "Batches are not supported: send each message as a request of its own. "
    "Only protocol 2025-03-26 had batches."
)

MessageId = str | int
Json = dict[str, object]


@dataclass(eq=False)
class RpcError(Exception):
    """The refusal of a request; `data` is omitted if None.

    status   HTTP status; None for the status of the code in the era of the request
    headers  of the response
    """

    code: int
    message: str
    data: Json | None = None
    _: KW_ONLY
    status: HTTPStatus | None = None
    headers: dict[str, str] = field(default_factory=dict)


class Message(NamedTuple):
    """A JSON-RPC request; a notification has no id. `params` defaults to {}."""

    id: MessageId | None
    method: str
    params: object


def read_message(value: object) -> Message:
    """Return the message in a body. raises RpcError `INVALID_REQUEST`"""
    if isinstance(value, list):
        raise RpcError(INVALID_REQUEST, BATCH)
    if not isinstance(value, dict) or value.get("jsonrpc") != "2.0":
        raise RpcError(INVALID_REQUEST, "The body is no JSON-RPC 2.0 object.")
    method = value.get("method")
    if not isinstance(method, str):
        raise RpcError(INVALID_REQUEST, "The message names no method.")
    if "id" in value and not _is_id(value["id"]):
        raise RpcError(INVALID_REQUEST, "The id is neither a string nor an integer.")
    return Message(value.get("id"), method, value.get("params", {}))


def _is_id(value: object) -> bool:
    """Return True if a request may have this id; booleans do not count as integers."""
    return isinstance(value, (str, int)) and not isinstance(value, bool)


def readable_id(value: object) -> MessageId | None:
    """Return the id of a body that may be invalid, for the error that answers it."""
    found = value.get("id") if isinstance(value, dict) else None
    return found if _is_id(found) else None


def error_body(message_id: MessageId | None, error: RpcError) -> Json:
    """Return the error response to a request, or to a body that holds none."""
    data = {} if error.data is None else {"data": error.data}
    found = {"code": error.code, "message": error.message, **data}
    return {"jsonrpc": "2.0", "id": message_id, "error": found}


def encoded(body: Json) -> bytes:
    """Encode a body; `json` takes over for ids (large numbers, odd text) that orjson refuses."""
    try:
        return orjson.dumps(body)
    except TypeError:
        return json.dumps(body).encode()


MODERN = "2026-07-28"
# 2024-11-05 has another transport, but early clients of this transport name it
LEGACY = ("2025-11-25", "2025-06-18", "2025-03-26", "2024-11-05")
# clients of these refuse a result with `audio` or a `resource_link`; None: no version header
WITHOUT_BLOCKS = (None, *LEGACY[2:])
HEADER_MISMATCH = -32020
UNSUPPORTED_VERSION = -32022
META = "io.modelcontextprotocol/"
VERSION_KEY, CAPABILITIES_KEY = f"{META}protocolVersion", f"{META}clientCapabilities"
NAMED_BY = {"tools/call": "name", "prompts/get": "name", "resources/read": "uri"}
ENCODED = re.compile(r"=\?base64\?([A-Za-z0-9+/=]*)\?=")

# errors that are not answered with 200; the modern era has more of them
STATUS = dict.fromkeys((PARSE_ERROR, INVALID_REQUEST), HTTPStatus.BAD_REQUEST)
MODERN_STATUS = STATUS | {
    INVALID_PARAMS: HTTPStatus.BAD_REQUEST,
    HEADER_MISMATCH: HTTPStatus.BAD_REQUEST,
    METHOD_NOT_FOUND: HTTPStatus.NOT_FOUND,
}


def is_modern(version: str | None, params: object) -> bool:
    """Return True for the modern era: the header `MCP-Protocol-Version` names no legacy version or,
    without that header, `_meta` holds the version or the capabilities of the client.
    """
    if version is not None:
        return version not in LEGACY
    meta = _meta(params)
    return VERSION_KEY in meta or CAPABILITIES_KEY in meta


def check_modern(message: Message) -> Mapping[str, object]:
    """Check a modern request and its headers, and return the capabilities of its client.

    raises  RpcError `INVALID_PARAMS`, `HEADER_MISMATCH` or `UNSUPPORTED_VERSION`
    """
    meta = _meta(message.params)
    missing = [key for key in (VERSION_KEY, CAPABILITIES_KEY) if key not in meta]
    if missing:
        raise RpcError(INVALID_PARAMS, f"params._meta lacks {' and '.join(missing)}.")
    _require_equal("MCP-Protocol-Version", meta[VERSION_KEY])
    _require_equal("Mcp-Method", message.method)
    if message.method in NAMED_BY:
        named = cast(Json, message.params).get(NAMED_BY[message.method])
        _require_equal("Mcp-Name", named)
    if meta[VERSION_KEY] != MODERN:
        raise unsupported(meta[VERSION_KEY])
    capabilities = meta[CAPABILITIES_KEY]
    if not isinstance(capabilities, dict):
        raise RpcError(INVALID_PARAMS, f"params._meta: {CAPABILITIES_KEY} is no object.")
    return capabilities


def unsupported(requested: object) -> RpcError:
    """Return the refusal of a version."""
    return RpcError(
        UNSUPPORTED_VERSION,
        "Unsupported protocol version",
        {"supported": [MODERN], "requested": requested},
        status=HTTPStatus.BAD_REQUEST,
    )


def _meta(params: object) -> Json:
    meta = params.get("_meta") if isinstance(params, dict) else None
    return meta if isinstance(meta, dict) else {}


def _require_equal(name: str, wanted: object) -> None:
    given = request.headers.get(name)
    if given is None or _decoded(given.strip()) != wanted:
        raise RpcError(HEADER_MISMATCH, f"The header {name} is missing or differs from the body.")


def _decoded(value: str) -> str | None:
    """Decode a header value, which is in Base64 if it is not ASCII; None if that fails."""
    found = ENCODED.fullmatch(value)
    if found is None:
        return value
    try:
        return base64.b64decode(found[1], validate=True).decode()
    except ValueError:
        return None


@dataclass(frozen=True, slots=True)
class Call:
    """A request with its sender.

    modern          True in the modern era; legacy requests carry no capabilities
    request_state   the state that a client returns when it continues a call; unchecked
    responses       its answers to the requests of an earlier result; unchecked
    blocks          audio and links that a tool adds to its result; None if the client refuses them
    """

    caller: Caller
    modern: bool
    capabilities: Mapping[str, object] = field(default_factory=dict)
    request_state: object = None
    responses: object = None
    blocks: list[Json] | None = None


EVENTS = "io.modelcontextprotocol/events"
SERVER_INFO_KEY = "io.modelcontextprotocol/serverInfo"
SERVER_INFO: Json = {"name": "askback", "title": "Askback", "version": version("askback")}
ICONS = {"icon.png": ("image/png", "128x128"), "icon.svg": ("image/svg+xml", "any")}
INSTRUCTIONS = tomllib.loads((Path(__file__).parent / "instructions.toml").read_text("utf-8"))


def server_info(protocol: str) -> Json:
    """Return the server's data that this protocol version has fields for."""
    if protocol in ("2025-03-26", "2024-11-05"):
        return {name: value for name, value in SERVER_INFO.items() if name != "title"}
    if protocol == "2025-06-18":
        return SERVER_INFO
    origin = hosts.origin_under(request.host)
    icons = [
        {"src": origin + assets.asset(name), "mimeType": kind, "sizes": [size]}
        for name, (kind, size) in ICONS.items()
    ]
    return {**SERVER_INFO, "websiteUrl": origin, "icons": icons}


def capabilities() -> Json:
    """Return the capabilities of this server; clients look for events in two places."""
    found: Json = {"tools": {}}
    if settings().mcp_events_enabled:
        found |= {"events": {}, "extensions": {EVENTS: {}}}
    return found


def instructions() -> str:
    """Return the text that a host may give its model first."""
    with_events = settings().mcp_events_enabled
    essential = INSTRUCTIONS["essential"].format(
        after_events=", also after an event" if with_events else ""
    )
    rules = [ONE_QUESTION_RULE, *INSTRUCTIONS["rules"]]
    return "\n".join((essential, *rules, *(INSTRUCTIONS["event_rules"] if with_events else ())))


PREFLIGHT = {
    "Access-Control-Allow-Methods": "POST",
    "Access-Control-Allow-Headers": (
        "Authorization, Content-Type, MCP-Protocol-Version, Mcp-Method, Mcp-Name"
    ),
    "Access-Control-Max-Age": "7200",  # the longest that Chromium keeps a preflight
}


def is_refused() -> bool:
    """Return True if the request comes from a page that may not call; programs send no Origin."""
    given = request.headers.get("Origin")
    own = request.host_url.rstrip("/")
    return given is not None and not _is_allowed(given, settings(), own)


def add_cors(response: Response) -> Response:
    """Let pages of allowed origins read the response, without credentials."""
    response.headers.add("Vary", "Origin")
    own = request.host_url.rstrip("/")
    if found := cors_headers(request.headers.get("Origin"), settings(), own):
        response.headers.update(found | (PREFLIGHT if request.method == "OPTIONS" else {}))
    return response


def cors_headers(given: str | None, config: Settings, own_origin: str) -> dict[str, str]:
    """Return the CORS headers, except `Vary`, for a request from the origin `given`.

    own_origin  the origin that the request called; empty if unknown, as its pages need no CORS
    """
    if given is None or not _is_allowed(given, config, own_origin):
        return {}
    return {
        "Access-Control-Allow-Origin": given,
        "Access-Control-Expose-Headers": "WWW-Authenticate",
    }


def _is_allowed(given: str, config: Settings, own_origin: str) -> bool:
    """Return True for our own origin, the operator's, and loopback if the server is on loopback."""
    try:
        found = origin(given)
    except ValueError:
        return False
    local = config.on_loopback and is_loopback(urlsplit(found).hostname or "")
    return local or found in {config.public_url, own_origin, *config.mcp_allowed_origins}
