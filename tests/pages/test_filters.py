"""How pages write times and days, and the words that a follow-up question goes back to."""

from datetime import UTC, datetime, timedelta

import pytest
from flask import Flask
from flask_babel import force_locale

from webapp.pages.filters import EXCERPT_CHARS, clock_time, excerpt, moment

NOW = datetime(2026, 11, 22, 18, 20, tzinfo=UTC)
AGO = [
    (timedelta(seconds=59), "just now"),
    (timedelta(minutes=59), "59 min ago"),
    (timedelta(hours=23, minutes=59), "23 h ago"),
    (timedelta(hours=25), "yesterday"),
    (timedelta(days=49), "4 Oct, 18:20 UTC"),
    (timedelta(days=365), "22 Nov 2025, 18:20 UTC"),
]


@pytest.mark.parametrize(("ago", "written"), AGO)
def test_a_time_is_written_relative_to_now_and_by_its_day_when_longer_ago(
    app: Flask, ago: timedelta, written: str
) -> None:
    with app.test_request_context():
        assert f">{written}</time>" in moment(NOW - ago, now=NOW)


def test_days_follow_the_language_of_the_page(app: Flask) -> None:
    with app.test_request_context(), force_locale("de"):
        assert clock_time(NOW, now=NOW).striptags().startswith("22. Nov")


GAP = "\n" * 5 * EXCERPT_CHARS


@pytest.mark.parametrize(
    ("text", "shown"),
    [
        ("It was\n slow ", "It was slow"),
        (f"one two {'a' * (EXCERPT_CHARS - 4)}", f"… {'a' * (EXCERPT_CHARS - 4)}"),
        ("a" * 2000, f"…\N{WORD JOINER}{'a' * EXCERPT_CHARS}"),
        (f"It was slow{GAP}and loud", "… and loud"),
    ],
)
def test_the_end_of_an_answer_in_one_line(text: str, shown: str) -> None:
    assert excerpt(text) == shown
