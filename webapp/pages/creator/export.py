"""Exports as CSV and JSON, with cells that no spreadsheet executes; few at once."""

import logging
import re
import threading
import unicodedata
from collections import Counter, defaultdict
from collections.abc import Iterable, Iterator
from http import HTTPStatus
from itertools import chain
from urllib.parse import quote, urlsplit

import orjson
from flask import (
    Response,
    abort,
    current_app,
    request,
    stream_with_context,
    url_for,
)

from api.wire.responses import form_responses, response_session
from api.wire.timestamps import wire_time
from webapp.answers.by_question import find_shown_attachment
from webapp.answers.export import (
    AnswerBatch,
    PersonBatch,
    read_answers,
    read_people,
    read_person_batches,
)
from webapp.base.config import settings
from webapp.base.database import release_connections, to_millis, utc_now
from webapp.base.text import normalized
from webapp.pages.creator.request import acting, creator_blueprint, creator_id
from webapp.pages.creator.results import get_shown_form
from webapp.pages.errors import Again, Back, Problem, own_page, problem
from webapp.records import forms
from webapp.records.audit import AuditKind
from webapp.records.content.model import asks_follow_ups
from webapp.records.follow_ups import HowAsked
from webapp.records.forms import FormRow
from webapp.records.responses.cursor import ResponsePage
from webapp.records.responses.models import (
    AnswerRow,
    AttachmentRow,
    SessionAnswers,
    SessionRow,
    session_status,
)
from webapp.voice.audio_store import AudioStoreUnavailable, audio_store
from webapp.web import request_audit
from webapp.web.byte_ranges import recording_response
from webapp.web.url_converters import current_address
from webapp.web.wakeups import wakeups

MOST_OF_ONE = 2  # of one account
MOST = 8  # of this process
PIECE_BYTES = 256 * 1024  # that the server takes at a time
RETRY_SECONDS = 10

STILL_RUNNING = Problem(
    "Your other downloads are still running.",
    f"There may be {MOST_OF_ONE} at a time. Try again when one of them has ended.",
)
ALL_TAKEN = Problem(
    "Many people are downloading just now.",
    "Nothing is wrong with your answers. Wait a little, then try again.",
)


class Downloads:
    """The downloads of this process that are under way, by account."""

    def __init__(self) -> None:
        self._lock = threading.Lock()
        self._running: Counter[str] = Counter()

    def begin(self, account_id: str) -> Problem | None:
        """Count one, which `end` must follow; or why it may not begin."""
        with self._lock:
            if self._running[account_id] >= MOST_OF_ONE:
                return STILL_RUNNING
            if self._running.total() >= MOST:
                return ALL_TAKEN
            self._running[account_id] += 1
            return None

    def end(self, account_id: str) -> None:
        """The download is over, however it ended."""
        with self._lock:
            self._running[account_id] -= 1
            self._running += Counter()  # without zeros


def downloads() -> Downloads:
    """The downloads of the current application."""
    found: Downloads = current_app.extensions.setdefault("downloads", Downloads())
    return found


def in_pieces(chunks: Iterator[bytes]) -> Iterator[bytes]:
    """The same bytes in chunks of at most PIECE_BYTES."""
    for chunk in chunks:
        for start in range(0, len(chunk), PIECE_BYTES):
            yield chunk[start : start + PIECE_BYTES]


def _refusal(why: Problem) -> Response:
    again = Again(current_address())
    back = Back(_answers_page(), "Back to the answers")
    response = problem(why, HTTPStatus.TOO_MANY_REQUESTS, again=again, back=back)
    response.headers["Retry-After"] = str(RETRY_SECONDS)
    return response


def _answers_page() -> str:
    """The page of answers where this download was asked for, as it was filtered there."""
    views = ("results.by_question", "results.by_person")
    pages = [url_for(view, **request.view_args or {}) for view in views]
    came_from = own_page(request.referrer or "")
    return came_from if urlsplit(came_from).path in pages else pages[0]


QUOTE, TWO_QUOTES = '"', '""'
BYTE_ORDER_MARK = b"\xef\xbb\xbf"  # spreadsheets take the file for UTF-8 by it
PERSON_COLUMNS = ("person", "name", "status", "started_at", "finished_at", "looks_automated")
# Begin a formula; NFKC makes these of wide, small and raised signs.
FORMULA_SIGNS = frozenset("=+-@\N{MINUS SIGN}")
IGNORED = "CZM"  # general categories: controls and formats, separators, marks
# A sign before a number is none: its calculation is the number.
SIGNED_NUMBER = re.compile(
    r"[+\-−] ?[.,]?\d(?:[.,'’ \u00a0\u202f]?\d){0,30}(?:[eE][+-]?\d{1,3})? ?%?"  # noqa: RUF001
)
CELL_MAX_UNITS = 32_767  # of UTF-16: spreadsheets silently drop the rest, or the file
CUT = "… [cut here; the file by answer has all of it]"


def cells(*texts: str) -> str:
    """RFC 4180: every cell quoted, quotes doubled."""
    return ",".join([f'"{text.replace(QUOTE, TWO_QUOTES)}"' for text in texts])


