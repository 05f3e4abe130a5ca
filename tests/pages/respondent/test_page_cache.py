"""Cached pages equal pages rendered for the view, byte for byte."""

import re
from collections.abc import Callable
from dataclasses import replace
from typing import Any

import pytest
from flask import Flask, Response

from webapp.answers.session import QuestionNumber, RespondentForm, RespondentSession
from webapp.base.database import to_millis, utc_now
from webapp.base.errors import InvalidInput
from webapp.base.vocabulary import FollowUpMode, FormStatus, ResponseLimit, ResponseMode
from webapp.pages.filters import LONG_QUESTION_CHARS
from webapp.pages.respondent import page_cache, rendering
from webapp.pages.respondent.session_view import SessionView
from webapp.records.follow_ups import AskedFollowUp

MADE_KEY = "an-answer-key-that-is-always-the-same"
QUESTIONS: Any = [
    {"id": "q_1", "text": "Who changed it?"},
    {"id": "q_2", "text": "What went wrong?", "context": "In a sentence."},
    {"id": "q_3", "text": "What would have helped?"},
]
FORM = RespondentForm(
    "form_1",
    "share-token-of-the-form",
    "Rota",
    QUESTIONS,
    FormStatus.PUBLISHED,
    ResponseLimit.MULTIPLE,
    None,
    "",
    records_voice=False,
    response_mode=ResponseMode.TEXT_ONLY,
    transcriber="",
    follow_up_mode=FollowUpMode.NONE,
    follow_up_writer="",
    followups_given=None,
    max_total_questions=None,
    asker_organisation="",
    asker_accent="",
    asker_picture="",
    public_reason=None,
    asker="Robin Example",
    is_full=False,
)
TEXTS = {"q_1": "Robin did, <at> night & alone"}


def progressed(
    texts: dict[str, str],
    *skipped: str,
    form: RespondentForm = FORM,
    follow_ups: Any = (),
    key: str = "a-session-key-of-somebody",
    **changed: Any,
) -> SessionView:
    """Somebody who has given these answers."""
    answered = dict.fromkeys(texts, "ans_1")
    stored = {"last_active_at": 1} | changed
    session = RespondentSession(form, f"hash {key}", key, [*skipped], answered, **stored)
    return SessionView(session.with_parts(texts=texts, follow_ups=follow_ups), key)


VIEW = progressed(TEXTS, "q_2")
REFUSAL = InvalidInput("answer_empty", "It is empty.", "Write something.", field="answer")
ASKED = AskedFollowUp(
    "q_9", "q_1", 1, "What made it slow?", "elaborate", "short", "", "ans_1", "q_1", dropped=False
)

Draw = Callable[[SessionView], Response]


def asks(number: int, follow_up: int = 0) -> Draw:
    return lambda view: rendering.question(view, QuestionNumber(number, follow_up))


PAGES: list[Draw] = [asks(3), asks(1), rendering.check]
PAGES_OF_FOLLOW_UPS: list[Draw] = [asks(1, 1), asks(2)]


def of_form(**changed: Any) -> SessionView:
    return progressed(TEXTS, "q_2", form=replace(FORM, **changed))


PROBING = replace(FORM, follow_up_mode=FollowUpMode.DEEP_DIVE)


def probed(said: str, *asked: AskedFollowUp, skipped: str = "", **more: Any) -> SessionView:
    """Somebody who was asked about what they said."""
    key = {"key": more.pop("key")} if "key" in more else {}
    texts = {"q_1": said} | more
    return progressed(texts, skipped, form=PROBING, follow_ups=asked or (ASKED,), **key)


def sent(**changed: Any) -> SessionView:
    stored = {"completed_stamp": to_millis(utc_now())} | changed
    return progressed({"q_1": "Robin did"}, "q_2", **stored)


