"""Counters of forms and days, and the spending of daily quotas."""

from collections import Counter
from collections.abc import Iterator, Mapping
from datetime import UTC, date, datetime, timedelta
from typing import NamedTuple, cast

import sqlalchemy as sa
from sqlalchemy.orm import Mapped, mapped_column

from webapp.base import database
from webapp.base.database.prepared_statements import run
from webapp.base.ownership import delete_in_batches
from webapp.records.responses.models import RECORDING_MAX_SECONDS

DAY_MILLIS = 86_400_000
EPOCH_DAY = date(1970, 1, 1)


class QuestionCount(database.Base):
    """How many sessions have answered a scripted question, and how many have skipped it."""

    __tablename__ = "question_counts"

    form_id: Mapped[str] = mapped_column(sa.ForeignKey("forms.id"), primary_key=True)
    question_id: Mapped[str] = mapped_column(sa.String(200), primary_key=True)
    answered: Mapped[int] = mapped_column(sa.Integer)
    skipped: Mapped[int] = mapped_column(sa.Integer)


_QUESTIONS = cast(sa.Table, QuestionCount.__table__)


class DayCount(database.Base):
    """Responses completed on one UTC day; `day` counts days since the epoch.

    transcribed_ms, model_calls  left from earlier versions; nothing writes or reads them
    """

    __tablename__ = "day_counts"

    form_id: Mapped[str] = mapped_column(sa.ForeignKey("forms.id"), primary_key=True)
    day: Mapped[int] = mapped_column(sa.Integer, primary_key=True, autoincrement=False)
    completed: Mapped[int] = mapped_column(sa.Integer)
    transcribed_ms: Mapped[int] = mapped_column(sa.BigInteger, server_default="0")
    model_calls: Mapped[int] = mapped_column(sa.Integer, server_default="0")


class LinkViews(database.Base):
    """The number of times that the public link of a form was opened."""

    __tablename__ = "link_openings"

    form_id: Mapped[str] = mapped_column(sa.ForeignKey("forms.id"), primary_key=True)
    opened: Mapped[int] = mapped_column(sa.BigInteger)


class QuestionCounts(NamedTuple):
    """The answers and skips of one question; changes may be negative."""

    answered: int = 0
    skipped: int = 0


def question_count_upsert(*only_if: sa.ColumnElement[bool]) -> sa.Insert:
    """Return an INSERT that adds `:more_answered` and `:more_skipped` to a question's counters."""
    answered, skipped = (
        sa.bindparam(name, type_=sa.Integer) for name in ("more_answered", "more_skipped")
    )
    columns = _QUESTIONS.c
    of = (sa.bindparam(name, type_=columns[name].type) for name in ("form_id", "question_id"))
    row = sa.select(*of, answered, skipped).where(sa.or_(answered != 0, skipped != 0), *only_if)
    added = database.insert_into(_QUESTIONS).from_select(columns.keys(), row)
    return added.on_conflict_do_update(
        index_elements=list(_QUESTIONS.primary_key),
        set_={name: columns[name] + added.excluded[name] for name in ("answered", "skipped")},
    )


add_question_count = database.built_once(question_count_upsert)


class Day(NamedTuple):
    """Responses completed on one UTC day."""

    date: date
    completed: int


def count_questions(form_id: str, changes: Mapping[str, QuestionCounts]) -> None:
    """Add the changes, which may be negative, by question id. Does not commit."""
    rows = [
        {
            "form_id": form_id,
            "question_id": question_id,
            "more_answered": change.answered,
            "more_skipped": change.skipped,
        }
        for question_id, change in sorted(changes.items())
        if change.answered or change.skipped
    ]
    if rows:
        database.db.session.execute(add_question_count(), rows if len(rows) > 1 else rows[0])


