"""What a model is asked for, and the shape of its reply."""

from typing import Any, NamedTuple

from webapp.domain.follow_ups.thread import Technique

ASK, STOP = "ask", "stop"
# Lengths are not bounded here: not every service that keeps to schemas knows how to.
REPLY_SCHEMA: dict[str, Any] = {
    "type": "object",
    "properties": {
        "action": {"type": "string", "enum": [ASK, STOP]},
        "technique": {"type": "string", "enum": [each.value for each in Technique]},
        "question": {"type": "string"},
    },
    "required": ["action", "technique", "question"],
    "additionalProperties": False,
}


class ModelMessages(NamedTuple):
    """The two messages that a model gets.

    system  its role and rules, with what the creator wrote for it
    user    what the respondent wrote, as JSON
    """

    system: str
    user: str
