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


class Owned(NamedTuple):
    """The rows of a table whose `column` holds the id of their owner.

    many  True if an owner may have more rows than one transaction should delete
    """

    table: str
    column: str
    many: bool = False


OF_SESSION = (
    Owned("response_deletions", "session_id"),
    Owned("handovers", "session_id"),
    Owned("recordings", "session_id"),
    Owned("follow_ups", "session_id"),
    Owned("answers", "session_id"),
    Owned("response_sessions", "id"),
)
OF_FORM = (
    Owned("delivery_attempts", "form_id", many=True),
    Owned("event_deliveries", "form_id", many=True),
    Owned("event_subscriptions", "form_id"),
    Owned("agent_tokens", "form_id"),
    Owned("response_deletions", "form_id", many=True),
    Owned("handovers", "form_id", many=True),
    Owned("recordings", "form_id", many=True),
    Owned("follow_ups", "form_id", many=True),
    Owned("answers", "form_id", many=True),
    Owned("response_sessions", "form_id", many=True),
    Owned("question_counts", "form_id"),
    Owned("day_counts", "form_id"),
    Owned("link_openings", "form_id"),
    Owned("forms", "id"),
)
OF_DRAFT = (  # its published form is deleted before
    Owned("draft_revisions", "draft_id"),
    Owned("draft_confirmations", "draft_id"),
    Owned("draft_views", "draft_id"),
    Owned("draft_returns", "draft_id"),
    Owned("idempotency_keys", "draft_id"),
    Owned("drafts", "id"),
)
OF_CONNECTION = (
    Owned("oauth_codes", "grant_id"),
    Owned("oauth_tokens", "grant_id"),
    Owned("oauth_grants", "id"),
)
OF_ACCOUNT = (
    Owned("agent_tokens", "account_id"),
    Owned("forms", "account_id"),
    Owned("idempotency_keys", "account_id"),
    Owned("drafts", "account_id"),
    Owned("callback_endpoints", "account_id"),
    Owned("oauth_grants", "account_id"),
    Owned("invites", "account_id"),
    Owned("pictures", "account_id"),
    Owned("sign_ins", "account_id"),
    Owned("audit_events", "account_id"),
    Owned("accounts", "id"),
)
OF_NOBODY = ("oauth_clients", "schema_marks", "object_deletions", "day_spending")
_BELOW = {"forms": OF_FORM, "drafts": OF_DRAFT, "oauth_grants": OF_CONNECTION}


def deletion_of(owned: Owned, *owner_ids: str) -> Delete:
    """Return a DELETE of all these rows of some owners."""
    table = table_of(owned)
    return delete(table).where(table.c[owned.column].in_(owner_ids))


def rows_of_account(account_id: str) -> Iterator[tuple[Table, ColumnElement[bool]]]:
    """Yield each table, children first, with the condition that selects the account's rows."""
    for owned in OF_ACCOUNT:
        table = table_of(owned)
        mine = table.c[owned.column] == account_id
        for child in _BELOW.get(owned.table, (owned,))[:-1]:
            below = table_of(child)
            yield below, below.c[child.column].in_(select(table.c.id).where(mine))
        yield table, mine


def delete_in_batches(table: Table, which: ColumnElement[bool]) -> Iterator[int]:
    """Delete matching rows in short transactions; yields the number of rows of each batch.

    The caller may stop at any point.
    """
    while deleted := _delete_batch(table, which):
        yield deleted


def table_of(owned: Owned) -> Table:
    """Return the table that holds the rows."""
    return db.metadata.tables[owned.table]


def _delete_batch(table: Table, which: ColumnElement[bool]) -> int:
    key = table.primary_key.columns
    some = select(*key).where(which).limit(BATCH_ROWS)
    batch = delete(table).where(tuple_(*key).in_(some))
    if not on_sqlite():  # a row may have changed since it was selected
        batch = batch.where(which)
    with write_transaction() as connection:
        return connection.execute(batch).rowcount
