"""Subscriptions that are ended by those who made them."""

from datetime import datetime

from sqlalchemy import bindparam, select

from webapp.database import execute, write_transaction
from webapp.domain.audit.trail import SYSTEM, Actor, AuditKind, add_event
from webapp.domain.events.subscriptions.endings import end_subscription
from webapp.domain.events.subscriptions.identity import subscription_id
from webapp.domain.forms.models import Form, lock_form
from webapp.domain.shared.vocabulary import SubscriptionEnd


def unsubscribe(
    account_id: str, form_id: str, subscription_id: str, *, now: datetime, by: Actor = SYSTEM
) -> None:
    """End a subscription and cancel what it has to send; does nothing for an unknown one.

    raises  NotFound `form_not_found`
    """
    with write_transaction():
        lock_form(account_id, form_id)
        if end_subscription(form_id, subscription_id, SubscriptionEnd.UNSUBSCRIBED, now=now):
            add_event(AuditKind.UNSUBSCRIBED, account_id, by=by, now=now, subject=form_id)


def unsubscribe_address(
    account_id: str, form_id: str, url: str, *, now: datetime, by: Actor = SYSTEM
) -> bool:
    """End the subscription of an address, also while its form is in the trash; False if the account
    has none.
    """
    key = subscription_id(account_id, form_id, url)
    with write_transaction():
        execute(_LOCK_FORM, account=account_id, form=form_id)
        ended = end_subscription(form_id, key, SubscriptionEnd.UNSUBSCRIBED, now=now)
        if ended:
            add_event(AuditKind.UNSUBSCRIBED, account_id, by=by, now=now, subject=form_id)
    return ended


_LOCK_FORM = (
    select(Form.id)
    .where(Form.id == bindparam("form"), Form.account_id == bindparam("account"))
    .with_for_update(key_share=True)
)
