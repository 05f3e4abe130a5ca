"""The settings of events: whether and where to they are sent, and how long a subscription lasts."""

from typing import Annotated

from pydantic import Field

from webapp.config_readers import DAY, Origins, Switch, choice, whole_number
from webapp.setting_groups.voice import VoiceSettings

SUBSCRIPTION_SECONDS = whole_number(60, 30 * DAY)


class EventSettings(VoiceSettings):
    """Durations are seconds."""

    mcp_events_enabled: Switch = Field(
        default=True,
        description="`off`: nobody subscribes to events, and nothing is queued or sent",
    )
    mcp_events_error_codes: Annotated[str, choice("auto", "sketch", "sep")] = Field(
        "auto",
        description="Numbers of the error codes of `events/…`: `sep` are those of SEP-3415, "
        "`sketch` those that came before and most clients know; `auto` sends the former to clients "
        "that declare the extension `io.modelcontextprotocol/events`",
    )
    mcp_events_callback_allowlist: Origins = Field(
        frozenset(),
        description="Origins to which events are sent although they are plain http, on another "
        "port than 443 and 8443, or inside your network; separated by commas. Whoever may "
        "subscribe can send requests there",
        examples=["http://n8n.internal:5678"],
        json_schema_extra={"shown": "none"},
    )
    worker_threads: Annotated[int, whole_number(1, 64)] = Field(
        16, description="Events that one process sends at a time"
    )
    subscription_seconds_min: Annotated[int, SUBSCRIPTION_SECONDS] = Field(
        300, description="Shortest life of a subscription; who asks for less gets this"
    )
    subscription_seconds_default: Annotated[int, SUBSCRIPTION_SECONDS] = Field(
        DAY, description="Life of a subscription that asks for none"
    )
    subscription_seconds_max: Annotated[int, SUBSCRIPTION_SECONDS] = Field(
        7 * DAY, description="Longest life of a subscription; who asks for more gets this"
    )