def cell(text: str) -> str:
    """Text that no spreadsheet reads as a formula: such text gets a leading apostrophe."""
    is_formula = _begins_formula(text) and not SIGNED_NUMBER.fullmatch(text.strip(" "))
    return f"'{text}" if is_formula else text


def _begins_formula(text: str) -> bool:
    """Also after a tab, a return or characters that a spreadsheet ignores."""
    first = next((char for char in text if unicodedata.category(char)[0] not in IGNORED), "")
    return normalized("NFKC", first)[:1] in FORMULA_SIGNS or text[:1] in {"\t", "\r"}


def short_cell(text: str) -> str:
    """The same, cut with a mark to what a cell of a spreadsheet takes."""
    text = cell(text)
    units = text.encode("utf-16-le") if len(text) > CELL_MAX_UNITS // 2 else b""
    if len(units) <= 2 * CELL_MAX_UNITS:
        return text
    return units[: 2 * (CELL_MAX_UNITS - len(CUT))].decode("utf-16-le", "ignore") + CUT


def person_cells(person: SessionRow, now_millis: int) -> str:
    """The cells of PERSON_COLUMNS."""
    completed = person.completed_stamp
    return cells(
        person.id,
        cell(person.responder_name or ""),
        session_status(person, now_millis),
        wire_time(person.created_at),
        wire_time(completed) if completed else "",
        "yes" if person.suspect else "",
    )


def recording_address(form: FormRow, recording: AttachmentRow) -> str:
    """Where the creator of the form hears it."""
    return f"{settings().public_url}/forms/{form.id}/attachments/{recording.id}"


def csv_by_person(form: FormRow) -> Iterator[bytes]:
    """The file in chunks; persons in the order in which they began, those without answers left
    out.
    """
    now = to_millis(utc_now())
    yield BYTE_ORDER_MARK + f"{cells(*_columns(form))}\r\n".encode()
    for batch in read_person_batches(form.id):
        lines = [
            f"{person_cells(person.session, now)},{cells(*_answer_cells(form, person, batch))}\r\n"
            for person in batch.people
        ]
        yield "".join(lines).encode()


def _columns(form: FormRow) -> Iterable[str]:
    numbered = enumerate(form.questions, start=1)
    of_questions = chain.from_iterable(
        _of_question(
            form, f"{number}. {question['text']}", f"{number} follow-ups", f"{number} recordings"
        )
        for number, question in numbered
    )
    return (*PERSON_COLUMNS, *map(short_cell, of_questions), "skipped")


def _of_question(form: FormRow, answer: str, follow_ups: str, recordings: str) -> Iterator[str]:
    """Of these cells those that the form has."""
    yield answer
    if asks_follow_ups(form):
        yield follow_ups
    if form.records_voice:
        yield recordings


def _answer_cells(form: FormRow, person: SessionAnswers, batch: PersonBatch) -> Iterator[str]:
    skipped = batch.skipped.get(person.session.id, ())
    threads = _threads(person, batch)
    for question in form.questions:
        answers = threads[question["id"]]
        given = [each.answer_text for each in answers if each.parent_question_id is None]
        asked = [
            f"{each.question_text}\n{each.answer_text}"
            for each in answers
            if each.parent_question_id
        ]
        heard = [
            recording_address(form, person.attachments[each.id])
            for each in answers
            if each.id in person.attachments
        ]
        yield from map(
            short_cell, _of_question(form, "".join(given), "\n\n".join(asked), "\n".join(heard))
        )
    numbered = enumerate(form.questions, start=1)
    yield ", ".join(str(number) for number, question in numbered if question["id"] in skipped)


def _threads(person: SessionAnswers, batch: PersonBatch) -> defaultdict[str, list[AnswerRow]]:
    """The answers by id of the question of the form, follow-ups in the order of asking."""
    threads: defaultdict[str, list[AnswerRow]] = defaultdict(list)
    for each in sorted(person.answers, key=lambda answer: batch.depths.get(answer.question_id, 0)):
        threads[each.parent_question_id or each.question_id].append(each)
    return threads


log = logging.getLogger(__name__)

bp = creator_blueprint("exports", "/forms/<form_id>", limits_writes=False)

CSV_TYPE = "text/csv; charset=utf-8"
NOTHING = '"",""'  # two empty cells
BY_RULES = "rules"
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


@bp.get("/export.csv")
def as_csv(form_id: str) -> Response:
    """One row for each answer, in the order they came in; times in UTC."""
    form = forms.get_form(creator_id(), form_id)
    return _file(form, _csv_chunks(form), ".csv", CSV_TYPE)


@bp.get("/export-by-person.csv")
def as_csv_by_person(form_id: str) -> Response:
    """One row for each person, with a column for each question."""
    form = forms.get_form(creator_id(), form_id)
    return _file(form, csv_by_person(form), "-by-person.csv", CSV_TYPE)


@bp.get("/export.json")
def as_json(form_id: str) -> Response:
    """One FormResponses object with every response."""
    form = get_shown_form(form_id).form
    return _file(form, _json_chunks(form), ".json", "application/json")


