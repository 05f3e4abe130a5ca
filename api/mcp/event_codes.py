"""The errors of the methods `events/…`, in the numbers that the client of a request understands."""

from api.mcp.call import Call
from api.mcp.messages import Json, RpcError
from api.mcp.server_info import EVENTS
from webapp.domain.events.protocol import EventError
from webapp.domain.shared.vocabulary import ErrorProfile


def error_profile(call: Call) -> ErrorProfile:
    """Those of the extension for requests that declare it, else the plain ones."""
    extensions = call.capabilities.get("extensions")
    declared = isinstance(extensions, dict) and EVENTS in extensions
    return ErrorProfile.EXTENSION if declared else ErrorProfile.PLAIN


def event_error(call: Call, error: EventError, **data: object) -> RpcError:
    """The message is the name of the error; what it is about stands in its data alone."""
    found: Json = dict(data)
    return RpcError(error.code(error_profile(call)), error.message, found)
