"""The errors of the methods `events/…`, in the numbers that the client of a request understands."""

from api.mcp.call import Call
from api.mcp.messages import Json, RpcError
from api.mcp.server_info import EVENTS
from webapp.config import settings
from webapp.domain.events.protocol import EventError
from webapp.domain.shared.vocabulary import ErrorProfile

FORCED = {"sketch": ErrorProfile.PLAIN, "sep": ErrorProfile.EXTENSION}


def error_profile(call: Call) -> ErrorProfile:
    """That of the setting; else whether this request declares the events extension."""
    forced = FORCED.get(settings().mcp_events_error_codes)
    if forced is not None:
        return forced
    extensions = call.capabilities.get("extensions")
    declared = isinstance(extensions, dict) and EVENTS in extensions
    return ErrorProfile.EXTENSION if declared else ErrorProfile.PLAIN


def event_error(call: Call, error: EventError, **data: object) -> RpcError:
    """The message is the name of the error; what it is about stands in its data alone."""
    found: Json = dict(data)
    return RpcError(error.code(error_profile(call)), error.message, found)
