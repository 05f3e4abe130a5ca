"""What strangers may spend of a day (UTC): minutes of transcription and calls of a model.

Keys of sessions, of uploads and responses are free, so nothing is counted by them: only by form, by
client address and for the whole server. Each count is a statement of its own, the narrowest first,
so that one which is full takes nothing from the wider ones.
"""

from collections.abc import Iterator
from datetime import datetime
from typing import cast

from sqlalchemy import BigInteger, Integer, String, Table, text
from sqlalchemy.orm import Mapped, mapped_column

from webapp.database import Base, execute_autocommit, to_millis
from webapp.domain.responses.counters import DAY_MILLIS, count_model_call, count_transcription
from webapp.domain.shared.limits import RECORDING_MAX_SECONDS
from webapp.domain.shared.ownership import delete_in_batches

# our choice: parts of what one form has, of the server where it says so
UNCLAIMED_OF_ADDRESS = 20
UNCLAIMED_OF_FORM = 4
UNCLAIMED_OF_SERVER = 4
ANSWERS_OF_ADDRESS = 2
ANSWERS_OF_ADDRESS_ON_SERVER = 4
CALLS_OF_ADDRESS = 10


class DaySpending(Base):
    """What was spent on a day, counted from the epoch, of one share; `share` says whose it is.

    An address is in it as its keyed hash. Rows go a day later.
    """

    __tablename__ = "day_spending"

    day: Mapped[int] = mapped_column(Integer, primary_key=True, autoincrement=False)
    share: Mapped[str] = mapped_column(String(160), primary_key=True)
    spent: Mapped[int] = mapped_column(BigInteger)


def spend_minutes(  # noqa: PLR0913 - a value each
    form_id: str,
    address_hash: str | None,
    duration_ms: int,
    *,
    claimed: bool,
    of_form: int,
    of_server: int,
    now: datetime,
) -> bool:
    """Count a recording before an engine gets it; False where a share is used up. Commits.

    address_hash        of the network that sent it; None once that is forgotten
    claimed             an answer has it
    of_form, of_server  minutes of a day
    """
    form_ms, server_ms = of_form * 60_000, of_server * 60_000
    narrow: dict[str, int] = {}
    wide: dict[str, int] = {}
    if not claimed:
        narrow[f"unclaimed {address_hash}"] = form_ms // UNCLAIMED_OF_ADDRESS
        narrow[f"unclaimed {form_id}"] = form_ms // UNCLAIMED_OF_FORM
        wide["unclaimed"] = server_ms // UNCLAIMED_OF_SERVER
    elif address_hash:  # with room for the longest recording, however few minutes there are
        longest = RECORDING_MAX_SECONDS * 1000
        narrow[f"answers {address_hash} {form_id}"] = max(form_ms // ANSWERS_OF_ADDRESS, longest)
        wide[f"answers {address_hash}"] = max(server_ms // ANSWERS_OF_ADDRESS_ON_SERVER, longest)
    wide["minutes"] = server_ms
    return (
        _spend(narrow, duration_ms, now)
        and count_transcription(form_id, duration_ms, most_ms=form_ms, now=now)
        and _spend(wide, duration_ms, now)
    )


def spend_model_call(
    form_id: str, address_hash: str, *, of_form: int, of_server: int, now: datetime
) -> bool:
    """Count a call for a respondent; False where the rules are to decide. Commits.

    of_form, of_server  calls of a day
    """
    return (
        _spend({f"calls {address_hash}": max(1, of_form // CALLS_OF_ADDRESS)}, 1, now)
        and count_model_call(form_id, most=of_form, now=now)
        and spend_other_call(of_server=of_server, now=now)
    )


def spend_other_call(*, of_server: int, now: datetime) -> bool:
    """Count a call that no form is charged for; False where the server has none left. Commits."""
    return _spend({"calls": of_server}, 1, now)


def purge_spending(now: datetime) -> Iterator[int]:
    """Delete what was counted on days before; yields how many each transaction did."""
    return delete_in_batches(_TABLE, DaySpending.day < to_millis(now) // DAY_MILLIS)


def _spend(shares: dict[str, int], amount: int, now: datetime) -> bool:
    """Add to each share in turn, up to the first that has no room for it."""
    day = to_millis(now) // DAY_MILLIS
    return all(
        execute_autocommit(_ADD, day=day, share=share, more=amount, most=most)
        for share, most in shares.items()
    )


_TABLE = cast(Table, DaySpending.__table__)
# the same words on both databases
_ADD = text(
    "INSERT INTO day_spending (day, share, spent)"
    " SELECT CAST(:day AS INTEGER), CAST(:share AS VARCHAR), CAST(:more AS BIGINT)"
    " WHERE CAST(:more AS BIGINT) <= CAST(:most AS BIGINT)"
    " ON CONFLICT (day, share) DO UPDATE SET spent = day_spending.spent + excluded.spent"
    " WHERE day_spending.spent + excluded.spent <= CAST(:most AS BIGINT)"
    " RETURNING day"
)
