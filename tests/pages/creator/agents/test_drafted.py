"""The sections and groups of the inbox, what counts as waiting, and muted agents."""

import re
from datetime import timedelta
from typing import Any

import pytest

from tests.conftest import Clock
from tests.databases import both_databases
from tests.pages.creator.agents.conftest import another_grant, connect_agent, drafted
from tests.pages.creator_client import Creator, hidden, plain
from webapp.base.database import db, utc_now
from webapp.oauth import connections
from webapp.oauth.account_deletion import delete_account, purge_deleted_accounts
from webapp.oauth.models import OAuthGrant


def sections(page: str) -> dict[str, list[str]]:
    """The titles in each section of the inbox, as they stand."""
    parts = re.split(r'<section class="section" aria-labelledby="([a-z-]+)-label">', page)[1:]
    titles = [re.findall(r'href="/drafts/drf_[^>]*>([^<]*)</a>', part) for part in parts[1::2]]
    return dict(zip(parts[::2], titles, strict=True))


def groups(page: str) -> list[tuple[str, list[str]]]:
    """The heading of each group with the titles below it."""
    found = re.findall(r'draft-group__title">(.*?)</h3>(.*?)</ul>', page, re.DOTALL)
    return [
        (plain(said).strip(), re.findall(r'<a id="drf_[^>]*>([^<]*)</a>', rows))
        for said, rows in found
    ]


def badge(ann: Creator) -> str:
    return plain(ann.swap("/drafts/waiting?have=x").text).strip()


@both_databases
def test_drafts_of_one_agent_within_ten_minutes_stand_in_one_group(
    ann: Creator, clock: Clock
) -> None:
    claude, cursor = connect_agent(ann, "Claude"), connect_agent(ann, "Cursor")
    began = clock.forward(minutes=-60)
    for minutes, author, title in (
        (0, claude, "One"),
        (4, cursor, "Between"),
        (5, claude, "Two"),
        (10, claude, "Three"),
        (11, claude, "Later"),
        (12, None, "By hand"),
    ):
        drafted(ann, author, began + timedelta(minutes=minutes), title=title)

    page = ann.page("/drafts").text

    assert groups(page) == [("Claude drafted 3 forms", ["Three", "Two", "One"])]
    assert sections(page) == {
        "waiting": ["Later", "Three", "Two", "One", "Between"],
        "by-hand": ["By hand"],
    }


def test_a_group_is_of_one_agent_and_stays_together_when_one_of_it_changes(
    ann: Creator, claude: str, clock: Clock
) -> None:
    began = clock.forward(minutes=-60)
    first = drafted(ann, claude, began, title="One")
    drafted(ann, another_grant(ann, claude), began + timedelta(minutes=1), title="Two")
    mine = drafted(ann, claude, began + timedelta(minutes=30), title="Alone")
    ann.by_agent(first, goal="Changed by another")
    ann.post(f"/drafts/{mine.id}/title", text="Mine now", revision=1)

    page = ann.page("/drafts").text

    assert groups(page) == [("Claude drafted 2 forms", ["One", "Two"])]
    assert sections(page) == {"waiting": ["Mine now", "One", "Two"]}
    assert badge(ann) == "3 waiting"


@both_databases
@pytest.mark.parametrize(
    ("fields", "is_waiting"),
    [
        ({}, True),
        ({"title": ""}, True),
        ({"questions": []}, True),
        ({"title": "", "questions": []}, False),
        ({"title": "  ", "questions": []}, False),
        ({"title": "\u00a0", "questions": []}, True),
        ({"title": "", "questions": [], "goal": "Learn"}, False),
    ],
)
def test_an_empty_draft_does_not_wait(
    ann: Creator, claude: str, fields: dict[str, Any], *, is_waiting: bool
) -> None:
    drafted(ann, claude, **fields)

    page = ann.page("/drafts").text

    assert list(sections(page)) == ["waiting" if is_waiting else "empty"]
    assert badge(ann) == ("1 waiting" if is_waiting else "")


@both_databases
def test_what_the_creator_writes_by_hand_does_not_wait(ann: Creator) -> None:
    made = ann.post("/drafts/new").location
    draft = ann.draft(title="My own")

    page = ann.page("/drafts").text
    before = badge(ann)
    ann.by_agent(draft, goal="An agent had an idea")

    assert made.startswith("/drafts/drf_")
    assert sections(page) == {"by-hand": ["My own", "No title yet"]}
    assert "New" not in plain(page.partition('id="inbox"')[2])
    assert (before, badge(ann)) == ("", "1 waiting")
    assert sections(ann.page("/drafts").text)["waiting"] == ["My own"]


