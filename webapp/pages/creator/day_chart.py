"""Bar charts by day, drawn by the server as SVG attributes, with the same numbers as text."""

from collections.abc import Sequence
from datetime import datetime
from typing import NamedTuple

from webapp.domain.responses.counters import Day

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
