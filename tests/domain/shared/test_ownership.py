"""Every table has an owner, and is deleted before what its rows refer to."""

import pytest
from flask import Flask

from webapp.base import ownership
from webapp.base.database import db

OWNERS = {
    "response_sessions": ownership.OF_SESSION,
    "forms": ownership.OF_FORM,
    "drafts": ownership.OF_DRAFT,
    "oauth_grants": ownership.OF_CONNECTION,
    "accounts": ownership.OF_ACCOUNT,
}


@pytest.mark.usefixtures("app")
def test_every_table_has_an_owner() -> None:
    placed = {owned.table for owners in OWNERS.values() for owned in owners}

    assert placed | set(ownership.OF_NOBODY) == db.metadata.tables.keys()
    assert not placed & set(ownership.OF_NOBODY)


@pytest.mark.usefixtures("app")
@pytest.mark.parametrize("owner", OWNERS)
def test_whatever_refers_to_an_owner_belongs_to_it(owner: str) -> None:
    referring = {
        (table.name, key.parent.name)
        for table in db.metadata.sorted_tables
        for key in table.foreign_keys
        if key.column.table.name == owner
    }

    declared = {(owned.table, owned.column) for owned in OWNERS[owner]}
    assert referring - {("forms", "draft_id")} <= declared  # a form goes before its draft


@pytest.mark.usefixtures("app")
@pytest.mark.parametrize("owned", OWNERS.values(), ids=list(OWNERS))
def test_children_are_deleted_first(owned: tuple[ownership.Owned, ...]) -> None:
    names = [each.table for each in owned]

    for place, each in enumerate(owned):
        parents = {key.column.table.name for key in ownership.table_of(each).foreign_keys}
        assert not parents & set(names[:place]), each


def test_rows_of_an_account_are_deleted_children_first(app: Flask) -> None:
    with app.app_context():
        order = [table.name for table, _ in ownership.rows_of_account("acc_1")]

    for place, name in enumerate(order):
        parents = {key.column.table.name for key in db.metadata.tables[name].foreign_keys}
        assert not parents & set(order[:place]), name
    assert set(order) == db.metadata.tables.keys() - set(ownership.OF_NOBODY)