def test_own_edits_are_no_changes_since_the_last_look(ann: Creator, claude: str) -> None:
    draft = drafted(ann, claude, goal="Learn")
    ann.page(f"/drafts/{draft.id}")
    ann.by_agent(draft, author=claude, title="From Claude")
    ann.post(f"/drafts/{draft.id}/goal", text="My goal", revision=2)
    ann.post(f"/drafts/{draft.id}/context", text="My context", revision=3)
    page = ann.page(f"/drafts/{draft.id}")

    words, listed = plain(page.text), plain(ann.page("/drafts").text)
    ann.post(f"/drafts/{draft.id}/changes/1/put-back", revision=4, since=hidden(page, "since"))

    assert "1 change since you looked" in words
    assert "From Claude 1 change" in listed
    assert "My goal" in plain(ann.page(f"/drafts/{draft.id}").text)
    assert "Rota" in plain(ann.page(f"/drafts/{draft.id}").text)


DAY = timedelta(seconds=connections.MUTED_SECONDS)


def muted(ann: Creator) -> list[str]:
    """The agents that are muted, by their mutes' ends."""
    found = ann.within(connections.list_muted, ann.account.id, now=utc_now())
    return [str(until) for until in found.values()]


@both_databases
def test_drafts_of_a_muted_agent_arrive_quietly_until_it_is_unmuted(ann: Creator) -> None:
    claude, cursor = connect_agent(ann, "Claude"), connect_agent(ann, "Cursor")
    drafted(ann, claude, title="Before")
    drafted(ann, cursor, title="Of another")
    shown = ann.page("/drafts").text.partition("/drafts?v=")[2].partition('"')[0]

    away = ann.post(f"/connections/{claude}/mute")
    told = ann.swap(f"/drafts?v={shown}")
    drafted(ann, claude, title="After")
    page = ann.page("/drafts").text
    count = badge(ann)
    back = [ann.post(f"/connections/{claude}/unmute").location for _ in range(2)]

    assert (away.location, back) == ("/drafts#muted", ["/drafts#waiting"] * 2)
    assert told.status_code == 200
    assert sections(page) == {"waiting": ["Of another"], "muted": ["After", "Before"]}
    assert plain(page).count("New") == 1
    assert re.search("Claude is muted until [^.]*[0-9:]+ UTC *[.]", plain(page))
    assert (count, badge(ann), muted(ann)) == ("1 waiting", "3 waiting", [])


@both_databases
def test_a_mute_ends_after_a_day(ann: Creator, claude: str) -> None:
    drafted(ann, claude)
    began = utc_now()
    with ann.context():
        connections.set_muted(ann.account.id, claude, muted=True, now=began)
        counts = [
            connections.count_waiting(ann.account.id, now=began + later)
            for later in (timedelta(), DAY - timedelta(seconds=1), DAY)
        ]

    assert counts == [0, 0, 1]


@both_databases
def test_a_mute_is_of_the_agent_and_not_of_one_consent(ann: Creator, claude: str) -> None:
    ann.post(f"/connections/{claude}/mute")
    later = another_grant(ann, claude)
    drafted(ann, later)

    quiet = badge(ann)
    ann.post(f"/connections/{later}/unmute")

    assert (quiet, badge(ann)) == ("", "1 waiting")


@pytest.mark.parametrize("action", ["mute", "unmute"])
def test_nobody_mutes_the_agent_of_another_creator(
    ann: Creator, stranger: Creator, claude: str, action: str
) -> None:
    ann.post(f"/connections/{claude}/mute")
    before = muted(ann)

    assert stranger.post(f"/connections/{claude}/{action}").status_code == 404
    assert stranger.post(f"/connections/grt_nothing/{action}").status_code == 404
    assert muted(ann) == before
    assert muted(stranger) == []


def test_a_mute_goes_with_its_account(ann: Creator, claude: str) -> None:
    ann.post(f"/connections/{claude}/mute")
    with ann.context():
        delete_account(ann.account.id, now=utc_now())
        list(purge_deleted_accounts(utc_now()))
        left = db.session.scalar(db.select(db.func.count(OAuthGrant.id)))

    assert left == 0
