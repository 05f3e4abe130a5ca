"""Room for uploads: the oldest unclaimed recordings are deleted before an upload is refused.

Anyone can make session keys, so unclaimed recordings are bounded by address and by form, too.
"""

import time
from typing import NamedTuple, cast

from sqlalchemy import (
    Select,
    String,
    Table,
    bindparam,
    case,
    delete,
    func,
    select,
)

from webapp.database import among, execute, on_sqlite, read_rows
from webapp.domain.forms.models import Form, shared_form
from webapp.domain.responses.recordings import Recording
from webapp.domain.shared.error_codes import PageCode
from webapp.domain.shared.errors import InvalidInput, Phrase
from webapp.domain.shared.limits import (
    FORM_BYTES_MAX,
    FORM_TOLD_PERCENT,
    RECORDING_COUNTED_BYTES,
    RECORDING_MAX_BYTES,
    RECORDINGS_MAX_BYTES,
    UNCLAIMED_BYTES_MAX,
    UNCLAIMED_FORM_PERCENT,
)

TRIES = 20  # while answers hold what could be deleted
TRY_SECONDS = 0.05
FULL_FORM = Phrase("This form has no room for more recordings.")
FULL_SESSION = Phrase("There is no room for more recordings in this response.")


class Bounds(NamedTuple):
    """Bytes that one form keeps in all, and that unclaimed recordings of one address take."""

    form: int = FORM_BYTES_MAX
    address: int = UNCLAIMED_BYTES_MAX


class Upload(NamedTuple):
    """A recording that needs room; `size` in bytes."""

    form_id: str
    key_hash: str
    address_hash: str | None
    size: int


def may_have_room(share_token: str, size: int, bounds: Bounds) -> bool:
    """False if the form has no room for a recording of this size, even with nothing unclaimed."""
    found = read_rows(_FILLED_BY_LINK, share_token=share_token)
    return not found or size <= _unclaimed_max(found[0].answer_bytes, bounds)


def make_room(upload: Upload, bounds: Bounds) -> None:
    """Delete unclaimed recordings until there is room for one more; the caller commits.

    First of the session, then of the address, then of the form, there of the address with most of
    them. Concurrent uploads wait for each other.

    raises  InvalidInput `recordings_full`
    """
    named = upload._asdict()
    if not on_sqlite():  # which has one writer at a time
        execute(_LOCK, **named)
    _shrink(_OF_SESSION, RECORDINGS_MAX_BYTES, FULL_SESSION, named)
    _shrink(_OF_ADDRESS, bounds.address, FULL_FORM, named)
    filled: int = execute(_FILLED, **named).scalar_one()
    _shrink(_OF_FORM, _unclaimed_max(filled, bounds), FULL_FORM, named)


class _Scope(NamedTuple):
    """Recordings that share a bound.

    taken      their bytes
    unclaimed  how many no answer has
    free       those of them that are not locked, the first to be deleted first
    """

    taken: Select[int]
    unclaimed: Select[int]
    free: Select[str, int]


def _shrink(scope: _Scope, most: int, full: Phrase, named: dict[str, str | int | None]) -> None:
    taken_before = None
    for _ in range(TRIES):
        taken: int = execute(scope.taken, **named).scalar_one()
        excess = taken + max(cast(int, named["size"]), RECORDING_COUNTED_BYTES) - most
        if excess <= 0:
            return
        gone = []
        for row in execute(scope.free, **named):
            if excess > 0:
                gone.append(row.id)
                excess -= row.counted
        if gone:
            execute(_DELETE, gone=gone)
        elif execute(scope.unclaimed, **named).scalar_one():  # an answer is about to take them
            time.sleep(TRY_SECONDS)
        elif taken == taken_before:  # no answer took them after they were counted
            break
        taken_before = taken
    raise InvalidInput(
        PageCode.RECORDINGS_FULL,
        full,
        Phrase("Type your answer. What you recorded before is safe."),
        field="audio",
    )


def _unclaimed_max(answer_bytes: int, bounds: Bounds) -> int:
    """The bytes that unclaimed recordings of a form may take; the rest is for answers."""
    left = bounds.form * FORM_TOLD_PERCENT // 100 - answer_bytes
    return min(left, bounds.form * UNCLAIMED_FORM_PERCENT // 100)


_R = cast(Table, Recording.__table__).c
_COUNTED = case((_R.size < RECORDING_COUNTED_BYTES, RECORDING_COUNTED_BYTES), else_=_R.size)
_SUM = select(func.coalesce(func.sum(_COUNTED), 0))
_IS_FREE = _R.answer_id.is_(None)


def _scope(name: str, *, claimed: bool = False) -> _Scope:
    """The recordings with the same value in this column; with `claimed`, those count, too."""
    ours = _R[name] == bindparam(name)
    shares = (
        select(_R.id, func.sum(_COUNTED).over(partition_by=_R.address_hash).label("share"))
        .where(ours, _IS_FREE)
        .subquery()
    )
    free = (
        select(_R.id, _COUNTED.label("counted"))
        .join(shares, shares.c.id == _R.id)
        .where(_IS_FREE)
        .order_by(shares.c.share.desc(), _R.created_at, _R.id)
        .limit(RECORDING_MAX_BYTES // RECORDING_COUNTED_BYTES + 1)
        # an answer may be claiming some
        .with_for_update(of=cast(Table, Recording.__table__), skip_locked=True)
    )
    unclaimed = select(func.count()).where(ours, _IS_FREE)
    return _Scope(_SUM.where(ours) if claimed else _SUM.where(ours, _IS_FREE), unclaimed, free)


_OF_SESSION = _scope("key_hash", claimed=True)
_OF_ADDRESS = _scope("address_hash")
_OF_FORM = _scope("form_id")
_DELETE = delete(Recording).where(among(Recording.id, "gone"), Recording.answer_id.is_(None))
_FILLED = select(Form.answer_bytes).where(Form.id == bindparam("form_id"))
_FILLED_BY_LINK = select(Form.answer_bytes).where(shared_form(bindparam("share_token")))
# in this order; advisory locks, as a session may have no row yet
_LOCK = select(
    *(
        func.pg_advisory_xact_lock(func.hashtextextended(bindparam(name, type_=String), number))
        for number, name in ((2, "address_hash"), (1, "form_id"), (0, "key_hash"))
    )
)
