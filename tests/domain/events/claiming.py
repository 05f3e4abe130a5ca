"""Claims as processes make them."""

from datetime import datetime

from webapp.events.delivering import SILENT_LOOKS, Claimed, Leases, claim
from webapp.events.due import Room

CURSOR_KEY = b"secret of the installation"
PLACES = 200  # of a process for which nobody has to wait


def taken(limit: int = 100, room: Room | None = None, *, now: datetime) -> list[Claimed]:
    return claim(limit, room or Room(PLACES), cursor_key=CURSOR_KEY, now=now)


def release_lost(*, now: datetime) -> None:
    leases = Leases()
    for _ in range(SILENT_LOOKS + 1):
        leases.look(now=now)
