"""What MCP Events (SEP-3415) may still renumber or rename: error codes, and the id of a message."""

from enum import Enum

from webapp.domain.shared.vocabulary import ErrorProfile

EVENT_NAME = "response.submitted"


class EventError(Enum):
    """An error: its name, its code for most clients, and that for those with the extension."""

    NOT_FOUND = ("NotFound", -32011, -32023)
    FORBIDDEN = ("Forbidden", -32012, -32024)
    RESOURCE_EXHAUSTED = ("ResourceExhausted", -32013, -32025)
    UNSUPPORTED = ("Unsupported", -32014, -32026)
    CALLBACK_ENDPOINT_ERROR = ("CallbackEndpointError", -32015, -32027)

    @property
    def message(self) -> str:
        """What stands beside the code."""
        return self.value[0]

    def code(self, profile: ErrorProfile) -> int:
        """Its number for a client."""
        _, plain, extension = self.value
        return extension if profile is ErrorProfile.EXTENSION else plain


def webhook_id(event_id: str) -> str:
    """The header `webhook-id` of an event: receivers refuse one that differs from its body."""
    return event_id
