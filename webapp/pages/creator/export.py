"""CSV and JSON downloads, few at once; spreadsheets run none of the cells as formulas."""

import logging
import re
import unicodedata
from collections import defaultdict
from collections.abc import Iterator
from http import HTTPStatus
from urllib.parse import quote

import orjson
from flask import Response, abort, current_app, stream_with_context, url_for

from api.wire.responses import form_responses, response_session
from api.wire.types import wire_time
from webapp.answers import batches
from webapp.base.config import settings
from webapp.base.database import release_connections, to_millis, utc_now
from webapp.base.text import normalized
from webapp.pages.creator.request import acting, creator_blueprint, creator_id
from webapp.pages.creator.results import get_shown_form
from webapp.pages.errors import Problem, problem
from webapp.records import forms
from webapp.records.audit import AuditKind
from webapp.records.content.model import asks_follow_ups
from webapp.records.follow_ups import FollowUp
from webapp.records.forms import FormRow
from webapp.records.responses import cursor, models, recordings
from webapp.voice.audio_store import AudioStoreUnavailable, audio_store
from webapp.web import byte_ranges, request_audit
from webapp.web.wakeups import NoSlot, Slots, wakeups

MOST_OF_ONE = 2  # downloads of one account at once
MOST = 8  # downloads of this process at once
PIECE_BYTES = 256 * 1024  # a slow client has a time limit for each piece, not for a whole batch
RETRY_SECONDS = 10

STILL_RUNNING = Problem(
    "Your other downloads are still running.",
    f"There may be {MOST_OF_ONE} at a time. Try again when one of them has ended.",
)
ALL_TAKEN = Problem(
    "Many people are downloading just now.",
    "Nothing is wrong with your answers. Wait a little, then try again.",
)

BYTE_ORDER_MARK = b"\xef\xbb\xbf"  # tells spreadsheets that the file is UTF-8
PERSON_COLUMNS = ("person", "name", "status", "started_at", "finished_at", "looks_automated")
CSV_COLUMNS = (
    "answered_at",
    *PERSON_COLUMNS,
    "question_number",
    "question",
    "question_id",
    "question_type",
    "parent_question_id",
    "answer",
    "answer_type",
    "answer_id",
    "recording_seconds",
    "recording",
    "asked_by",
    "why",
)
COUNTED_AT_THE_END = ("responses", "returnedResponseCount", "returnedAnswerCount")
QUOTE, TWO_QUOTES = '"', '""'
NOTHING = '"",""'  # two empty cells
BY_RULES = "rules"
# These begin a formula; NFKC turns wide, small and raised signs into them.
FORMULA_SIGNS = frozenset("=+-@\N{MINUS SIGN}")
IGNORED = "CZM"  # general categories: controls and formats, separators, marks
# A sign before a number needs no apostrophe: the formula yields the number itself.
SIGNED_NUMBER = re.compile(
    r"[+\-−] ?[.,]?\d(?:[.,'’ \u00a0\u202f]?\d){0,30}(?:[eE][+-]?\d{1,3})? ?%?"  # noqa: RUF001
)
CELL_MAX_UNITS = 32_767  # in UTF-16; spreadsheets silently drop what is longer, or reject the file
CUT = "… [cut here; the file by answer has all of it]"

log = logging.getLogger(__name__)
bp = creator_blueprint("exports", "/forms/<form_id>", limits_writes=False)


def downloads() -> Slots:
    """Return the registry of running downloads, which limits their number."""
    found: Slots = current_app.extensions.setdefault("downloads", Slots(MOST, MOST_OF_ONE))
    return found


