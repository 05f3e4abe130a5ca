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
def test_drafts_of_a_muted_agent_arrive_quietly_and_are_found_below(
    ann: Creator, connected: Connected, drafted: Drafted
) -> None:
    claude, cursor = connected("Claude"), connected("Cursor")
    drafted(claude, title="Before")
    drafted(cursor, title="Of another")

    away = ann.post(f"/connections/{claude}/mute")
    drafted(claude, title="After")
    page = ann.page("/drafts").text

    assert away.location == "/drafts#muted"
    assert sections(page) == {"waiting": ["Of another"], "muted": ["After", "Before"]}
    assert "One draft wants your eyes." in page
    assert badge(ann) == "1 waiting"
    assert plain(page).count("New") == 1
    assert re.search("Claude is muted until [^.]*[0-9:]+ UTC *[.]", plain(page))


@both_databases
def test_an_agent_is_unmuted_at_any_time(
    app: Flask, ann: Creator, claude: str, drafted: Drafted
) -> None:
    drafted(claude, title="Rota")
    ann.post(f"/connections/{claude}/mute")

    away = ann.post(f"/connections/{claude}/unmute")
    ann.post(f"/connections/{claude}/unmute")

    assert away.location == "/drafts#waiting"
    assert sections(ann.page("/drafts").text) == {"waiting": ["Rota"]}
    assert (badge(ann), muted(app, ann)) == ("1 waiting", [])


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


def test_an_open_inbox_hears_of_a_mute_and_of_its_end(
    ann: Creator, claude: str, drafted: Drafted
) -> None:
    drafted(claude)
    states = []
    for action in ("mute", "unmute"):
        states.append(ann.page("/drafts").text.partition("/drafts?v=")[2].partition('"')[0])
        ann.post(f"/connections/{claude}/{action}")
        assert ann.swap(f"/drafts?v={states[-1]}").status_code == 200

    assert ann.swap(f"/drafts?v={states[0]}").status_code == 204


def test_the_row_of_a_draft_and_the_page_of_agents_have_the_button(
    ann: Creator, claude: str, drafted: Drafted
) -> None:
    drafted(claude)
    inbox, agents = ann.page("/drafts").text, ann.page("/connections").text

    ann.post(f"/connections/{claude}/mute", **{"from": "connections"})
    after = ann.page("/connections").text

    action = f'action="/connections/{claude}/mute"'
    assert action in inbox
    assert action in agents
    assert f'action="/connections/{claude}/unmute"' in after
    assert action not in after
    assert "Muted until" in plain(after)


def test_the_button_of_the_page_of_agents_leads_back_to_it(ann: Creator, claude: str) -> None:
    for action in ("mute", "unmute"):
        away = ann.post(f"/connections/{claude}/{action}", **{"from": "connections"})
        assert away.location == f"/connections#connection-{claude}"


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


def test_a_get_mutes_nobody(app: Flask, ann: Creator, claude: str) -> None:
    assert ann.page(f"/connections/{claude}/mute").status_code == 405
    assert muted(app, ann) == []


def test_an_agent_that_is_disconnected_can_be_muted(
    ann: Creator, claude: str, drafted: Drafted
) -> None:
    drafted(claude)
    ann.post(f"/connections/{claude}/disconnect")
    ann.post(f"/connections/{claude}/mute")

    assert sections(ann.page("/drafts").text) == {"muted": ["Rota"]}


def test_a_mute_goes_with_its_account(app: Flask, ann: Creator, claude: str) -> None:
    ann.post(f"/connections/{claude}/mute")
    with app.app_context():
        delete_account(ann.account.id, now=utc_now())
        list(purge_deleted_accounts(utc_now()))
        left = db.session.scalar(db.select(db.func.count(OAuthGrant.id)))

    assert left == 0
