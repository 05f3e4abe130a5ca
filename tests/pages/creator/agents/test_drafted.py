"""The sections and groups of the inbox, what counts as waiting, and muted agents."""

import re
from datetime import timedelta
from typing import Any

import pytest
from flask import Flask

from tests.conftest import Clock
from tests.databases import both_databases
from tests.pages.creator.agents.conftest import Connected, Drafted, another_grant
from tests.pages.creator.test_draft import by_agent, written
from tests.pages.creator_client import Creator, hidden, plain
from webapp.base.database import db, utc_now
from webapp.base.limits import MUTED_SECONDS
from webapp.drafts import editing
from webapp.oauth import connections
from webapp.oauth.account_deletion import delete_account, purge_deleted_accounts
from webapp.oauth.models import OAuthGrant
from webapp.records.content.draft_input import parse_draft_input
from webapp.records.drafts import Draft


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
    ann: Creator, connected: Connected, drafted: Drafted, clock: Clock
) -> None:
    claude, cursor = connected("Claude"), connected("Cursor")
    began = clock.forward(minutes=-60)
    for minutes, author, title in (
        (0, claude, "One"),
        (4, cursor, "Between"),
        (5, claude, "Two"),
        (10, claude, "Three"),
        (11, claude, "Later"),
        (12, None, "By hand"),
    ):
        drafted(author, began + timedelta(minutes=minutes), title=title)

    page = ann.page("/drafts").text

    assert groups(page) == [("Claude drafted 3 forms", ["Three", "Two", "One"])]
    assert sections(page) == {
        "waiting": ["Later", "Three", "Two", "One", "Between"],
        "by-hand": ["By hand"],
    }
    assert "Five drafts want your eyes." in page


def test_a_group_is_of_one_agent_and_stays_together_when_one_of_it_changes(
    app: Flask, ann: Creator, claude: str, drafted: Drafted, clock: Clock
) -> None:
    began = clock.forward(minutes=-60)
    first = drafted(claude, began, title="One")
    drafted(another_grant(app, claude), began + timedelta(minutes=1), title="Two")
    mine = drafted(claude, began + timedelta(minutes=30), title="Alone")
    by_agent(app, first, goal="Changed by another")
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
    ann: Creator, claude: str, drafted: Drafted, fields: dict[str, Any], *, is_waiting: bool
) -> None:
    drafted(claude, **fields)

    page = ann.page("/drafts").text

    assert list(sections(page)) == ["waiting" if is_waiting else "empty"]
    assert badge(ann) == ("1 waiting" if is_waiting else "")
    assert ("One draft wants your eyes." in page) == is_waiting


@both_databases
def test_what_the_creator_writes_by_hand_does_not_wait(app: Flask, ann: Creator) -> None:
    made = ann.post("/drafts/new").location
    draft = written(app, ann, title="My own")

    page = ann.page("/drafts").text
    before = badge(ann)
    by_agent(app, draft, goal="An agent had an idea")

    assert made.startswith("/drafts/drf_")
    assert sections(page) == {"by-hand": ["My own", "No title yet"]}
    assert "No draft is waiting for you." in page
    assert "New" not in plain(page.partition('id="inbox"')[2])
    assert (before, badge(ann)) == ("", "1 waiting")
    assert sections(ann.page("/drafts").text)["waiting"] == ["My own"]


def test_own_edits_are_no_changes_since_the_last_look(
    app: Flask, ann: Creator, claude: str, drafted: Drafted
) -> None:
    draft = drafted(claude, goal="Learn")
    ann.page(f"/drafts/{draft.id}")
    changed(app, draft, claude, title="From Claude")
    ann.post(f"/drafts/{draft.id}/goal", text="My goal", revision=2)
    ann.post(f"/drafts/{draft.id}/context", text="My context", revision=3)
    page = ann.page(f"/drafts/{draft.id}")

    words, listed = plain(page.text), plain(ann.page("/drafts").text)
    ann.post(f"/drafts/{draft.id}/changes/1/put-back", revision=4, since=hidden(page, "since"))

    assert "1 change since you looked" in words
    assert "From Claude 1 change" in listed
    assert "My goal" in plain(ann.page(f"/drafts/{draft.id}").text)
    assert "Rota" in plain(ann.page(f"/drafts/{draft.id}").text)


