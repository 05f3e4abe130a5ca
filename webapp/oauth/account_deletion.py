"""Deletes an account: it is unusable at once, and its rows are purged later.

One transaction closes its links, ends its subscriptions, grants and browser sessions, and clears
its address and password. The account may own millions of rows, so the purge deletes them in short
transactions. OAuth clients that only this account used stay until they expire unused.
"""

from collections.abc import Iterator
from datetime import datetime

from sqlalchemy import delete, func, select, update

from webapp.answers.trash import give_up_forms
from webapp.base import database, ownership
from webapp.base.vocabulary import DraftStatus
from webapp.events.endings import erase_subscriptions
from webapp.oauth import connections, models, tokens
from webapp.records import drafts, forms
from webapp.records.accounts.models import Account, Invite
from webapp.records.audit import SYSTEM, Actor, AuditEvent, AuditKind, AuditOutcome, add_event


def list_inventory(account_id: str, *, now: datetime) -> dict[str, int]:
    """Count the forms, responses, drafts and agents that are lost with an account.

    Forms in the trash count. A response counts from its first answer, finished or not.
    """
    mine = forms.Form.account_id == account_id
    counts = {
        "forms": select(func.count(forms.Form.id)).where(mine),
        "responses": select(func.sum(forms.Form.answered_count)).where(mine),
        "drafts": select(func.count(drafts.Draft.id)).where(
            drafts.Draft.account_id == account_id, drafts.Draft.status == DraftStatus.DRAFT
        ),
        "agents": select(func.count(models.OAuthGrant.client_pk.distinct())).where(
            models.OAuthGrant.account_id == account_id, tokens.is_live(now)
        ),
    }
    return {name: database.db.session.scalar(query) or 0 for name, query in counts.items()}


def delete_account(account_id: str, *, now: datetime, by: Actor = SYSTEM) -> None:
    """Delete the account irrevocably; its address is free for a new one at once.

    One audit event stays, which says that this account was deleted, and when.
    """
    with database.write_transaction():
        # invites before the account: the lock order of `accept_invite`
        database.db.session.execute(delete(Invite).where(Invite.account_id == account_id))
        database.db.session.execute(
            update(Account)
            .where(Account.id == account_id)
            .values(
                deleted_at=now,
                email=Account.id,
                name="",
                password_hash="!",  # noqa: S106
                session_epoch=Account.session_epoch + 1,
            )
        )
        erase_subscriptions(account_id, now=now)
        connections.end_grants(account_id, now=now)
        give_up_forms(account_id, now=now)
        add_event(AuditKind.ACCOUNT_DELETED, account_id, by=Actor(by.kind), now=now)


def purge_deleted_accounts(now: datetime) -> Iterator[int]:
    """Delete the rows of deleted accounts, children first; yields as `delete_in_batches`."""
    deleted, ok = AuditKind.ACCOUNT_DELETED, AuditOutcome.OK
    is_end = (AuditEvent.kind == deleted) & (AuditEvent.outcome == ok)  # the one event that stays
    deleted_ids = select(Account.id).where(Account.deleted_at.is_not(None))
    for account_id in list(database.db.session.scalars(deleted_ids)):
        for table, mine in ownership.rows_of_account(account_id):
            which = mine & ~is_end if table is AuditEvent.__table__ else mine
            yield from ownership.delete_in_batches(table, which)
