"""A deleted form is hidden, can be restored for 30 days, then is purged completely."""

import secrets
from datetime import timedelta
from typing import Any

import pytest
from sqlalchemy import func, select

from tests.databases import both_databases
from tests.event_factories import make_agent_token, make_attempt, make_delivery, make_subscription
from tests.factories import make_account, make_answer, make_form, make_response
from webapp.answers import trash
from webapp.answers.session import read_form
from webapp.base.database import db, utc_now
from webapp.base.errors import NotFound
from webapp.drafts import revisions
from webapp.records import forms
from webapp.records.responses.counters import store_link_views
from webapp.records.responses.models import ResponseSession

pytestmark = pytest.mark.usefixtures("app_context")
KEPT = timedelta(days=30)


def rows_by_table() -> dict[str, int]:
    """The number of rows by table, without the audit trail, which outlives its subjects."""
    db.session.rollback()
    return {
        table.name: db.session.scalar(select(func.count()).select_from(table)) or 0
        for table in db.metadata.sorted_tables
        if table.name != "audit_events"
    }


def full_form(account_id: str) -> Any:
    """A form with responses, counters, events, a token and a draft that was looked at."""
    form = make_form(account_id)
    revisions.mark_seen(account_id, form.draft_id, 1, now=utc_now())
    make_response(form)
    make_answer(form, secrets.token_hex(16), 1)
    store_link_views({form.share_token: 7})
    make_attempt(make_delivery(make_subscription(form)))
    make_agent_token(form)
    return form


class TestRestoring:
    @pytest.mark.parametrize(("after", "found"), [(KEPT - timedelta(seconds=1), 1), (KEPT, 0)])
    def test_it_can_be_restored_for_thirty_days(self, after: timedelta, found: int) -> None:
        account_id = make_account().id
        form = make_form(account_id)
        now = utc_now()
        trash.delete_form(account_id, form.id, now=now)

        assert len(trash.list_deleted_forms(account_id, now=now + after)) == found
        if not found:
            with pytest.raises(NotFound):
                trash.restore_form(account_id, form.id, now=now + after)

    @both_databases
    def test_an_erased_form_is_purged_and_the_others_stay(self) -> None:
        account_id = make_account().id
        erased, in_trash, live = (full_form(account_id) for _ in range(3))
        for form in (erased, in_trash):
            trash.delete_form(account_id, form.id, now=utc_now())

        trash.erase_form(account_id, erased.id, now=utc_now())

        assert trash.find_deleted_form(account_id, erased.id, now=utc_now()) is None
        with pytest.raises(NotFound):
            trash.restore_form(account_id, erased.id, now=utc_now())
        db.session.rollback()
        assert sum(trash.purge_deleted(utc_now())) > 0
        trash.restore_form(account_id, in_trash.id, now=utc_now())
        assert {form.id for form in forms.list_forms(account_id)} == {in_trash.id, live.id}
        left = db.session.scalars(select(ResponseSession.form_id).distinct())
        assert set(left) == {in_trash.id, live.id}


class TestPurging:
    @both_databases
    def test_nothing_of_a_form_is_left_after_thirty_days(self) -> None:
        account_id = make_account().id
        before = rows_by_table()
        form = full_form(account_id)
        now = utc_now()
        trash.delete_form(account_id, form.id, now=now)

        assert list(trash.purge_deleted(now + KEPT - timedelta(seconds=1))) == []
        assert sum(trash.purge_deleted(now + KEPT)) > 0

        # the address is one of the account, which may have used it for other forms
        assert rows_by_table() == before | {"callback_endpoints": 1}

    @both_databases
    def test_a_form_that_is_restored_while_it_would_be_purged_stays(
        self, monkeypatch: pytest.MonkeyPatch
    ) -> None:
        account_id, now = make_account().id, utc_now()
        form = full_form(account_id)
        trash.delete_form(account_id, form.id, now=now)
        before = rows_by_table()
        read_rows, in_time = trash.read_rows, now + KEPT - timedelta(seconds=1)

        def restored_after(statement: Any, **values: Any) -> Any:
            found = read_rows(statement, **values)
            if found:
                trash.restore_form(account_id, form.id, now=in_time)
            return found

        monkeypatch.setattr(trash, "read_rows", restored_after)

        assert list(trash.purge_deleted(now + KEPT)) == []
        assert rows_by_table() == before
        assert read_form(form.share_token).title == form.title

    def test_a_form_whose_purge_has_begun_is_not_restored(self) -> None:
        account_id, now = make_account().id, utc_now()
        form = full_form(account_id)
        trash.delete_form(account_id, form.id, now=now)
        next(trash.purge_deleted(now + KEPT))

        with pytest.raises(NotFound):
            trash.restore_form(account_id, form.id, now=now + KEPT - timedelta(seconds=1))
