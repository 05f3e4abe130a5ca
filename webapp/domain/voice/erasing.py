"""What is to be erased of recordings: unclaimed rows, and objects of the store without a row.

Nothing here knows the store: whoever erases objects asks here which, and says when it is done.
"""

from collections.abc import Iterable, Iterator, Sequence
from datetime import datetime, timedelta
from typing import NamedTuple, cast

from sqlalchemy import Table, and_, bindparam, delete, func, select

from webapp.database import among, execute, from_millis, read_rows, write_transaction
from webapp.domain.responses.recordings import ObjectDeletion, Recording
from webapp.domain.shared.limits import UNCLAIMED_KEPT_SECONDS
from webapp.domain.shared.ownership import delete_in_batches

ERASED_AT_ONCE = 500

_RECORDINGS = cast(Table, Recording.__table__)
_NOTED = (
    select(ObjectDeletion.object_key)
    .order_by(ObjectDeletion.noted_at, ObjectDeletion.object_key)
    .limit(ERASED_AT_ONCE)
)
_FORGET = delete(ObjectDeletion).where(among(ObjectDeletion.object_key, "keys"))
_WITH_ROW = select(Recording.object_key).where(among(Recording.object_key, "keys"))
_PAGE = (
    select(Recording.object_key)
    .where(Recording.object_key > bindparam("after"))
    .order_by(Recording.object_key)
    .limit(ERASED_AT_ONCE)
)
_BACKLOG = select(func.count(), func.min(ObjectDeletion.noted_at))


class Backlog(NamedTuple):
    """Objects that wait to be erased, and since when the oldest does."""

    objects: int
    oldest_at: datetime | None


def purge_unclaimed(now: datetime) -> Iterator[int]:
    """Delete recordings that no answer claimed for an hour; yields how many, batch by batch."""
    before = now - timedelta(seconds=UNCLAIMED_KEPT_SECONDS)
    which = and_(Recording.answer_id.is_(None), Recording.created_at < before)
    return delete_in_batches(_RECORDINGS, which)


def noted_objects() -> list[str]:
    """The keys of objects whose row is gone, those first that wait longest; not all at once."""
    return [row.object_key for row in read_rows(_NOTED)]


def forget_objects(keys: Sequence[str]) -> None:
    """These are erased."""
    with write_transaction():
        execute(_FORGET, keys=list(keys))


def without_row(keys: Iterable[str]) -> set[str]:
    """Those of the keys that no recording has."""
    wanted = set(keys)
    return wanted - {row.object_key for row in read_rows(_WITH_ROW, keys=sorted(wanted))}


def object_keys() -> Iterator[str]:
    """The key of every recording, also of unclaimed ones."""
    after = ""
    while page := read_rows(_PAGE, after=after):
        yield from (row.object_key for row in page)
        after = page[-1].object_key


def read_backlog() -> Backlog:
    """What waits to be erased."""
    (row,) = read_rows(_BACKLOG)
    return Backlog(row[0], None if row[1] is None else from_millis(row[1]))
