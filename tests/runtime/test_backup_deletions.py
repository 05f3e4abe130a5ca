"""A response that was deleted just before a backup is not back after its restore."""

from datetime import timedelta
from pathlib import Path

from sqlalchemy import func, select

from tests.databases import both_empty_databases
from tests.factories import make_account, make_form, make_response
from tests.runtime.installations import PASSWORD, Installation
from webapp.answers.deleted_responses import delete_response, purge_deleted_responses
from webapp.app.factory import create_app
from webapp.base.config import Settings
from webapp.base.database import db, utc_now
from webapp.records.responses.models import ResponseSession

RESPONSES = select(func.count()).select_from(ResponseSession)


@both_empty_databases
def test_a_restored_server_carries_a_deletion_out(
    installation: Installation, tmp_path: Path
) -> None:
    own = {"public_url": "http://127.0.0.1:8000", "secret_key": PASSWORD * 2}
    settings = Settings(
        database_url=installation.database_url, data_folder=installation.data, **own
    )
    app, file = create_app(settings), tmp_path / "backup"
    with app.app_context():
        form = make_form(make_account().id)
        make_response(form)
        response_id = db.session.scalars(select(ResponseSession.id)).one()
        delete_response(form.account_id, form.id, response_id, now=utc_now())
        db.engine.dispose()
    assert installation("backup", str(file)).exit_code == 0
    assert installation("restore", "--yes", str(file)).exit_code == 0

    with app.app_context():
        assert db.session.scalar(RESPONSES) == 1
        db.session.rollback()
        assert list(purge_deleted_responses(utc_now() + timedelta(seconds=30))) == [1]
        assert db.session.scalar(RESPONSES) == 0
        db.session.remove()
        db.engine.dispose()