SENT = sent()
OTHERS = {
    "session key": progressed(TEXTS, "q_2", key="a-session-key-of-another"),
    "remembered": replace(VIEW, remembered=True),
    "framed": replace(VIEW, framed=True),
    "not begun": progressed({}, last_active_at=0),
    "own words": progressed({"q_1": 'Kim did, "early"\n & sober'}, "q_2"),
    "words like a stand-in": progressed({"q_1": page_cache.stand_in("session")}, "q_2"),
    "another answered": progressed({"q_2": "Robin did"}),
    "all answered": progressed({"q_1": "Robin did", "q_2": "It", "q_3": "Sleep"}),
    "sent": SENT,
    "sent with a name": sent(responder_name="Kim"),
    "question": of_form(questions=[*QUESTIONS[:2], {"id": "q_3", "text": "What else?"}]),
    "status": of_form(status=FormStatus.CLOSED, closed_at=utc_now()),
    "asker": of_form(asker="Kim & Co"),
    "full": of_form(is_full=True),
}
PROBED = probed("It was slow")
LONG = probed("Slow", ASKED._replace(question_text="Why? " * LONG_QUESTION_CHARS))
OTHERS_PROBED = {
    "words": probed("<b>Late</b> & 'loud'\n\"again\""),
    "words like a stand-in": probed(page_cache.stand_in("session")),
    "taken back": probed("It was slow", ASKED._replace(follows="q_2", dropped=True)),
    "question": probed("It was slow", ASKED._replace(question_text="<i>Why</i> & how?")),
    "skipped": probed("It was slow", skipped="q_9"),
    "answered": probed("It was slow", q_9="The <i>ink</i>"),
    "long": LONG,
}
DIFFERING = [
    *(pytest.param(VIEW, other, PAGES, id=name) for name, other in OTHERS.items()),
    *(
        pytest.param(PROBED, other, PAGES_OF_FOLLOW_UPS, id=f"follow-up, {name}")
        for name, other in OTHERS_PROBED.items()
    ),
]
WAYS = {
    "language": {"query_string": {"lang": "ar"}},
    "scripts": {"headers": {"HX-Request": "true"}},
    "theme": {"headers": {"Cookie": "askback_theme=dark"}},
    "in a frame": {"query_string": {"embed": "1"}},
}


@pytest.fixture(autouse=True)
def cache(monkeypatch: pytest.MonkeyPatch) -> dict[bytes, Any]:
    """An empty cache, and one answer key for all pages."""
    kept: dict[bytes, Any] = {}
    monkeypatch.setattr(page_cache, "pages", kept)
    monkeypatch.setattr("secrets.token_urlsafe", lambda *_: MADE_KEY)
    return kept


def rendered(app: Flask, draw: Draw, view: SessionView, **way: Any) -> tuple[str, str]:
    """A page, through the cache, with its headers."""
    with app.test_request_context(f"/r/{view.form.share_token}", **way):
        response = draw(view)
        headers = re.sub("Expires=[^;]*", "", str(response.headers))  # to the second
        return response.get_data(as_text=True), headers


def rendered_alone(app: Flask, draw: Draw, view: SessionView, **way: Any) -> tuple[str, str]:
    """The same for this very view, without cache and stand-ins."""
    with pytest.MonkeyPatch.context() as patch:
        plain = lambda view, *_, draw, **_place: draw(view, MADE_KEY)  # noqa: E731
        patch.setattr(page_cache, "render", plain)
        return rendered(app, draw, view, **way)


@pytest.mark.parametrize(("view", "other", "pages"), DIFFERING)
def test_views_that_differ_in_this_get_separate_pages(
    app: Flask, view: SessionView, other: SessionView, pages: list[Draw]
) -> None:
    for draw in pages:
        for each in (view, other, view, other):
            assert rendered(app, draw, each) == rendered_alone(app, draw, each)


@pytest.mark.parametrize("other", [replace(SENT, remembered=True), sent(responder_name="Kim")])
def test_completed_views_that_differ_get_separate_pages(app: Flask, other: SessionView) -> None:
    for each in (SENT, other) * 2:
        assert rendered(app, rendering.thanks, each) == rendered_alone(app, rendering.thanks, each)


@pytest.mark.parametrize("way", WAYS.values(), ids=WAYS)
def test_requests_that_differ_in_this_get_separate_pages(app: Flask, way: dict[str, Any]) -> None:
    for view, draw in ((VIEW, asks(3)), (PROBED, asks(1, 1))):
        for each in ({}, way, {}, way):
            assert rendered(app, draw, view, **each) == rendered_alone(app, draw, view, **each)


@pytest.mark.parametrize(
    "own",
    [
        lambda view: rendering.question(view, QuestionNumber(3), text="Words of my own"),
        lambda view: rendering.question(view, QuestionNumber(3), error=REFUSAL, text=""),
        lambda view: rendering.check(view, name="Words of my own"),
        lambda _view: rendering.thanks(SENT, unsent_text="Words of my own"),
        lambda _view: asks(1, 1)(LONG),
    ],
    ids=["typed", "refused", "name", "too late", "long follow-up"],
)
def test_pages_with_typed_text_errors_or_long_follow_ups_are_not_cached(
    app: Flask, cache: dict[bytes, Any], own: Draw
) -> None:
    assert rendered(app, own, VIEW) == rendered_alone(app, own, VIEW)

    assert not cache


def test_the_cache_is_bounded_in_bytes(
    app: Flask, cache: dict[bytes, Any], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(page_cache, "BYTES_MAX", 40_000)

    held = []
    for number in range(20):
        rendered(app, asks(3), of_form(title=f"Rota {number}"))
        held.append(len(cache))
        assert sum(map(page_cache._size, cache.values())) <= 40_000

    assert max(held) > 1
