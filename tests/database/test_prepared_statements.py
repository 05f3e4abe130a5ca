"""Statements that go past SQLAlchemy read, convert and fail as those that do not."""

from typing import Any

import pytest
from sqlalchemy import bindparam, insert, select, text
from sqlalchemy.exc import IntegrityError, SQLAlchemyError

from tests.databases import both_databases
from tests.factories import make_account, make_answer, make_form
from webapp.base.database import among, db, execute_autocommit, read_rows
from webapp.base.vocabulary import FormStatus
from webapp.records.accounts.models import Account
from webapp.records.forms import Form
from webapp.records.responses.models import Answer, ResponseSession

pytestmark = [both_databases, pytest.mark.usefixtures("app_context")]


@pytest.mark.parametrize("table", [Account, Form, ResponseSession, Answer])
def test_every_column_is_read_as_by_sqlalchemy(table: Any) -> None:
    make_answer(make_form(make_account().id), "key-of-a-session-that-answers")
    statement = select(*table.__table__.c)

    (found,) = read_rows(statement)

    (expected,) = db.session.execute(statement)
    assert found._asdict() == expected._asdict()


def test_values_are_converted_on_their_way_in() -> None:
    form = make_form(make_account().id)
    published = select(Form.id).where(
        Form.status == FormStatus.PUBLISHED, Form.published_at == bindparam("moment")
    )

    assert read_rows(published, moment=form.published_at) == [(form.id,)]


@pytest.mark.parametrize("others", [[], ["it's", "{a,b}", '"]', "", "frm_1"]])
def test_a_list_is_one_parameter(others: list[str]) -> None:
    account_id = make_account().id
    first, second, _ = [make_form(account_id).id for _ in range(3)]
    statement = select(Form.id).where(among(Form.id, "ids"))

    assert read_rows(statement, ids=others) == []
    assert sorted(read_rows(statement, ids=[first, *others, second, first])) == sorted(
        [(first,), (second,)]
    )


def test_a_failure_is_one_of_sqlalchemy_without_values() -> None:
    make_account(email="robin@example.org")
    (robin,) = read_rows(select(*Account.__table__.c))

    with pytest.raises(SQLAlchemyError) as failed:
        read_rows(text("SELECT 1 FROM nowhere WHERE :name = 'Robin'"), name="only for us")
    assert "only for us" not in str(failed.value)
    with pytest.raises(IntegrityError):
        execute_autocommit(insert(Account), **robin._asdict())
    with pytest.raises(ValueError, match="session_epoch"):  # a default that nobody would fill in
        execute_autocommit(insert(Account).values(id=bindparam("id")), id="acc_1")
