"""Declares which rows belong to a session, a form, a draft, a connection and an account.

Every deletion uses it: of responses, trash, discarded drafts, expired forms and accounts. Each
list is in the order of deletion, children first. Every new table must be listed here; a test
checks that.
"""

from collections.abc import Iterator
from typing import NamedTuple

from sqlalchemy import ColumnElement, Delete, Table, delete, select, tuple_

from webapp.base.database import db, on_sqlite, write_transaction

BATCH_ROWS = 500  # in one short transaction: other writers wait for the lock of SQLite


class Owner(NamedTuple):
    """A table, and the tables below it, whose `column` holds the id of its row."""

    table: str
    column: str
    below: tuple[str, ...]


OF_SESSION = Owner(
    "response_sessions",
    "session_id",
    ("response_deletions", "handovers", "recordings", "follow_ups", "answers"),
)
OF_FORM = Owner(
    "forms",
    "form_id",
    (
        *("delivery_attempts", "event_deliveries", "event_subscriptions", "agent_tokens"),
        *("response_deletions", "handovers", "recordings", "follow_ups", "answers"),
        *("response_sessions", "question_counts", "day_counts", "link_openings"),
    ),
)
OF_DRAFT = Owner(  # its published form is deleted before
    "drafts",
    "draft_id",
    (
        *("draft_revisions", "draft_confirmations", "draft_views", "draft_returns"),
        "idempotency_keys",
    ),
)
OF_CONNECTION = Owner("oauth_grants", "grant_id", ("oauth_codes", "oauth_tokens"))
OF_ACCOUNT = Owner(
    "accounts",
    "account_id",
    (
        *("agent_tokens", "forms", "idempotency_keys", "drafts", "callback_endpoints"),
        *("oauth_grants", "invites", "pictures", "sign_ins", "audit_events"),
    ),
)
OF_NOBODY = ("oauth_clients", "schema_marks", "object_deletions", "day_spending")
_OWNERS = {owner.table: owner for owner in (OF_FORM, OF_DRAFT, OF_CONNECTION)}


def rows_below(owner: Owner, *ids: str) -> Iterator[tuple[Table, ColumnElement[bool]]]:
    """Yield each table below some rows, children first, with the condition for theirs."""
    for name in owner.below:
        table = db.metadata.tables[name]
        yield table, table.c[owner.column].in_(ids)


def deletions(owner: Owner, *ids: str) -> list[Delete]:
    """Return the DELETEs of some rows with all rows below them, children first."""
    table = db.metadata.tables[owner.table]
    below = [delete(child).where(theirs) for child, theirs in rows_below(owner, *ids)]
    return [*below, delete(table).where(table.c.id.in_(ids))]


def rows_of_account(account_id: str) -> Iterator[tuple[Table, ColumnElement[bool]]]:
    """Yield each table, children first, with the condition that selects the account's rows."""
    for table, mine in rows_below(OF_ACCOUNT, account_id):
        if owner := _OWNERS.get(table.name):
            for child in map(db.metadata.tables.__getitem__, owner.below):
                yield child, child.c[owner.column].in_(select(table.c.id).where(mine))
        yield table, mine
    accounts = db.metadata.tables["accounts"]
    yield accounts, accounts.c.id == account_id


def delete_in_batches(table: Table, which: ColumnElement[bool]) -> Iterator[int]:
    """Delete matching rows in short transactions; yields the number of rows of each batch.

    The caller may stop at any point.
    """
    key = table.primary_key.columns
    some = select(*key).where(which).limit(BATCH_ROWS)
    batch = delete(table).where(tuple_(*key).in_(some))
    if not on_sqlite():  # a row may have changed since it was selected
        batch = batch.where(which)
    while True:
        with write_transaction() as connection:
            deleted = connection.execute(batch).rowcount
        if not deleted:
            return
        yield deleted
