"""Template filters, tallies and QR codes."""

from datetime import UTC, date, datetime, timedelta
from math import ceil

import segno
from babel import Locale
from babel.dates import format_date, format_skeleton
from babel.numbers import format_compact_decimal
from flask import Flask
from flask_babel import format_decimal, get_locale, gettext, ngettext
from markupsafe import Markup, escape
from segno import QRCode

from webapp.answers.reading import UNREAD_COUNTED
from webapp.answers.results import CHARS_SHOWN, find_matches
from webapp.base.database import from_millis
from webapp.base.errors import Phrase
from webapp.base.vocabulary import ON_THIS_SERVER
from webapp.records.responses import models
from webapp.voice.audio_inspection import ACCEPTED
from webapp.voice.uploads import RECORDING_MAX_BYTES

JITTER = (0.7, -0.3, 0.8, -0.6, 0.2, -0.8, 0.5, 0.9, -0.5, 0.1)
STROKE_STEP = 10.5
AFTER_FIFTH = 14


def tally_of(total: int) -> tuple[list[str], float]:
    """Return the paths of a tally, whose every fifth stroke crosses the others, and its width."""
    paths, x = [], 5.0
    for number in range(total):
        a, b, c, d = (JITTER[(number * 3 + part) % len(JITTER)] for part in range(4))
        if number % 5 == 4:
            path = f"M{x - 42:.1f} {25 + a:.1f}C{x - 30:.1f} {19 + b:.1f} "
            path += f"{x - 18:.1f} {13 + c:.1f} {x - 5:.1f} {6 + d:.1f}"
            x += AFTER_FIFTH
        else:
            path = f"M{x + 1:.1f} {3 + a:.1f}C{x + b:.1f} 12 {x - 0.4 + c:.1f} 20 "
            path += f"{x + d / 2:.1f} {28 + a:.1f}"
            x += STROKE_STEP
        paths.append(path)
    return paths, round(x + 1, 1)


CODE_INK = "#10241c"


def code_of(address: str) -> QRCode:
    """Return the QR code of an address; error correction level M restores about a seventh."""
    return segno.make(address, error="m", micro=False)


def drawn_code(address: str) -> Markup:
    """Return the QR code as inline SVG, dark on white in both colour schemes."""
    svg = code_of(address).svg_inline(
        omitsize=True, border=2, dark=CODE_INK, svgclass=None, lineclass=None
    )
    return Markup(svg)  # noqa: S704  # drawn by segno from numbers, holds no text


NUMBERS = ["No", "One", "Two", "Three", "Four", "Five", "Six", "Seven", "Eight", "Nine", "Ten"]
EXCERPT_CHARS = 90  # two lines of a phone
LONG_QUESTION_CHARS = 140  # a longer one in large type pushes the text box off a phone's screen
THREADS_SHOWN = 12  # per person in a list; the page of the person shows all
MINUTES_EACH = 1.25  # the time to type a few sentences


def init_app(app: Flask) -> None:
    """Register template filters and globals, and remove the blank lines of block tags."""
    app.jinja_env.trim_blocks = app.jinja_env.lstrip_blocks = True
    app.add_template_filter(models.session_status, "status_at")
    app.add_template_filter(format_decimal, "figure")
    for each in (
        *(moment, clock_time, calendar_day, short_day, from_millis, play_time),
        *(in_words, asked_of, short_figure, translated, unbroken, excerpt, marked),
    ):
        app.add_template_filter(each)
    app.jinja_env.globals.update(
        ANSWER_MAX_CHARS=models.ANSWER_MAX_CHARS,
        CHARS_SHOWN=CHARS_SHOWN,
        LONG_QUESTION_CHARS=LONG_QUESTION_CHARS,
        ON_THIS_SERVER=ON_THIS_SERVER,
        RECORDING_MAX_BYTES=RECORDING_MAX_BYTES,
        RECORDING_MAX_SECONDS=models.RECORDING_MAX_SECONDS,
        RECORDINGS_ACCEPTED=ACCEPTED,
        SPOKEN_ANSWER_MAX_CHARS=models.SPOKEN_ANSWER_MAX_CHARS,
        THREADS_SHOWN=THREADS_SHOWN,
        UNREAD_COUNTED=UNREAD_COUNTED,
        tally_of=tally_of,
    )


def marked(text: str, needle: str) -> Markup:
    """Put search matches into `<mark>`; `needle` is normalised for comparison."""
    parts, at = [], 0
    for start, end in find_matches(text, needle):
        parts.append(Markup("{}<mark>{}</mark>").format(text[at:start], text[start:end]))
        at = end
    return Markup("").join([*parts, escape(text[at:])])


