"""Claims as processes make them."""

from datetime import datetime

from webapp.events.delivering import SILENT_LOOKS, Claimed, Leases, claim
from webapp.events.due import Room

PLACES = 200  # of a process for which nobody has to wait


def cursor(form_id: str, position: int) -> str:
    return f"{form_id} {position}"


def taken(limit: int = 100, room: Room | None = None, *, now: datetime) -> list[Claimed]:
    return claim(limit, room or Room(PLACES), cursor_of=cursor, now=now)


def release_lost(*, now: datetime) -> None:
    leases = Leases()
    for _ in range(SILENT_LOOKS + 1):
        leases.look(now=now)