@bp.get("/<any('export.csv', 'export-by-person.csv', 'export.json'):name>")
def download(form_id: str, name: str) -> Response:
    """Stream one export; holds no database connection while it waits for the client."""
    if wakeups().stopped:
        abort(HTTPStatus.SERVICE_UNAVAILABLE)
    (form, _hidden), account_id, running = get_shown_form(form_id), creator_id(), downloads()
    release_connections()
    try:
        running.reserve({account_id: MOST_OF_ONE})
    except NoSlot:
        return _refusal(form, STILL_RUNNING if running.is_full(account_id) else ALL_TAKEN)
    request_audit.note(AuditKind.EXPORTED, account_id, **acting(), subject=form.id)
    pieces = (
        chunk[start : start + PIECE_BYTES]
        for chunk in FILES[name](form)
        for start in range(0, len(chunk), PIECE_BYTES)
    )
    mimetype = "application/json" if name == "export.json" else "text/csv"
    response = Response(stream_with_context(pieces), mimetype=mimetype)
    response.call_on_close(lambda: running.release(account_id))
    response.headers["Cache-Control"] = "private, no-store"
    # the name in Unicode and, for old clients, in ASCII (RFC 6266, RFC 8187)
    slug = re.sub(r"\W+", "-", form.title).strip("-")[:60] or "answers"
    file = f"{slug}-{utc_now().date().isoformat()}{name.removeprefix('export')}"
    plain = normalized("NFKD", file).encode("ascii", "ignore").decode()
    names = {"filename": plain, "filename*": f"UTF-8''{quote(file)}"}
    response.headers.set("Content-Disposition", "attachment", **names)
    return response


def _refusal(form: FormRow, why: Problem) -> Response:
    """Return a 429 page that links back to the results page."""
    back = url_for("results.by_question", form_id=form.id), "Back to the answers"
    response = problem(why, HTTPStatus.TOO_MANY_REQUESTS, again=True, back=back)
    response.headers["Retry-After"] = str(RETRY_SECONDS)
    return response


@bp.get("/attachments/<attachment_id>")
def recording(form_id: str, attachment_id: str) -> Response:
    """Serve the recording of an answer, also in byte ranges as players request them."""
    form = forms.get_form(creator_id(), form_id)
    found = recordings.find_attachment(form.id, attachment_id, shown_only=True)
    try:
        return byte_ranges.recording_response(found, audio_store().read)
    except AudioStoreUnavailable:
        log.exception("a recording could not be read")
        abort(HTTPStatus.SERVICE_UNAVAILABLE)


def csv_by_answer(form: FormRow) -> Iterator[bytes]:
    """Yield a CSV file with one row per answer, oldest first; times in UTC."""
    numbers = {question["id"]: str(at) for at, question in enumerate(form.questions, start=1)}
    now = to_millis(utc_now())
    yield BYTE_ORDER_MARK + f"{cells(*CSV_COLUMNS)}\r\n".encode()
    for batch in batches.read_answers(form.id):
        people = {key: person_cells(person, now) for key, person in batch.people.items()}
        asked = {key: _how_cells(how) for key, how in batch.asked.items()}
        heard = {
            key: cells(f"{each.duration_ms / 1000:.1f}", recording_address(form, each))
            for key, each in batch.attachments.items()
        }
        questions: dict[tuple[str, str], str] = {}  # many answers share one; building it is slow
        lines = []
        for answer in batch.answers:
            key = answer.question_id, answer.question_text
            if key not in questions:
                parent = answer.parent_question_id or ""
                number = numbers.get(parent or answer.question_id, "")
                texts = answer.question_text, answer.question_id, answer.question_kind, parent
                questions[key] = cells(number, *map(cell, texts))
            text = cell(answer.answer_text).replace(QUOTE, TWO_QUOTES)
            lines.append(
                f'"{wire_time(answer.stamp)}",{people[answer.session_id]},{questions[key]},'
                f'"{text}","{answer.response_type}","{answer.id}",'
                f"{heard.get(answer.id, NOTHING)},{asked.get(answer.question_id, NOTHING)}\r\n"
            )
        yield "".join(lines).encode()


def _how_cells(asked: FollowUp) -> str:
    """Return the cells `asked_by` (such as `agent`, `creator` or `model@host`) and `why`."""
    writer = "@".join(asked.writer.rsplit(" at ", 1)) or BY_RULES
    return cells(cell(writer), f"{asked.technique}: {asked.reason}")


def csv_by_person(form: FormRow) -> Iterator[bytes]:
    """Yield a CSV file: one row per person who answered, by start time; columns per question."""
    now = to_millis(utc_now())
    columns = list(PERSON_COLUMNS)
    for number, question in enumerate(form.questions, start=1):
        text = f"{number}. {question['text']}"
        columns += _of_question(form, text, f"{number} follow-ups", f"{number} recordings")
    yield BYTE_ORDER_MARK + f"{cells(*columns, 'skipped')}\r\n".encode()
    for people in batches.read_people(form.id):
        depths = batches.read_depths(people)
        lines = [
            f"{person_cells(each.session, now)},{cells(*_answer_cells(form, each, depths))}\r\n"
            for each in people
        ]
        yield "".join(lines).encode()


