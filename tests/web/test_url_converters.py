"""Ids in addresses, on the database that refuses U+0000."""

import pytest
from flask import Flask

from tests.databases import on_postgresql
from tests.pages.creator_client import creator
from webapp.records.accounts.models import Account


@on_postgresql
@pytest.mark.parametrize(
    "path",
    [
        *("/r/%00", "/r/%00/q/1", "/r/%00/done", "/drafts/%00", "/forms/%00", "/forms/%00/people"),
        *("POST /connections/%00/disconnect", "POST /connections/%00/trust"),
    ],
)
def test_what_has_a_null_character_in_its_id_is_not_found(
    app: Flask, account: Account, path: str
) -> None:
    method, _, path = path.rpartition(" ")
    ann = creator(app, account)

    assert (ann.post(path) if method else ann.page(path)).status_code == 404
