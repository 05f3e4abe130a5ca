"""The methods of the endpoint: which of them each era has, and the scope each of them needs."""

from collections.abc import Callable
from dataclasses import replace
from typing import NamedTuple

from api.mcp import events
from api.mcp.call import Call
from api.mcp.eras import MODERN, Era, negotiated_version
from api.mcp.messages import (
    INVALID_PARAMS,
    METHOD_NOT_FOUND,
    Json,
    Message,
    RpcError,
)
from api.mcp.server_info import (
    SERVER_INFO,
    SERVER_INFO_KEY,
    capabilities,
    instructions,
    server_info,
)
from api.mcp.tools import (
    agent_tokens,
    attachments,
    completed_response,
    drafts,
    forms,
    responses,
    waits,
)
from api.mcp.tools.invocation import invoke
from api.mcp.tools.table import TOOLS
from webapp.config import settings
from webapp.domain.shared.input_model import UNSET
from webapp.oauth.guard import require_mcp_scope

__all__ = [
    "agent_tokens",
    "answer",
    "attachments",
    "completed_response",
    "drafts",
    "forms",
    "responses",
    "waits",
]

LISTED_MS = 300_000  # how long a client may keep what does not change while a process runs
CACHED: Json = {"ttlMs": LISTED_MS, "cacheScope": "public"}


class Method(NamedTuple):
    """A method and the eras that have it; `call` gets the parameters as an object.

    with_events  there only where events are switched on
    """

    call: Callable[[Call, Json], Json]
    eras: frozenset[Era] = frozenset(Era)
    with_events: bool = False


def answer(call: Call, message: Message) -> Json:
    """The result of a request in its era. raises RpcError"""
    method = METHODS.get(message.method)
    if method is None or not _is_served(method, call.era):
        raise RpcError(METHOD_NOT_FOUND, f"There is no method {message.method[:60]!r} here.")
    if not isinstance(message.params, dict):
        raise RpcError(INVALID_PARAMS, "params is no object.")
    result = method.call(call, message.params)
    if call.era is Era.MODERN:
        return {"resultType": "complete", "_meta": {SERVER_INFO_KEY: SERVER_INFO}, **result}
    return {name: value for name, value in result.items() if name not in CACHED}


def _is_served(method: Method, era: Era) -> bool:
    return era in method.eras and (settings().mcp_events_enabled or not method.with_events)


def discover(_call: Call, _params: Json) -> Json:
    """`server/discover`: reads no database, for some clients wait one second only."""
    return {
        "supportedVersions": [MODERN],
        "capabilities": capabilities(),
        "instructions": instructions(),
        "_meta": {SERVER_INFO_KEY: server_info(MODERN)},
        **CACHED,
    }


def initialize(_call: Call, params: Json) -> Json:
    """How the earlier versions begin; no session is made."""
    protocol = negotiated_version(params.get("protocolVersion"))
    return {
        "protocolVersion": protocol,
        "capabilities": capabilities(),
        "serverInfo": server_info(protocol),
        "instructions": instructions(),
    }


def ping(_call: Call, _params: Json) -> Json:
    """`ping`"""
    return {}


def list_tools(_call: Call, params: Json) -> Json:
    """`tools/list`: one page, by name."""
    if params.get("cursor") not in (None, ""):
        raise RpcError(INVALID_PARAMS, "There is no such page: all tools are on the first one.")
    events = settings().mcp_events_enabled
    return {"tools": [TOOLS[name].listed(events=events) for name in sorted(TOOLS)], **CACHED}


def call_tool(call: Call, params: Json) -> Json:
    """`tools/call`. Whatever the caller can mend is a result with `isError`."""
    name, arguments = params.get("name"), params.get("arguments")
    tool = TOOLS.get(name) if isinstance(name, str) else None
    if tool is None:
        raise RpcError(INVALID_PARAMS, "There is no such tool.")
    if arguments in UNSET:
        arguments = {}
    if not isinstance(arguments, dict):
        raise RpcError(INVALID_PARAMS, "arguments is no object.")
    require_mcp_scope(call.caller, tool.scope)
    state, responses = params.get("requestState"), params.get("inputResponses")
    return invoke(tool, replace(call, request_state=state, responses=responses), arguments)


METHODS = {
    "server/discover": Method(discover, frozenset({Era.MODERN})),
    "initialize": Method(initialize, frozenset({Era.LEGACY})),
    "ping": Method(ping, frozenset({Era.LEGACY})),
    "tools/list": Method(list_tools),
    "tools/call": Method(call_tool),
    "events/list": Method(events.list_events, with_events=True),
    "events/poll": Method(events.poll, with_events=True),
    "events/subscribe": Method(events.subscribe, with_events=True),
    "events/unsubscribe": Method(events.unsubscribe, with_events=True),
}
