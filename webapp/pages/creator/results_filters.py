"""Search and filters of the results pages, parsed from the query string and written back."""

import re
from dataclasses import dataclass
from datetime import date

from flask import request

from webapp.domain.responses.counters import DAY_MILLIS, EPOCH_DAY
from webapp.domain.results.search import AnswerKey, Filters, PersonKey

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
        """What filters beside the search do, in words."""
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