def json_of_form(form: FormRow) -> Iterator[bytes]:
    """Yield one FormResponses object with every response.

    The API continues at its `nextSince`, and returns answers stored during the export again.
    """
    now = to_millis(utc_now())
    position = form.last_stamp if form.answered_count else None
    head = form_responses(form, cursor.ResponsePage([], 0, position, truncated=False))
    begun = {name: value for name, value in head.items() if name not in COUNTED_AT_THE_END}
    yield orjson.dumps(begun)[:-1] + b',"responses":['
    people = answers = 0
    for batch in batches.read_people(form.id):
        lines = [orjson.dumps(response_session(person, now, whole=True)) for person in batch]
        yield (b"," if people and lines else b"") + b",".join(lines)
        people += len(lines)
        answers += sum(len(person.answers) for person in batch)
    yield b'],"returnedResponseCount":%d,"returnedAnswerCount":%d}' % (people, answers)


FILES = {
    "export.csv": csv_by_answer,
    "export-by-person.csv": csv_by_person,
    "export.json": json_of_form,
}


def cells(*texts: str) -> str:
    """Join cells into part of a CSV row: all quoted, with quotes doubled (RFC 4180)."""
    return ",".join([f'"{text.replace(QUOTE, TWO_QUOTES)}"' for text in texts])


def cell(text: str) -> str:
    """Prefix text that a spreadsheet would read as a formula with an apostrophe.

    That includes formulas after a tab, a return or characters that spreadsheets ignore.
    """
    first = next((char for char in text if unicodedata.category(char)[0] not in IGNORED), "")
    begins = normalized("NFKC", first)[:1] in FORMULA_SIGNS or text[:1] in {"\t", "\r"}
    return f"'{text}" if begins and not SIGNED_NUMBER.fullmatch(text.strip(" ")) else text


def short_cell(text: str) -> str:
    """Return `cell(text)`, cut to the maximum of a spreadsheet cell; a mark shows the cut."""
    text = cell(text)
    units = text.encode("utf-16-le") if len(text) > CELL_MAX_UNITS // 2 else b""
    if len(units) <= 2 * CELL_MAX_UNITS:
        return text
    return units[: 2 * (CELL_MAX_UNITS - len(CUT))].decode("utf-16-le", "ignore") + CUT


def person_cells(person: models.SessionRow, now_millis: int) -> str:
    """Return the cells of PERSON_COLUMNS."""
    completed = person.completed_stamp
    return cells(
        person.id,
        cell(person.responder_name or ""),
        models.session_status(person, now_millis),
        wire_time(person.created_at),
        wire_time(completed) if completed else "",
        "yes" if person.suspect else "",
    )


def recording_address(form: FormRow, recording: models.AttachmentRow) -> str:
    """Return the URL at which the creator of the form can play the recording."""
    return f"{settings().public_url}/forms/{form.id}/attachments/{recording.id}"


def _of_question(form: FormRow, answer: str, follow_ups: str, recordings: str) -> Iterator[str]:
    """Yield the cells of one question whose columns this form has."""
    yield short_cell(answer)
    if asks_follow_ups(form):
        yield short_cell(follow_ups)
    if form.records_voice:
        yield short_cell(recordings)


def _answer_cells(
    form: FormRow, person: models.SessionAnswers, depths: dict[str, int]
) -> Iterator[str]:
    """Yield the cells of each question, follow-ups in asking order, and the skipped numbers."""
    threads: defaultdict[str, list[models.AnswerRow]] = defaultdict(list)
    for each in sorted(person.answers, key=lambda answer: depths.get(answer.question_id, 0)):
        threads[each.parent_question_id or each.question_id].append(each)
    for question in form.questions:
        answers = threads[question["id"]]
        given = [each.answer_text for each in answers if not each.parent_question_id]
        follow_ups = [each for each in answers if each.parent_question_id]
        asked = [f"{each.question_text}\n{each.answer_text}" for each in follow_ups]
        recorded = [
            person.attachments[each.id] for each in answers if each.id in person.attachments
        ]
        heard = [recording_address(form, each) for each in recorded]
        yield from _of_question(form, "".join(given), "\n\n".join(asked), "\n".join(heard))
    numbered = enumerate(form.questions, start=1)
    yield ", ".join(
        str(number) for number, question in numbered if question["id"] in person.skipped
    )
