"""Of a deleted account nothing is left, and of everybody else everything."""

import secrets

import pytest
from flask import Flask
from sqlalchemy import func, select

from tests.databases import both_databases
from tests.event_factories import make_agent_token, make_attempt, make_delivery, make_subscription
from tests.factories import make_account, make_answer, make_follow_up, make_form, make_response
from tests.oauth.flow import EMAIL, Flow, enter, register
from tests.voice.factories import make_recording
from webapp.answers import trash
from webapp.answers.device_transfer import create_transfer_link
from webapp.answers.trash import delete_response
from webapp.base.database import db, utc_now
from webapp.drafts import editing, form_settings, reviews, revisions
from webapp.drafts.editing import Repeatable
from webapp.oauth.account_deletion import delete_account, purge_deleted_accounts
from webapp.records.accounts import invites
from webapp.records.accounts.models import Account
from webapp.records.content.draft_input import parse_draft_input
from webapp.records.drafts import IdempotencyKey
from webapp.records.responses.counters import store_link_views
from webapp.records.responses.models import ResponseSession
from webapp.records.responses.recordings import ObjectDeletion

OF_NO_ACCOUNT = {"schema_marks", "object_deletions", "day_spending"}
RECORDINGS = 2
ONLY_CLIENTS_STAY = {"oauth_clients": 1, "audit_events": 1}


@pytest.fixture
def full(app: Flask) -> Account:
    """An account with something in every table."""
    browser = app.test_client()
    with app.app_context():
        account = make_account(email=EMAIL)
    with app.app_context():
        invites.make_invite(email=EMAIL, now=utc_now())
        fill(account.id)
    enter(browser, account)
    Flow(browser, app.test_client(), register(browser, token_endpoint_auth_method="none")).connect()
    return account


def fill(account_id: str) -> None:
    once = Repeatable("client", secrets.token_hex(8), "0" * 64)
    draft = editing.create_draft(
        account_id, parse_draft_input({}), author=None, now=utc_now(), repeatable=once
    )
    changed = parse_draft_input({"title": "Changed"})
    editing.update_draft(account_id, draft.id, changed, author=None, now=utc_now())
    form_settings.set_picture(account_id, b"picture")
    reviews.return_draft(account_id, draft.id, revision=2, note=None, now=utc_now())
    form, in_trash = make_form(account_id), make_form(account_id)
    revisions.mark_seen(account_id, draft.id, 1, now=utc_now())
    make_response(form)
    make_response(in_trash)
    for each in (form, in_trash):
        make_recording(each, secrets.token_hex(16))
        make_attempt(make_delivery(make_subscription(each)))
        make_agent_token(each)
    session_key = secrets.token_hex(16)
    make_answer(form, session_key, 1)
    create_transfer_link(form.share_token, session_key, now=utc_now())
    store_link_views({form.share_token: 7})
    session_id = db.session.scalars(
        select(ResponseSession.id).where(ResponseSession.form_id == form.id).limit(1)
    ).one()
    delete_response(account_id, form.id, session_id, now=utc_now())
    make_follow_up(form, session_key, 1)
    thrown = once._asdict() | {"key": "thrown", "draft_id": in_trash.draft_id}
    db.session.add(IdempotencyKey(account_id=account_id, created_at=utc_now(), **thrown))
    db.session.commit()
    trash.delete_form(account_id, in_trash.id, now=utc_now())


def rows() -> dict[str, int]:
    """How many rows each table of accounts holds, empty tables left out."""
    db.session.rollback()
    counts = {
        table.name: db.session.scalar(select(func.count()).select_from(table)) or 0
        for table in db.metadata.sorted_tables
        if table.name != "object_deletions"
    }
    return {name: count for name, count in counts.items() if count}


def test_the_example_account_has_a_row_in_every_table(app: Flask, full: Account) -> None:
    with app.app_context():
        assert rows().keys() == db.metadata.tables.keys() - OF_NO_ACCOUNT


@both_databases
def test_nothing_is_left_of_a_deleted_account(app: Flask, full: Account) -> None:
    with app.app_context():
        delete_account(full.id, now=utc_now())
        row = db.session.get_one(Account, full.id)
        assert (row.email, row.name, row.password_hash) == (full.id, "", "!")

        assert sum(purge_deleted_accounts(utc_now())) > 0

        assert rows() == ONLY_CLIENTS_STAY
        assert len(db.session.scalars(select(ObjectDeletion)).all()) == RECORDINGS


def test_other_accounts_keep_all_rows(app: Flask, full: Account) -> None:
    with app.app_context():
        deleted_id = make_account().id
        before = rows()
        before |= {"accounts": 1, "audit_events": before["audit_events"] + 1}
        fill(deleted_id)
        delete_account(deleted_id, now=utc_now())

        list(purge_deleted_accounts(utc_now()))

        assert rows() == before


def test_a_form_published_during_the_deletion_is_erased_too(app: Flask, full: Account) -> None:
    with app.app_context():
        delete_account(full.id, now=utc_now())
        make_response(make_form(full.id))

        list(purge_deleted_accounts(utc_now()))

        assert rows() == ONLY_CLIENTS_STAY
