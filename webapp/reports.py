"""What the command line lists, in lines for people and for programs."""

from typing import Any

import orjson

from webapp.database import to_millis
from webapp.domain.audit import AuditEvent
from webapp.times import wire_time


def event_line(event: AuditEvent) -> str:
    """An event in one line, its parts separated by tabs; without what it does not have."""
    parts = {**_event(event), "count": f"× {event.count}" if event.count > 1 else None}
    return "\t".join(_visible(part) for part in parts.values() if part)


def event_json(event: AuditEvent) -> str:
    """An event as one JSON object."""
    return orjson.dumps(_event(event)).decode()


def _event(event: AuditEvent) -> dict[str, Any]:
    return {
        "at": wire_time(to_millis(event.at)),
        "event": event.kind,
        "outcome": event.outcome,
        "actor": event.actor,
        "account": event.account_id,
        "address": event.address,
        "client": event.client_id,
        "clientName": event.client_name,
        "subject": event.subject,
        "count": event.count,
    }


def _visible(part: Any) -> str:
    return "".join(char if char.isprintable() else "?" for char in str(part))
