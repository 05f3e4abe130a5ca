"""Sealing all stored secrets anew, after a new key was put before the others."""

from collections.abc import Sequence
from operator import add
from typing import NamedTuple

from sqlalchemy import bindparam, func, not_, or_, select, update

from webapp.database import execute, tried_again, write_transaction
from webapp.domain.events.callbacks.sealing import NoKey, Sealer
from webapp.domain.events.models import EventSubscription
from webapp.domain.events.subscriptions.writes import secret_place

BATCH_ROWS = 200  # in one transaction, of milliseconds: servers run beside it
COLUMNS = (EventSubscription.secret, EventSubscription.previous_secret)


class Rekeyed(NamedTuple):
    """How many secrets were read, sealed anew by the first key, and opened by no key."""

    read: int = 0
    sealed: int = 0
    unopened: int = 0


class _Row(NamedTuple):
    id: str
    secret: str | None
    previous_secret: str | None


def rekey(sealer: Sealer) -> Rekeyed:
    """Seal by the first key what others sealed, in short transactions; again changes nothing."""
    total, last = Rekeyed(), ""
    while batch := _rekey_batch(last, sealer):
        done, last = batch
        total = _sum(total, done)
    return total


def count_sealed_otherwise(key_ids: Sequence[str]) -> int:
    """How many secrets were sealed by none of these keys."""
    total = 0
    for column in COLUMNS:
        known = or_(*(column.startswith(f"{key_id}:", autoescape=True) for key_id in key_ids))
        other = select(func.count(EventSubscription.id)).where(column.is_not(None), not_(known))
        total += int(execute(other).scalar_one())
    return total


@tried_again
def _rekey_batch(last: str, sealer: Sealer) -> tuple[Rekeyed, str] | None:
    """The next rows after an id, locked meanwhile, with the last id of them; None at the end."""
    done = Rekeyed()
    with write_transaction():
        rows = [_Row._make(row) for row in execute(_BATCH, last=last)]
        for row in rows:
            for column, sealed in zip(COLUMNS, row[1:], strict=True):
                if sealed is not None:
                    done = _sum(done, _rekey_one(row.id, column.key, sealed, sealer))
    return (done, rows[-1].id) if rows else None


def _rekey_one(subscription_id: str, name: str, sealed: str, sealer: Sealer) -> Rekeyed:
    place = secret_place(subscription_id)
    try:
        plain = sealer.unseal(sealed, place=place)
    except NoKey:
        return Rekeyed(1, 0, 1)
    if sealer.is_current(sealed):
        return Rekeyed(1, 0, 0)
    anew = sealer.seal(plain, place=place)
    execute(_REPLACE[name], subscription=subscription_id, anew=anew)
    return Rekeyed(1, 1, 0)


def _sum(one: Rekeyed, other: Rekeyed) -> Rekeyed:
    return Rekeyed(*map(add, one, other))


_BATCH = (
    select(EventSubscription.id, *COLUMNS)
    .where(
        EventSubscription.id > bindparam("last"), or_(*(column.is_not(None) for column in COLUMNS))
    )
    .order_by(EventSubscription.id)
    .limit(BATCH_ROWS)
    .with_for_update()
)
_REPLACE = {
    column.key: update(EventSubscription)
    .where(EventSubscription.id == bindparam("subscription"))
    .values({column.key: bindparam("anew")})
    for column in COLUMNS
}
