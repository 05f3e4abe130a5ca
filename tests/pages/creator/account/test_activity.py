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
    AuditOutcome,
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


def test_the_newest_is_first_with_time_and_address(ann: Creator) -> None:
    add(ann, ann.account.id, AuditKind.CONSENT)
    add(ann, ann.account.id, AuditKind.SIGN_OUT)

    page = ann.page("/account/activity")

    assert [line.replace(" .", ".") for line in lines(page)][:2] == [
        "You signed out.",
        "You connected <Desk>.",
    ]
    assert f"from {HERE}" in page.text
    assert "<time datetime=" in page.text
    assert "kept for 365 days" in page.text


@pytest.mark.parametrize(
    ("done", "said"), [("close", "You closed “ Rota ”."), ("delete", "You deleted a form.")]
)
def test_events_of_a_form_name_it_while_it_is_there(
    ann: Creator, form: Any, done: str, said: str
) -> None:
    ann.post(f"/forms/{form.id}/{done}")

    assert lines(ann.page("/account/activity"))[0] == said


def test_identical_events_are_one_line_with_a_count(ann: Creator) -> None:
    for count in (1, 1, 10):
        add(ann, ann.account.id, AuditKind.TOKEN_REFRESHED, actor="agent", count=count)

    assert lines(ann.page("/account/activity"))[0] == "<Desk> renewed its key. 12 times"


OF_NO_ACCOUNT = {
    *(AuditKind.CLIENT_CREATED, AuditKind.CLIENT_DISABLED, AuditKind.CLIENT_ENABLED),
    AuditKind.BACKED_UP,
    *(AuditKind.BACKUP_RESTORED, AuditKind.MIGRATED, AuditKind.REKEYED),
}


@pytest.mark.parametrize("kind", sorted(set(AuditKind) - OF_NO_ACCOUNT))
def test_every_kind_of_event_has_a_text(ann: Creator, kind: AuditKind) -> None:
    outcomes = [AuditOutcome.OK, AuditOutcome.FAILED, AuditOutcome.DENIED]
    for outcome in outcomes:
        add(ann, ann.account.id, kind, outcome=str(outcome))

    said = lines(ann.page("/account/activity"))[:3]

    assert any("_" not in line and line[0].isupper() or line[0] == "<" for line in said)


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


@pytest.mark.parametrize("before", ["x", "99999999999999999-aud_1", "-", "%00"])
def test_an_invalid_position_shows_the_newest_events(ann: Creator, before: str) -> None:
    assert lines(ann.page(f"/account/activity?before={before}"))


def test_events_of_other_accounts_are_not_listed(ann: Creator, stranger: Creator) -> None:
    add(ann, ann.account.id, AuditKind.EXPORTED)

    assert "You took" not in stranger.page("/account/activity").text