def excerpt(text: str) -> str:
    """Return the end of a text in one line: at most EXCERPT_CHARS, starting with a whole word."""
    text = text.strip()
    end = text[-4 * EXCERPT_CHARS :]
    line = " ".join(end.split())
    if len(line) <= EXCERPT_CHARS:
        return line if end == text else f"… {line}"
    tail = line[-EXCERPT_CHARS:]
    words = tail.partition(" ")[2]
    # a long word may break anywhere; the joiner keeps the dots on its first line
    return f"… {words}" if words else f"…\N{WORD JOINER}{tail}"


def moment(at: datetime) -> Markup:
    """Return a `<time>` such as "5 min ago"; a date and time if `at` is before yesterday."""
    ago = _relative_time(at, datetime.now(UTC))
    return clock_time(at) if ago is None else _time(at, "ago", "", ago)


def clock_time(at: datetime) -> Markup:
    """Return a `<time>` with day and time in UTC; a script converts it to the local time zone.

    The text and `data-clock` include the year unless it is the current one.
    """
    year = _year_shown(at)
    return _time(at, "clock", year, _in_utc(at, "yMMMd" if year else "MMMd"))


def calendar_day(at: datetime) -> Markup:
    """Return a `<time>` with the day in UTC, without the time of day."""
    year = _year_shown(at)
    return _time(at, "day", year, _written(at, "yMMMd" if year else "MMMd"))


def short_figure(count: int) -> str:
    """Format a number in few characters, such as 1.2K."""
    return format_compact_decimal(count, locale=_locale(), fraction_digits=int(count < 9950))


def short_day(day: date) -> str:
    """Format a day without its year."""
    return format_date(day, "d MMM", locale=_locale())


def in_words(count: int) -> str:
    """Write a number for the beginning of a sentence: a word up to ten, then figures."""
    return NUMBERS[count] if 0 <= count < len(NUMBERS) else str(count)


def asked_of(questions: int) -> str:
    """Return the number of questions and an estimate of the minutes to answer them."""
    minutes = ceil(questions * MINUTES_EACH)
    count = ngettext("%(num)s question", "%(num)s questions", questions)
    time = ngettext("about %(num)s minute", "about %(num)s minutes", minutes)
    return str(gettext("%(questions)s, %(minutes)s", questions=count, minutes=time))


def unbroken(text: str) -> str:
    """Replace spaces with no-break spaces, such as between a number and its unit."""
    return text.replace(" ", "\u00a0")


def translated(message: str) -> str:
    """Translate the message of an outcome into the language of the page if it is a Phrase."""
    if not isinstance(message, Phrase):
        return message
    numbers = {name: format_decimal(number) for name, number in message.numbers.items()}
    return str(gettext(message.pattern, **numbers))


def _time(at: datetime, kind: str, year: str, words: str) -> Markup:
    """Return a `<time>` element whose title is the full date and time."""
    return Markup('<time datetime="{}" data-{}="{}" title="{}">{}</time>').format(
        at.astimezone(UTC).isoformat(timespec="seconds"), kind, year, _in_utc(at), words
    )


def _in_utc(at: datetime, day: str = "") -> str:
    """Format day and time; `day` is a CLDR skeleton, "" for the long date."""
    date = _written(at, day) if day else format_date(at.astimezone(UTC), "long", locale=_locale())
    return str(gettext("%(day)s, %(time)s UTC", day=date, time=_written(at, "Hm")))


def _written(at: datetime, parts: str) -> str:
    """Format a time in UTC; `parts` is a CLDR skeleton, which each language orders itself."""
    return format_skeleton(parts, at.astimezone(UTC), locale=_locale())


def _locale() -> Locale:
    """Return the page locale; English is en-GB everywhere: day before month, 24 hours."""
    own = get_locale()
    return Locale("en", "GB") if own is None or own.language == "en" else own


def _year_shown(at: datetime) -> str:
    """Return the `year` option of JavaScript's date formats, "" to omit the year."""
    return "" if at.astimezone(UTC).year == datetime.now(UTC).year else "numeric"


def _relative_time(at: datetime, now: datetime) -> str | None:
    """Describe how long ago `at` was; None if it was before yesterday."""
    ago = now - at
    if ago < timedelta(minutes=1):
        return str(gettext("just now"))
    if ago < timedelta(hours=1):
        return str(gettext("%(count)s min ago", count=ago // timedelta(minutes=1)))
    if ago < timedelta(days=1):
        return str(gettext("%(count)s h ago", count=ago // timedelta(hours=1)))
    if at.date() == (now - timedelta(days=1)).date():
        return str(gettext("yesterday"))
    return None


def play_time(duration_ms: int) -> str:
    """Format a duration as minutes and seconds, such as 1:05, rounded up."""
    seconds = -(-duration_ms // 1000)
    return f"{seconds // 60}:{seconds % 60:02}"
