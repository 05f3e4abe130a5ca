"""Which agents wrote drafts, and the drafts that forms were published from."""

from collections.abc import Collection
from datetime import datetime
from typing import NamedTuple

from sqlalchemy import bindparam, func, select

from webapp.database import among, read_rows
from webapp.domain.drafts.models import Draft, unpublished
from webapp.domain.forms.models import Form


class AgentDraft(NamedTuple):
    """A draft that an agent wrote, by its OAuth grant."""

    id: str
    title: str
    created_by: str


_AUTHORS = (
    select(Form.id, func.coalesce(Draft.author, Draft.created_by).label("grant_id"))
    .join(Draft, Draft.id == Form.draft_id)
    .where(among(Form.id, "forms"))
)
_AGENT_DRAFT = (
    select(*(Draft.__table__.c[name] for name in AgentDraft._fields))
    .where(
        unpublished(bindparam("account")),
        Draft.created_by.is_not(None),
        Draft.created_at >= bindparam("since", type_=Draft.created_at.type),
    )
    .order_by(Draft.created_at)
    .limit(1)
)


def find_form_authors(form_ids: Collection[str]) -> dict[str, str | None]:
    """The OAuth grant that wrote each form, None for its creator, by form id."""
    return {row.id: row.grant_id for row in read_rows(_AUTHORS, forms=list(form_ids))}


def find_agent_draft(account_id: str, since: datetime) -> AgentDraft | None:
    """The first unpublished draft that an agent began at or after `since`."""
    found = read_rows(_AGENT_DRAFT, account=account_id, since=since)
    return AgentDraft._make(found[0]) if found else None
