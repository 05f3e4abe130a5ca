"""Muting an agent: for a day its drafts arrive quietly, until it is unmuted."""

import re
from datetime import timedelta

import pytest
from flask import Flask

from tests.databases import both_databases
from tests.pages.creator.agents.conftest import Connected, Drafted, another_grant
from tests.pages.creator.agents.test_drafted import badge, sections
from tests.pages.creator_client import Creator, plain
from webapp.base.database import db, utc_now
from webapp.base.limits import MUTED_SECONDS
from webapp.oauth import connections
from webapp.oauth.account_deletion import delete_account, purge_deleted_accounts
from webapp.oauth.models import OAuthGrant

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
