"""The activity page: the audit trail of a creator's account, newest first."""

import re
from collections.abc import Iterable
from datetime import datetime
from itertools import groupby
from typing import NamedTuple

from flask import Blueprint, render_template, request
from sqlalchemy import select

from webapp.base.config import settings
from webapp.base.database import db, from_millis, to_millis
from webapp.pages.creator.request import creator_id, require_creator
from webapp.records.audit import AuditEvent, list_events
from webapp.records.drafts import Draft
from webapp.records.forms import Form

EVENTS_ON_PAGE = 50
POSITION = re.compile("([0-9]{1,13})-(aud_[0-9a-f]{1,36})")

bp = Blueprint("activity", __name__)
bp.before_request(require_creator)


class EventLine(NamedTuple):
    """One line of the page: the newest of several identical events, and their number."""

    event: AuditEvent
    times: int


@bp.get("/account/activity")
def show() -> str:
    """A page of events; `?before=` is the last event of the previous page, as linked there."""
    before = _position_in(request.args.get("before", ""))
    events = list_events(creator_id(), limit=EVENTS_ON_PAGE + 1, before=before)
    shown = events[:EVENTS_ON_PAGE]
    return render_template(
        "account/activity.html",
        lines=_together(shown),
        titles=_titles(shown),
        older=_position(shown[-1]) if len(events) > len(shown) else "",
        first=before is None,
        days=settings().audit_days,
    )


def _together(events: Iterable[AuditEvent]) -> list[EventLine]:
    lines = []
    for _same, found in groupby(events, _reads_as):
        same = list(found)
        lines.append(EventLine(same[0], sum(event.count for event in same)))
    return lines


def _reads_as(event: AuditEvent) -> tuple[str | None, ...]:
    who = (event.actor, event.client_id, event.client_name, event.address)
    return (event.kind, event.outcome, event.subject, *who)


def _titles(events: Iterable[AuditEvent]) -> dict[str, str]:
    """Titles by id of the drafts and forms of the account that still exist."""
    subjects = {event.subject for event in events if event.subject}
    found: dict[str, str] = {}
    for table in (Draft, Form):
        mine = (table.account_id == creator_id(), table.deleted_at.is_(None))
        query = select(table.id, table.title).where(table.id.in_(subjects), *mine)
        found |= {row.id: row.title for row in db.session.execute(query) if row.title}
    return found


def _position(event: AuditEvent) -> str:
    return f"{to_millis(event.at)}-{event.id}"


def _position_in(text: str) -> tuple[datetime, str] | None:
    found = POSITION.fullmatch(text)
    return (from_millis(int(found[1])), found[2]) if found else None
