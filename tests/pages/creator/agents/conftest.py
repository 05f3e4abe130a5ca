"""Agents of Ann, and what they draft."""

from collections.abc import Callable
from datetime import datetime
from typing import Any

import pytest
from flask import Flask

from tests.browser.example_data import connect
from tests.factories import next_millisecond
from tests.pages.creator_client import Creator
from webapp.base.database import db, new_id, utc_now
from webapp.base.vocabulary import Scope
from webapp.drafts import editing
from webapp.oauth.models import OAuthGrant
from webapp.records.content.draft_input import parse_draft_input
from webapp.records.drafts import Draft

Connected = Callable[[str], str]
Drafted = Callable[..., Draft]


def another_grant(app: Flask, grant_id: str) -> str:
    """A further consent for the same agent."""
    with app.app_context():
        kept = db.session.get_one(OAuthGrant, grant_id)
        names = ("account_id", "client_pk", "resource", "scope", "created_at", "expires_at")
        grant = OAuthGrant(id=new_id("grt"), **{name: getattr(kept, name) for name in names})
        db.session.add(grant)
        db.session.commit()
        return grant.id


@pytest.fixture
def connected(app: Flask, ann: Creator) -> Connected:
    """A new agent of Ann by its name, which it alone has; the id of its grant."""

    def connected(name: str) -> str:
        with app.app_context():
            return connect(ann.account.id, name, name, [Scope.FORMS_WRITE], utc_now())

    return connected


@pytest.fixture
def claude(connected: Connected) -> str:
    return connected("Claude")


@pytest.fixture
def drafted(app: Flask, ann: Creator) -> Drafted:
    """A draft of Ann as an agent makes it; `at` is when."""

    def drafted(author: str | None, at: datetime | None = None, **fields: Any) -> Draft:
        note = fields.pop("agent_note", None)
        given = {"title": "Rota", "questions": ["Who?"]} | fields
        changes = parse_draft_input({name: value for name, value in given.items() if value})
        by: dict[str, Any] = {"author": author, "now": at or next_millisecond(), "agent_note": note}
        with app.app_context():
            return editing.create_draft(ann.account.id, changes, **by)

    return drafted
