"""Decisions about follow-ups while a page waits for them."""

import threading
import time
from contextlib import ExitStack, suppress
from dataclasses import replace
from functools import partial

from flask import Blueprint, Flask, Response

from jobs.queue import hand_over_recordings
from webapp.answers import follow_up_decisions as decisions
from webapp.answers.session import QuestionNumber
from webapp.base.config import RULES, Settings, settings
from webapp.base.database import release_connections, utc_now
from webapp.base.sealing import address_hash
from webapp.follow_ups import model_exchange, rules
from webapp.pages.errors import load_pages
from webapp.pages.fragments import wants_fragment
from webapp.pages.respondent import error_handling, form_data, rendering, session_view
from webapp.records.responses.counters import spend_model_call
from webapp.web.languages import page_language
from webapp.web.limiter import client_network, limiter
from webapp.web.wakeups import NoSlot, began_waiting, wakeups

TURN_SECONDS = 3.0  # of a wait for a turn; then the request goes on alongside the others
LATE_SECONDS = 1.0  # later, the model would have too little time
NEXT_RATE = "60/minute"  # how often one page asks whether a follow-up question comes next
WAIT_SECONDS = 4.0  # for the decision of another request of the same respondent
LOOK_SECONDS = 0.2
WORDS_SECONDS = decisions.WORDS_LEASE.total_seconds()  # for transcript and question
# owners of slots: no account has these ids
HOLDER, WAITER, SPEAKERS = "models", "waiting for models", "waiting for words"
WAITERS_AT_ONCE = 4  # each holds a thread

_free = threading.Lock()
bp = Blueprint("follow_ups", __name__, url_prefix="/r/<share_token>")
error_handling.init_blueprint(bp, limit_sessions=False)


def load(app: Flask, config: Settings) -> None:
    """Load what decisions and their pages need if there is a model; without one, on first use.

    Without this, when two hundred respondents come to a server that has just started, the first
    requests load it together, and the last pages come a second too late.
    """
    if config.llm_provider != RULES:
        model_exchange.prepare()
        rules.load()
        load_pages(app, "respondent/question.html", "respondent/follow_ups/deciding.html")


@bp.post("/q/<question:place>/next")
@limiter.limit(lambda: NEXT_RATE, key_func=error_handling.session_or_network)
def decide(share_token: str, place: QuestionNumber) -> Response:
    """Decide what follows from a stored answer, unless the respondent passes on; show it."""
    posted = form_data.read_form_data(share_token)
    if form_data.posted_field("pass_on"):  # needs no turn
        view = session_view.posted_view(share_token, posted)
        if about := _context(view, place):
            decisions.pass_on(about, now=utc_now())
        return _following(view, posted, place)
    release_connections()  # reading the form data may have used one
    waited = _wait_for_words(posted) if posted.recording else 0.0
    began = time.monotonic() - max(0.0, waited + model_exchange.MODEL_SECONDS - WORDS_SECONDS)
    with ExitStack() as turn:
        if _free.acquire(timeout=TURN_SECONDS):
            turn.callback(_free.release)
        view = session_view.posted_view(share_token, posted)
        about = _context(view, place)
        if about and about.has_words:
            _decide(about, began, turn)
            view = session_view.posted_view(share_token, posted)
        elif about:
            decisions.pass_on(about, now=utc_now())
        return _following(view, posted, place)


def after_answer(
    view: session_view.SessionView,
    posted: form_data.FormData,
    place: QuestionNumber,
    *,
    is_new: bool,
) -> Response:
    """Show the page after an answer; `is_new` is False if the answer was stored before."""
    about = _context(view, place, is_new=is_new)
    if about is None:
        return _following(view, posted, place)
    awaited = ""  # id of the recording whose transcript is awaited
    if _awaits_words(about, posted, is_new=is_new):
        awaited = posted.recording
        hand_over_recordings([awaited])
    if awaited or (wants_fragment() and _may_ask_model(about)):
        return rendering.page("follow_ups/deciding", view, place=place, recording=awaited)
    asked = _decide(about, time.monotonic(), ExitStack())
    if asked and asked.follow_up == place.follow_up + 1:  # no open question comes before it
        texts = view.session.texts  # the follow-ups are read again
        view = replace(view, session=view.session.with_parts(texts=texts))
        return rendering.next_question(view, posted, asked, answered=place)
    return _following(session_view.posted_view(view.form.share_token, posted), posted, place)


