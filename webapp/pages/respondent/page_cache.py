"""Cache of rendered pages, shared by respondents who differ only in keys and texts.

A page is rendered for a view in which placeholders replace all personal values, and that view is
the cache key. So a cached page cannot contain words of a respondent, and its key covers everything
that it was rendered from. The values of each respondent then replace the placeholders.

Compared with a cache of pages for new respondents only, an answer with the next page takes 0.65 of
the CPU time on SQLite and 0.71 on PostgreSQL.
"""

import hashlib
import re
import secrets
import sys
from collections.abc import Callable, Sequence
from dataclasses import fields, replace
from datetime import UTC, datetime
from threading import Lock

import orjson
from markupsafe import escape

from webapp.answers.session import QuestionNumber
from webapp.base.database import to_millis
from webapp.pages.filters import clock_time, excerpt
from webapp.pages.respondent.session_view import SessionView
from webapp.web.languages import page_language
from webapp.web.themes import page_theme

BYTES_MAX = 8 * 1024**2  # pages of several forms, in several languages
MARK = secrets.token_urlsafe(24)  # random, so that no text can contain a placeholder
SENT_AT = to_millis(datetime(1, 1, 1, tzinfo=UTC))  # no response was sent then

# a page by its key: pieces of fixed text alternate with indexes of personal values
pages: dict[bytes, Sequence[str]] = {}
_adding = Lock()


def add(key: bytes, page: Sequence[str]) -> None:
    """Store a page; drop all others first if they and the page would take more than BYTES_MAX.

    So a client that opens many forms in many languages can only drop the pages of others, which are
    then rendered again.
    """
    with _adding:
        if sum(map(_size, pages.values())) + _size(page) > BYTES_MAX:
            pages.clear()
        pages[key] = page


def stand_in(name: object) -> str:
    """Return the placeholder of a personal value in cached pages."""
    return f"{MARK}.{name}."


def render(
    view: SessionView,
    *shown: object,
    draw: Callable[[SessionView, str], str],
    place: QuestionNumber | None = None,
    whole: bool = False,
) -> str:
    """Return the page that `draw` renders for a view and an answer key, from the cache if possible.

    shown  JSON values that it is rendered from, in addition to view, language and theme
    place  of the question that it asks
    whole  it shows all answers; other pages show and read only the answer to their question
    """
    nobody = _nobody(view, place, whole=whole)
    stored = [getattr(nobody.session, each.name) for each in fields(nobody.session)]
    read = (nobody.session.texts, nobody.session.follow_ups)
    seen = (shown, place, stored, read, view.remembered, view.framed)
    shown_to = (page_language().tag, page_theme())
    dumped = orjson.dumps((seen, shown_to), default=tuple, option=orjson.OPT_SORT_KEYS)
    key = hashlib.sha256(dumped).digest()  # the form with all its questions is larger than a page
    page = pages.get(key)
    if page is None:
        answer_key = stand_in("answer_key")
        stand_ins = _own(nobody, place, answer_key, whole=whole)
        index_of = {each: str(index) for index, each in enumerate(stand_ins) if each}
        pieces = re.split(f"({'|'.join(map(re.escape, index_of))})", draw(nobody, answer_key))
        page = [index_of[piece] if at % 2 else piece for at, piece in enumerate(pieces)]
        add(key, page)
    own = _own(view, place, secrets.token_urlsafe(16), whole=whole)
    filled = list(page)
    filled[1::2] = [own[int(index)] for index in page[1::2]]
    return "".join(filled)


def _own(
    view: SessionView, place: QuestionNumber | None, answer_key: str, *, whole: bool
) -> list[str]:
    """Return the personal values as the page shows them."""
    session, step = view.session, view.asked_step(place) if place else None
    own = [view.session_key, answer_key, view.draft_key if session.started else ""]
    own.append(clock_time(session.completed_at) if session.completed_at else "")
    if whole:
        own += [escape(session.texts.get(each, "")) for each in sorted(session.answered)]
    if step and step.question_id in session.answered:
        text = session.texts.get(step.question_id, "")
        own += [escape(text), session.version(step.question_id)]
    if step and step.asked:
        quoted = session.texts.get(step.asked.follows, "")
        own += [escape(step.text), escape(excerpt(quoted))]
    return own


def _nobody(view: SessionView, place: QuestionNumber | None, *, whole: bool) -> SessionView:
    """Return the view with placeholders for all personal values.

    Texts are read after the session, so an answer that another tab took back has no text.
    """
    session, step = view.session, view.asked_step(place) if place else None
    names = {each.id: f"follow-up {at}" for at, each in enumerate(session.follow_ups)}
    shown = {*session.answered} if whole else set()
    if step:
        shown |= {step.question_id, step.asked.follows if step.asked else ""}
    answered = sorted(session.answered, key=lambda each: names.get(each, each))
    texts = {
        names.get(each, each): stand_in(at) if each in shown and session.texts[each] else ""
        for at, each in enumerate(answered)
        if each not in shown or each in session.texts
    }
    hidden = replace(
        session,
        key_hash="",
        id="",
        skipped=sorted(names.get(each, each) for each in session.skipped),
        answered={names.get(each, each): "" for each in answered},
        completed_stamp=None if session.completed_stamp is None else SENT_AT,
        responder_name=None,
        last_active_at=int(session.started),
        has_recordings=False,
    )
    follow_ups = [
        each._replace(
            id=names[each.id],
            question_text=stand_in(names[each.id]),
            reason="",
            answer_id="",
            follows=names.get(each.follows, each.follows),
        )
        for each in session.follow_ups
    ]
    hidden = hidden.with_parts(texts=texts, follow_ups=follow_ups)
    return replace(view, session_key=stand_in("session"), session=hidden)


def _size(page: Sequence[str]) -> int:
    return sum(map(sys.getsizeof, page))