def changed(app: Flask, draft: Draft, author: str, **fields: Any) -> Draft:
    with app.app_context():
        given = parse_draft_input(fields)
        return editing.update_draft(draft.account_id, draft.id, given, author=author, now=utc_now())


DAY = timedelta(seconds=MUTED_SECONDS)


def muted(app: Flask, ann: Creator) -> list[str]:
    """The agents that are muted, by their mutes' ends."""
    with app.app_context():
        muted = connections.list_muted(ann.account.id, now=utc_now())
        return [str(until) for until in muted.values()]


@both_databases
def test_drafts_of_a_muted_agent_arrive_quietly_until_it_is_unmuted(
    app: Flask, ann: Creator, connected: Connected, drafted: Drafted
) -> None:
    claude, cursor = connected("Claude"), connected("Cursor")
    drafted(claude, title="Before")
    drafted(cursor, title="Of another")
    shown = ann.page("/drafts").text.partition("/drafts?v=")[2].partition('"')[0]

    away = ann.post(f"/connections/{claude}/mute")
    told = ann.swap(f"/drafts?v={shown}")
    drafted(claude, title="After")
    page = ann.page("/drafts").text
    count = badge(ann)
    back = [ann.post(f"/connections/{claude}/unmute").location for _ in range(2)]

    assert (away.location, back) == ("/drafts#muted", ["/drafts#waiting"] * 2)
    assert told.status_code == 200
    assert sections(page) == {"waiting": ["Of another"], "muted": ["After", "Before"]}
    assert "One draft wants your eyes." in page
    assert plain(page).count("New") == 1
    assert re.search("Claude is muted until [^.]*[0-9:]+ UTC *[.]", plain(page))
    assert (count, badge(ann), muted(app, ann)) == ("1 waiting", "3 waiting", [])


@pytest.mark.parametrize("page", ["/drafts", "/connections"])
def test_pages_have_the_button_which_leads_back(
    ann: Creator, claude: str, drafted: Drafted, page: str
) -> None:
    drafted(claude)
    places = []
    for action in ("mute", "unmute"):
        assert f'action="/connections/{claude}/{action}"' in ann.page(page).text
        away = ann.post(f"/connections/{claude}/{action}", **{"from": page[1:]})
        places.append(away.location)

    there = f"/connections#connection-{claude}"
    assert places == (
        [there] * 2 if page == "/connections" else ["/drafts#muted", "/drafts#waiting"]
    )


@both_databases
def test_a_mute_ends_after_a_day(app: Flask, ann: Creator, claude: str, drafted: Drafted) -> None:
    drafted(claude)
    began = utc_now()
    with app.app_context():
        connections.set_muted(ann.account.id, claude, muted=True, now=began)
        counts = [
            connections.count_waiting(ann.account.id, now=began + later)
            for later in (timedelta(), DAY - timedelta(seconds=1), DAY)
        ]

    assert counts == [0, 0, 1]


@both_databases
def test_a_mute_is_of_the_agent_and_not_of_one_consent(
    app: Flask, ann: Creator, claude: str, drafted: Drafted
) -> None:
    ann.post(f"/connections/{claude}/mute")
    later = another_grant(app, claude)
    drafted(later)

    quiet = badge(ann)
    ann.post(f"/connections/{later}/unmute")

    assert (quiet, badge(ann)) == ("", "1 waiting")


@pytest.mark.parametrize("action", ["mute", "unmute"])
def test_nobody_mutes_the_agent_of_another_creator(
    app: Flask, ann: Creator, stranger: Creator, claude: str, action: str
) -> None:
    ann.post(f"/connections/{claude}/mute")
    before = muted(app, ann)

    assert stranger.post(f"/connections/{claude}/{action}").status_code == 404
    assert stranger.post(f"/connections/grt_nothing/{action}").status_code == 404
    assert muted(app, ann) == before
    assert muted(app, stranger) == []


def test_a_mute_goes_with_its_account(app: Flask, ann: Creator, claude: str) -> None:
    ann.post(f"/connections/{claude}/mute")
    with app.app_context():
        delete_account(ann.account.id, now=utc_now())
        list(purge_deleted_accounts(utc_now()))
        left = db.session.scalar(db.select(db.func.count(OAuthGrant.id)))

    assert left == 0