def count_completion(
    connection: sa.Connection, form_id: str, stamp: int, *, change: int = 1
) -> None:
    """Add `change` to the day of a completion's stamp (milliseconds). Does not commit."""
    row = {"form_id": form_id, "day": stamp // DAY_MILLIS, "change": change}
    run(connection, _ADD_DAY, row)


def store_link_views(views: Mapping[str, int]) -> None:
    """Add the views by share token in one transaction; unknown links add nothing."""
    with database.write_transaction():
        rows = [{"share_token": token, "change": n} for token, n in sorted(views.items())]
        database.db.session.execute(_ADD_LINK_VIEWS, rows)


def read_questions(form_id: str) -> Mapping[str, QuestionCounts]:
    """Return the counts by question id, without questions that nobody reached."""
    found = database.read_rows(_QUESTIONS_OF_FORM, form=form_id)
    return {row.question_id: QuestionCounts(row.answered, row.skipped) for row in found}


def read_link_views(form_id: str) -> int:
    """Return how often the form's public link was opened."""
    found = database.read_rows(_LINK_VIEWS_OF_FORM, form=form_id)
    return int(found[0].opened) if found else 0


def read_days(
    form_id: str, now: datetime, *, days: int, hidden: Mapping[date, int] | None = None
) -> list[Day]:
    """Return the newest `days` UTC days up to today, oldest first, including empty ones, without
    the `hidden` responses of each.
    """
    first = now.astimezone(UTC).date() - timedelta(days=days - 1)
    found = database.read_rows(_DAYS_OF_FORM, form=form_id, first=(first - EPOCH_DAY).days)
    counted = Counter({EPOCH_DAY + timedelta(days=row.day): row.completed for row in found})
    counted.subtract(hidden or {})
    return [Day(day, counted[day]) for day in (first + timedelta(days=n) for n in range(days))]


_QUESTIONS_OF_FORM = sa.select(
    QuestionCount.question_id, QuestionCount.answered, QuestionCount.skipped
).where(QuestionCount.form_id == sa.bindparam("form"))
_LINK_VIEWS_OF_FORM = sa.select(LinkViews.opened).where(LinkViews.form_id == sa.bindparam("form"))
_DAYS_OF_FORM = sa.select(DayCount.day, DayCount.completed).where(
    DayCount.form_id == sa.bindparam("form"), DayCount.day >= sa.bindparam("first")
)
# Both databases accept these statements.
_ADD_DAY = sa.text(
    "INSERT INTO day_counts (form_id, day, completed) VALUES (:form_id, :day, :change)"
    " ON CONFLICT (form_id, day) DO UPDATE SET completed = day_counts.completed + :change"
)
_ADD_LINK_VIEWS = sa.text(
    "INSERT INTO link_openings (form_id, opened)"
    " SELECT id, :change FROM forms WHERE share_token = :share_token AND deleted_at IS NULL"
    " ON CONFLICT (form_id) DO UPDATE SET opened = link_openings.opened + :change"
)


# divisors of the form's quota, or of the server's where the name says so
UNCLAIMED_OF_ADDRESS = 20
UNCLAIMED_OF_FORM = 4
UNCLAIMED_OF_SERVER = 4
ANSWERS_OF_ADDRESS = 2
ANSWERS_OF_ADDRESS_ON_SERVER = 4
CALLS_OF_ADDRESS = 10


class DaySpending(database.Base):
    """The amount spent of one quota on one day; a network in `share` is a keyed hash."""

    __tablename__ = "day_spending"

    day: Mapped[int] = mapped_column(sa.Integer, primary_key=True, autoincrement=False)
    share: Mapped[str] = mapped_column(sa.String(160), primary_key=True)
    spent: Mapped[int] = mapped_column(sa.BigInteger)


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

    address_hash        of the network that sent the recording; None once that was erased
    of_form, of_server  minutes per day
    """
    form_ms, server_ms = of_form * 60_000, of_server * 60_000
    narrow: dict[str, int] = {}
    wide: dict[str, int] = {}
    if not claimed:
        narrow[f"unclaimed {address_hash}"] = form_ms // UNCLAIMED_OF_ADDRESS
        narrow[f"unclaimed {form_id}"] = form_ms // UNCLAIMED_OF_FORM
        wide["unclaimed"] = server_ms // UNCLAIMED_OF_SERVER
    elif address_hash:  # even a small quota allows one recording of any length
        longest = RECORDING_MAX_SECONDS * 1000
        narrow[f"answers {address_hash} {form_id}"] = max(form_ms // ANSWERS_OF_ADDRESS, longest)
        wide[f"answers {address_hash}"] = max(server_ms // ANSWERS_OF_ADDRESS_ON_SERVER, longest)
    shares = narrow | {f"minutes {form_id}": form_ms} | wide | {"minutes": server_ms}
    return _spend(shares, duration_ms, now)


def spend_model_call(
    form_id: str, address_hash: str, *, of_form: int, of_server: int, now: datetime
) -> bool:
    """Count a model call for a respondent; False if a quota is used up. Commits."""
    of_address = max(1, of_form // CALLS_OF_ADDRESS)
    shares = {f"calls {address_hash}": of_address, f"calls {form_id}": of_form, "calls": of_server}
    return _spend(shares, 1, now)


def spend_other_call(*, of_server: int, now: datetime) -> bool:
    """Count a model call without a form; False if the server's quota is used up. Commits."""
    return _spend({"calls": of_server}, 1, now)


def purge_spending(now: datetime) -> Iterator[int]:
    """Delete the counts of earlier days; yield the number of rows of each transaction."""
    return delete_in_batches(_TABLE, DaySpending.day < database.to_millis(now) // DAY_MILLIS)


def _spend(shares: dict[str, int], amount: int, now: datetime) -> bool:
    """Add to each share in turn, the narrowest first; False at the first one that is full."""
    of = {"day": database.to_millis(now) // DAY_MILLIS, "more": amount}
    return all(
        database.execute_autocommit(_ADD, share=share, most=most, **of)
        for share, most in shares.items()
    )


_TABLE = cast(sa.Table, DaySpending.__table__)
_ADD = sa.text(
    "INSERT INTO day_spending (share, day, spent)"
    " SELECT CAST(:share AS VARCHAR), CAST(:day AS INTEGER), CAST(:more AS BIGINT)"
    " WHERE CAST(:more AS BIGINT) <= CAST(:most AS BIGINT)"
    " ON CONFLICT (share, day) DO UPDATE SET spent = day_spending.spent + excluded.spent"
    " WHERE day_spending.spent + excluded.spent <= CAST(:most AS BIGINT) RETURNING day"
)
