"""A draft opened in several windows at once stores one view."""

from functools import partial

from flask import Flask

from tests.databases import both_databases
from tests.factories import make_draft
from tests.races.threads import together
from webapp.base.database import utc_now
from webapp.drafts.revisions import find_view, mark_seen
from webapp.records.accounts.models import Account


@both_databases
def test_concurrent_first_views_store_one_view(app: Flask, account: Account) -> None:
    with app.app_context():
        draft = make_draft(account.id)

    together(app, [partial(mark_seen, account.id, draft.id, 1, now=utc_now()) for _ in range(8)])

    with app.app_context():
        view = find_view(draft.id)
        assert view is not None
        assert view.revision == 1
