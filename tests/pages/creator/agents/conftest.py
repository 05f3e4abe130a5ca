"""Agents of Ann, and what they draft."""

from datetime import datetime
from typing import Any

import pytest

from tests.browser.example_data import connect
from tests.factories import next_millisecond
from tests.pages.creator_client import Creator
from webapp.base.database import db, new_id, utc_now
from webapp.base.vocabulary import Scope
from webapp.drafts import editing
from webapp.oauth.models import OAuthGrant
from webapp.records.content.draft_input import parse_draft_input


def another_grant(ann: Creator, grant_id: str) -> str:
    """A further consent for the same agent."""
    with ann.context():
        kept = db.session.get_one(OAuthGrant, grant_id)
        names = ("account_id", "client_pk", "resource", "scope", "created_at", "expires_at")
        grant = OAuthGrant(id=new_id("grt"), **{name: getattr(kept, name) for name in names})
        db.session.add(grant)
        db.session.commit()
        return grant.id


def connect_agent(ann: Creator, name: str) -> str:
    """A new agent of Ann by its name, which it alone has; the id of its grant."""
    grant: str = ann.within(connect, ann.account.id, name, name, [Scope.FORMS_WRITE], utc_now())
    return grant


@pytest.fixture
def claude(ann: Creator) -> str:
    return connect_agent(ann, "Claude")


def drafted(ann: Creator, author: str | None, at: datetime | None = None, **fields: Any) -> Any:
    """A draft of Ann as an agent makes it; `at` is when."""
    note = fields.pop("agent_note", None)
    given = {"title": "Rota", "questions": ["Who?"]} | fields
    changes = parse_draft_input({name: value for name, value in given.items() if value})
    by: dict[str, Any] = {"author": author, "now": at or next_millisecond(), "agent_note": note}
    return ann.within(editing.create_draft, ann.account.id, changes, **by)
