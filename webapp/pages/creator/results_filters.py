"""Filters of the results page, the form that it shows, and its chart of days."""

import re
from collections.abc import Sequence
from dataclasses import dataclass, replace
from datetime import date, datetime
from typing import NamedTuple

from flask import request

from webapp.answers.by_question import HiddenResponses, read_hidden
from webapp.answers.search import AnswerKey, Filters, PersonKey
from webapp.pages.creator.request import creator_id
from webapp.records import forms
from webapp.records.forms import FormRow
from webapp.records.responses.counters import DAY_MILLIS, EPOCH_DAY, Day

WORDS_MAX_CHARS = 200
NAMES = ("q", "sent", "unflagged", "spoken", "followups", "from", "to")

FILTERS = {
    "sent": "Completed only",
    "unflagged": "Automated ones hidden",
    "spoken": "With a recording",
    "followups": "With follow-ups",
}
DAYS = {"from": "From", "to": "To"}


@dataclass(frozen=True, slots=True)
class Choice:
    """`filters` as parsed, `values` as typed; `misread` is an invalid day."""

    filters: Filters
    values: dict[str, str]
    misread: str

    @property
    def chosen(self) -> list[str]:
        """What filters besides the search do, in words."""
        names = [FILTERS[name] for name in FILTERS if name in self.values]
        days = {name: self.values.get(name, "") for name in ("from", "to")}
        return [*names, *(f"{DAYS[name]} {day}" for name, day in days.items() if day)]

    def __getitem__(self, name: str) -> str:
        """The text typed into a field, "" if empty."""
        return self.values.get(name, "")


def read_choice() -> Choice:
    """The search and filters of the current query string; invalid values filter nothing."""
    typed = {name: request.args.get(name, "").strip() for name in NAMES}
    typed["q"] = typed["q"][:WORDS_MAX_CHARS]
    since, until = _day(typed["from"]), _day(typed["to"])
    misread = [typed[name] for name, day in (("from", since), ("to", until)) if day is None]
    values = {name: text for name, text in typed.items() if text and text not in misread}
    filters = Filters(
        words=typed["q"],
        sent_only=bool(typed["sent"]),
        unflagged=bool(typed["unflagged"]),
        spoken=bool(typed["spoken"]),
        follow_ups=bool(typed["followups"]),
        since=None if since is None else since * DAY_MILLIS,
        until=None if until is None else (until + 1) * DAY_MILLIS,
    )
    return Choice(filters, values, next(filter(None, misread), ""))


def stamp(name: str) -> int | None:
    """The stamp in this query parameter; None if invalid."""
    found = re.fullmatch("[0-9]{1,13}", request.args.get(name, ""))
    return int(found[0]) if found else None


def answer_before() -> AnswerKey | None:
    """The position among found answers to continue from, as written by `position`."""
    found = re.fullmatch("([0-9]{1,13})-([0-9]{1,13})", request.args.get("before", ""))
    return (int(found[1]), int(found[2])) if found else None


def person_before() -> PersonKey | None:
    """The position to continue from, as written by `position`."""
    found = re.fullmatch(r"([0-9]{1,13})-(\w{1,40})", request.args.get("before", ""), re.ASCII)
    return (int(found[1]), found[2]) if found else None


def position(key: AnswerKey | PersonKey | None) -> str | None:
    """The position among found answers or respondents as a query parameter."""
    return f"{key[0]}-{key[1]}" if key else None


def _day(text: str) -> int | None:
    """The number of a UTC day since the epoch; None if invalid."""
    if not re.fullmatch(r"[0-9]{4}-[0-9]{2}-[0-9]{2}", text):
        return None
    try:
        return (date.fromisoformat(text) - EPOCH_DAY).days
    except ValueError:
        return None


class ShownForm(NamedTuple):
    """The form with lower counts, and what they are lowered by."""

    form: FormRow
    hidden: HiddenResponses


def get_shown_form(form_id: str) -> ShownForm:
    """The creator's form, its counts lowered by what is deleted just now; raises NotFound"""
    return lower_counts(forms.get_form(creator_id(), form_id))


def lower_counts(form: FormRow) -> ShownForm:
    """A form as it was read, its counts lowered by what is deleted just now."""
    hidden = read_hidden(form.id)
    lowered = replace(
        form,
        started_count=form.started_count - hidden.started,
        answered_count=form.answered_count - hidden.with_answers,
        response_count=form.response_count - hidden.completed,
    )
    return ShownForm(lowered, hidden)


DAYS_SHOWN = 14
FEWEST_DAYS = 2
WIDTH = 360
MARGIN = 20
FLOOR = 74.5  # y of the base line
TALLEST = 54
NUMBER_ABOVE = 10.5


class Bar(NamedTuple):
    """One day at `x`; `path` and `number` are empty for a day without responses."""

    day: Day
    x: float
    path: str
    number: str
    number_y: float


class DayChart(NamedTuple):
    """The bars of a chart and its highest day."""

    bars: list[Bar]
    most: Day


def days_since(published_at: datetime, now: datetime) -> int:
    """How many days the chart shows: those since publishing, up to a maximum."""
    return min(max((now.date() - published_at.date()).days + 1, 1), DAYS_SHOWN)


def day_chart(days: Sequence[Day]) -> DayChart | None:
    """The chart; None when there are no responses, or fewer days than can be compared."""
    most = max(days, key=lambda day: day.completed)
    if not most.completed or len(days) < FEWEST_DAYS:
        return None
    step = (WIDTH - 2 * MARGIN) / (len(days) - 1)
    bars = [_bar(day, MARGIN + step * at, most.completed) for at, day in enumerate(days)]
    return DayChart(bars, most)


def _bar(day: Day, x: float, most: int) -> Bar:
    if not day.completed:
        return Bar(day, round(x, 1), "", "", 0)
    height = max(3, round(TALLEST * day.completed / most))
    lean = 0.8 if day.date.day % 2 else -0.8
    low, high = f"{lean} -{height * 0.4:.1f}", f"{-lean * 0.75:.1f} -{height * 0.8:.1f}"
    path = f"M{x:.1f} {FLOOR}c{low} {high} 0 -{height}"
    return Bar(day, round(x, 1), path, _short(day.completed), FLOOR - height - NUMBER_ABOVE)


def _short(count: int) -> str:
    """The number in at most four characters; the table has the exact one."""
    if count < 1000:
        return str(count)
    if count < 999_500:
        return f"{count / 1000:.1f}k" if count < 9950 else f"{count / 1000:.0f}k"
    return f"{count / 1_000_000:.1f}M"
