"""Daily quotas (UTC) of transcription minutes and of model calls.

Anyone can make keys of sessions and uploads, so quotas are counted by form, by client address and
for the whole server. Each count is a statement of its own, the narrowest first, so that a full one
takes nothing from the wider ones.
"""

from collections.abc import Iterator
from datetime import datetime
from typing import cast

from sqlalchemy import BigInteger, Integer, String, Table, TextClause, text
from sqlalchemy.orm import Mapped, mapped_column

from webapp.database import Base, execute_autocommit, to_millis
from webapp.domain.responses.counters import DAY_MILLIS
from webapp.domain.shared.limits import RECORDING_MAX_SECONDS
from webapp.domain.shared.ownership import delete_in_batches

# our choice: a quota is divided by this; that of the form, or of the server where the name says so
UNCLAIMED_OF_ADDRESS = 20
UNCLAIMED_OF_FORM = 4
UNCLAIMED_OF_SERVER = 4
ANSWERS_OF_ADDRESS = 2
ANSWERS_OF_ADDRESS_ON_SERVER = 4
CALLS_OF_ADDRESS = 10


class DaySpending(Base):
    """What was spent of one quota on one day.

    day    since the epoch; rows of earlier days are purged
    share  names the quota; it contains a network address as its keyed hash
    spent  milliseconds of sound, or calls
    """

    __tablename__ = "day_spending"

    day: Mapped[int] = mapped_column(Integer, primary_key=True, autoincrement=False)
    share: Mapped[str] = mapped_column(String(160), primary_key=True)
    spent: Mapped[int] = mapped_column(BigInteger)


def spend_transcription(  # noqa: PLR0913 - a value each
    form_id: str,
    address_hash: str | None,
    duration_ms: int,
    *,
    claimed: bool,
    of_form: int,
    of_server: int,
    now: datetime,
) -> bool:
    """Count a recording before an engine gets it; False if a quota is used up. Commits.

    address_hash        of the network that sent it; None once that was erased
    claimed             it is part of an answer
    of_form, of_server  minutes of a day
    """
    form_ms, server_ms = of_form * 60_000, of_server * 60_000
    narrow: dict[str, int] = {}
    wide: dict[str, int] = {}
    if not claimed:
        narrow[f"unclaimed {address_hash}"] = form_ms // UNCLAIMED_OF_ADDRESS
        narrow[f"unclaimed {form_id}"] = form_ms // UNCLAIMED_OF_FORM
        wide["unclaimed"] = server_ms // UNCLAIMED_OF_SERVER
    elif address_hash:  # at least the longest recording, however few minutes there are
        longest = RECORDING_MAX_SECONDS * 1000
        narrow[f"answers {address_hash} {form_id}"] = max(form_ms // ANSWERS_OF_ADDRESS, longest)
        wide[f"answers {address_hash}"] = max(server_ms // ANSWERS_OF_ADDRESS_ON_SERVER, longest)
    wide["minutes"] = server_ms
    return (
        _spend(narrow, duration_ms, now)
        and _add(_TO_SOUND, form_id, duration_ms, form_ms, now)
        and _spend(wide, duration_ms, now)
    )


def spend_model_call(
    form_id: str, address_hash: str, *, of_form: int, of_server: int, now: datetime
) -> bool:
    """Count a model call for a respondent; False if a quota is used up. Commits.

    of_form, of_server  calls of a day
    """
    return (
        _spend({f"calls {address_hash}": max(1, of_form // CALLS_OF_ADDRESS)}, 1, now)
        and _add(_TO_CALLS, form_id, 1, of_form, now)
        and spend_other_call(of_server=of_server, now=now)
    )


def spend_other_call(*, of_server: int, now: datetime) -> bool:
    """Count a model call for no form; False if the server has none left. Commits."""
    return _spend({"calls": of_server}, 1, now)


def purge_spending(now: datetime) -> Iterator[int]:
    """Delete the counts of earlier days; yields the number of rows of each transaction."""
    return delete_in_batches(_TABLE, DaySpending.day < to_millis(now) // DAY_MILLIS)


def _spend(shares: dict[str, int], amount: int, now: datetime) -> bool:
    """Add to each share in turn; False at the first that is full, and those after it are left."""
    return all(_add(_TO_SHARE, share, amount, most, now) for share, most in shares.items())


def _add(statement: TextClause, key: str, amount: int, most: int, now: datetime) -> bool:
    row = {"key": key, "day": to_millis(now) // DAY_MILLIS, "more": amount, "most": most}
    return bool(execute_autocommit(statement, **row))


def _addition(table: str, key: str, column: str, zero: str = "") -> TextClause:
    """Adds `:more` to a column of a day unless that makes it more than `:most`.

    zero  another column of a new row
    """
    total = f"{table}.{column} + excluded.{column}"
    return text(
        f"INSERT INTO {table} ({key}, day, {column}{zero and f', {zero}'})"  # noqa: S608
        " SELECT CAST(:key AS VARCHAR), CAST(:day AS INTEGER), CAST(:more AS BIGINT)"
        f"{zero and ', 0'} WHERE CAST(:more AS BIGINT) <= CAST(:most AS BIGINT)"
        f" ON CONFLICT ({key}, day) DO UPDATE SET {column} = {total}"
        f" WHERE {total} <= CAST(:most AS BIGINT) RETURNING day"
    )


_TABLE = cast(Table, DaySpending.__table__)
_TO_SHARE = _addition("day_spending", "share", "spent")
_TO_SOUND = _addition("day_counts", "form_id", "transcribed_ms", "completed")
_TO_CALLS = _addition("day_counts", "form_id", "model_calls", "completed")