@bp.get("/attachments/<attachment_id>")
def recording(form_id: str, attachment_id: str) -> Response:
    """The recording of an answer, in the ranges that a player asks for."""
    form = forms.get_form(creator_id(), form_id)
    found = find_shown_attachment(form.id, attachment_id)
    try:
        return recording_response(found, audio_store().read)
    except AudioStoreUnavailable:
        log.exception("a recording could not be read")
        abort(HTTPStatus.SERVICE_UNAVAILABLE)


def _file(form: FormRow, chunks: Iterator[bytes], ending: str, content_type: str) -> Response:
    """A download, one of few at a time; holds no database connection while it waits."""
    if wakeups().stopped:
        abort(HTTPStatus.SERVICE_UNAVAILABLE)
    running, account_id, act = downloads(), creator_id(), acting()
    release_connections()
    if refused := running.begin(account_id):
        return _refusal(refused)
    request_audit.note(AuditKind.EXPORTED, account_id, **act, subject=form.id)
    response = Response(stream_with_context(in_pieces(chunks)), content_type=content_type)
    response.call_on_close(lambda: running.end(account_id))
    response.headers["Cache-Control"] = "private, no-store"
    response.headers.set("Content-Disposition", "attachment", **_file_names(form.title, ending))
    return response


def _file_names(title: str, ending: str) -> dict[str, str]:
    """The name in every script and, for old clients, in ASCII (RFC 6266, RFC 8187)."""
    slug = re.sub(r"\W+", "-", title).strip("-")[:60] or "answers"
    name = f"{slug}-{utc_now().date().isoformat()}{ending}"
    plain = normalized("NFKD", name).encode("ascii", "ignore").decode()
    return {"filename": plain, "filename*": f"UTF-8''{quote(name)}"}


def _csv_chunks(form: FormRow) -> Iterator[bytes]:
    numbers = {question["id"]: at for at, question in enumerate(form.questions, start=1)}
    now = to_millis(utc_now())
    yield BYTE_ORDER_MARK + f"{cells(*CSV_COLUMNS)}\r\n".encode()
    for batch in read_answers(form.id):
        recordings = {key: _recording_cells(form, row) for key, row in batch.attachments.items()}
        yield _csv_lines(batch, numbers, recordings, now).encode()


def _csv_lines(
    batch: AnswerBatch, numbers: dict[str, int], recordings: dict[str, str], now_millis: int
) -> str:
    """The lines of a batch; the columns they share are formatted once, for speed."""
    people = {key: person_cells(person, now_millis) for key, person in batch.people.items()}
    how = {key: _how_cells(asked) for key, asked in batch.asked.items()}
    questions: dict[tuple[str, str], tuple[str, str]] = {}
    lines = []
    for answer in batch.answers:
        asked = (answer.question_id, answer.question_text)
        if asked not in questions:
            questions[asked] = _question_cells(answer, numbers), how.get(asked[0], NOTHING)
        question, reason = questions[asked]
        text = cell(answer.answer_text).replace(QUOTE, TWO_QUOTES)
        lines.append(
            f'"{wire_time(answer.stamp)}",{people[answer.session_id]},{question},'
            f'"{text}","{answer.response_type}","{answer.id}",'
            f"{recordings.get(answer.id, NOTHING)},{reason}\r\n"
        )
    return "".join(lines)


def _question_cells(answer: AnswerRow, numbers: dict[str, int]) -> str:
    number = numbers.get(answer.parent_question_id or answer.question_id, "")
    return cells(
        str(number),
        cell(answer.question_text),
        cell(answer.question_id),
        answer.question_kind,
        cell(answer.parent_question_id or ""),
    )


def _recording_cells(form: FormRow, recording: AttachmentRow) -> str:
    """Its length, and the address where its creator hears it."""
    return cells(f"{recording.duration_ms / 1000:.1f}", recording_address(form, recording))


def _how_cells(asked: HowAsked) -> str:
    """Who wrote a follow-up question, `agent`, `creator`, or `model@host`; and why it was asked."""
    writer = "@".join(asked.writer.rsplit(" at ", 1)) or BY_RULES
    return cells(cell(writer), f"{asked.technique}: {asked.reason}")


def _json_chunks(form: FormRow) -> Iterator[bytes]:
    """`nextSince` continues with the API: answers stored during the export are returned again."""
    now = to_millis(utc_now())
    position = form.last_stamp if form.answered_count else None
    nothing = ResponsePage([], 0, position, truncated=False)
    head: dict[str, object] = {**form_responses(form, nothing)}
    for counted_at_the_end in ("responses", "returnedResponseCount", "returnedAnswerCount"):
        del head[counted_at_the_end]
    yield orjson.dumps(head)[:-1] + b',"responses":['
    people = answers = 0
    for batch in read_people(form.id):
        lines = [orjson.dumps(response_session(person, now, whole=True)) for person in batch]
        yield (b"," if people and lines else b"") + b",".join(lines)
        people += len(lines)
        answers += sum(len(person.answers) for person in batch)
    yield b'],"returnedResponseCount":%d,"returnedAnswerCount":%d}' % (people, answers)
