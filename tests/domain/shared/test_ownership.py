"""Every table has an owner, and whatever refers to one belongs to it."""

import pytest

from webapp.base import ownership
from webapp.base.database import db

OWNERS = (
    *(ownership.OF_SESSION, ownership.OF_FORM, ownership.OF_DRAFT),
    *(ownership.OF_CONNECTION, ownership.OF_ACCOUNT),
)


@pytest.mark.usefixtures("app")
def test_every_table_has_an_owner() -> None:
    placed = {name for owner in OWNERS for name in (owner.table, *owner.below)}

    assert placed | set(ownership.OF_NOBODY) == db.metadata.tables.keys()
    assert not placed & set(ownership.OF_NOBODY)


@pytest.mark.usefixtures("app")
@pytest.mark.parametrize("owner", OWNERS, ids=lambda owner: owner.table)
def test_whatever_refers_to_an_owner_belongs_to_it(owner: ownership.Owner) -> None:
    referring = {
        (table.name, key.parent.name)
        for table in db.metadata.sorted_tables
        for key in table.foreign_keys
        if key.column.table.name == owner.table
    }

    declared = {(name, owner.column) for name in owner.below}
    assert referring - {("forms", "draft_id")} <= declared  # a form goes before its draft