def _context(
    view: session_view.SessionView, place: QuestionNumber, *, is_new: bool = False
) -> decisions.FollowUpContext | None:
    return decisions.context_of(view.session, place, is_new=is_new, language=page_language().tag)


def _following(
    view: session_view.SessionView, posted: form_data.FormData, place: QuestionNumber
) -> Response:
    """Show the next open step after `place`; aborts with 404 if `place` was never asked."""
    view.asked_step(place)
    return rendering.next_question(view, posted, view.steps.next_place(place), answered=place)


def _has_model(about: decisions.FollowUpContext) -> bool:
    """Return True if the model shown to the creator is the configured one and does not fail."""
    is_named = bool(about.writer) and about.writer == settings().follow_up_writer
    return is_named and not model_exchange.model_breaker().rests


def _may_ask_model(about: decisions.FollowUpContext) -> bool:
    return _has_model(about) and about.ruled.reason not in decisions.HARD_STOPS


def _awaits_words(
    about: decisions.FollowUpContext, posted: form_data.FormData, *, is_new: bool
) -> bool:
    """Return True if the page waits for the transcript, because a follow-up may come of it.

    is_new  the answer was stored just now, so no request has waited yet
    """
    may_follow = rules.may_follow(about.thread) or _has_model(about)
    if about.has_words or not posted.recording or not may_follow:
        return False
    now = utc_now()
    if is_new:
        return decisions.claim_for_words(about, now=now)
    awaits = decisions.awaits_words(posted.recording, posted.session_key, now=now)
    if not awaits:
        decisions.pass_on(about, now=now)
    return awaits


def _wait_for_words(posted: form_data.FormData) -> float:
    """Wait until the answer has its transcript or time is up; return the seconds waited."""
    began = began_waiting(posted.recording)

    def look() -> bool | None:
        awaits = decisions.awaits_words(posted.recording, posted.session_key, now=utc_now())
        release_connections()
        return None if awaits else True

    with suppress(NoSlot):
        wakeups().wait_until(
            posted.recording,
            look,
            WORDS_SECONDS,
            account_id=SPEAKERS,
            most=model_exchange.CALLS_AT_ONCE,
        )
    return time.monotonic() - began


def _decide(
    about: decisions.FollowUpContext, began: float, turn: ExitStack
) -> QuestionNumber | None:
    """Decide, and return the place of a new question of the rules; a model's has to be read.

    The rules decide if the model has too little time: all claims of a form wait for its call
    counter, each with a connection.

    began  when the time of the model began, by the monotonic clock
    turn   is closed before the request waits for a model, so that the next one decides
    """
    if not _may_ask_model(about) or time.monotonic() - began > LATE_SECONDS:
        return decisions.decide_by_rules(about, now=utc_now())
    try:
        with wakeups().slot(HOLDER, most=model_exchange.CALLS_AT_ONCE):
            claimed = _decide_by_model(about, began, turn)
    except NoSlot:
        return decisions.decide_by_rules(about, now=utc_now())
    if not claimed:
        _wait_for_other(about)
    return None


def _decide_by_model(about: decisions.FollowUpContext, began: float, turn: ExitStack) -> bool:
    """Let the model decide; return False if the answer has a decision or a claim already."""
    now = utc_now()
    count_call = partial(
        spend_model_call,
        about.session.form.id,
        address_hash(client_network()),
        of_form=settings().llm_calls_per_day,
        of_server=settings().llm_calls_per_day_total,
        now=now,
    )
    claim = decisions.claim_decision(about, count_call=count_call, now=now)
    release_connections()
    turn.close()
    if claim is None:
        return False
    left = max(0.0, model_exchange.MODEL_SECONDS - (time.monotonic() - began))
    made, outcome = model_exchange.decision_of_model(
        about.thread, claim.brief, remaining=claim.remaining, seconds=left
    )
    decided = made._replace(writer=made.writer or about.writer) if made else about.ruled
    decision = decided._replace(model_outcome=outcome)
    decisions.settle_claim(claim, decision, now=utc_now())
    return True


def _wait_for_other(about: decisions.FollowUpContext) -> None:
    deadline = time.monotonic() + WAIT_SECONDS
    with suppress(NoSlot), wakeups().slot(WAITER, most=WAITERS_AT_ONCE):
        while decisions.is_claimed(about, now=utc_now()) and time.monotonic() < deadline:
            release_connections()
            time.sleep(LOOK_SECONDS)
