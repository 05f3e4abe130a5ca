"""Every table has an owner, and whatever refers to one belongs to it."""

import pytest

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
