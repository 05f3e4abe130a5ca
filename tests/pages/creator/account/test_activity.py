"""The activity page of an account."""

import re
from html import unescape
from typing import Any

import pytest

from tests.pages.creator_client import Creator, plain
from webapp.base.database import db, utc_now, write_transaction
from webapp.records.audit import (
    Actor,
    ActorKind,
    AuditEvent,
    AuditKind,
    add_event,
    event_values,
)

HERE = "203.0.113.5"


def add(ann: Creator, account_id: str, kind: AuditKind, **changed: Any) -> None:
    by = Actor(ActorKind.CREATOR, HERE, "client", "<Desk>")
    with ann.context(), write_transaction():
        row = event_values(kind, account_id, by=by, now=utc_now()) | changed
        db.session.add(AuditEvent(**row))


def lines(page: Any) -> list[str]:
    """The words of the events on a page."""
    found = re.findall(r'<p class="event__text">(.*?)</p>', page.text)
    return [unescape(plain(line)).strip() for line in found]


@pytest.mark.parametrize(
    ("done", "said"), [("close", "You closed “ Rota ”."), ("delete", "You deleted a form.")]
)
def test_events_of_a_form_name_it_while_it_is_there(
    ann: Creator, form: Any, done: str, said: str
) -> None:
    ann.post(f"/forms/{form.id}/{done}")

    assert lines(ann.page("/account/activity"))[0] == said


def test_older_events_are_on_the_next_page(ann: Creator) -> None:
    with ann.context(), write_transaction():
        for number in range(60):
            by = Actor(ActorKind.CREATOR, f"203.0.113.{number}")
            add_event(AuditKind.SIGN_IN, ann.account.id, by=by, now=utc_now())

    first = ann.page("/account/activity")
    link = re.search(r'href="(/account/activity\?before=[^"]+)"', first.text)
    assert link
    second = ann.page(link[1])

    addresses = re.findall(r"from (203[0-9.]+)", first.text + second.text)
    assert addresses == [f"203.0.113.{number}" for number in reversed(range(60))]
    assert len(lines(first)) == 50


def test_events_of_other_accounts_are_not_listed(ann: Creator, stranger: Creator) -> None:
    add(ann, ann.account.id, AuditKind.EXPORTED)

    assert "You took" not in stranger.page("/account/activity").text
