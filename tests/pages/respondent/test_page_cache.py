"""Cached pages equal pages rendered for the visit, byte for byte."""

import re
from collections.abc import Callable, Iterator
from dataclasses import replace
from datetime import timedelta
from typing import Any

import pytest
from flask import Flask, Response

from tests.factories import make_form
from tests.pages.respondent_client import Respondent, arrive, box, session_in
from webapp.answers.session import RespondentForm, RespondentSession
from webapp.answers.steps import QuestionNumber
from webapp.base.database import to_millis, utc_now
from webapp.base.errors import InvalidInput
from webapp.base.vocabulary import FollowUpMode, FormStatus, ResponseLimit, ResponseMode
from webapp.pages.respondent import page_cache, rendering
from webapp.pages.respondent.page_cache import ANSWER_KEY, PageCache
from webapp.pages.respondent.session_view import SessionView
from webapp.records.accounts.models import Account
from webapp.web.languages import LANGUAGES, Language

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
    "Robin Example",
    None,
    "",
    records_voice=False,
    response_mode=ResponseMode.TEXT_ONLY,
    transcriber="",
    follow_up_mode=FollowUpMode.NONE,
    follow_up_writer="",
    followups_given=None,
    max_total_questions=None,
    organisation="",
    accent="",
    picture="",
    reason=None,
    is_full=False,
)
TEXTS = {"q_1": "Robin did, <at> night & alone"}


def progressed(
    texts: dict[str, str], *skipped: str, form: Any = FORM, follow_ups: Any = (), **changed: Any
) -> SessionView:
    """Somebody who has given these answers."""
    answered = dict.fromkeys(texts, "ans_1")
    stored = {"last_active_at": 1} | changed
    session = RespondentSession(form, "hash", "ses_1", [*skipped], answered, **stored)
    parts = session.with_parts(texts=texts, follow_ups=follow_ups)
    return SessionView(parts, "a-session-key-of-somebody")


VISIT = progressed(TEXTS, "q_2")
REFUSAL = InvalidInput("answer_empty", "It is empty.", "Write something.", field="answer")

Draw = Callable[[SessionView], Response]


def asked(view: SessionView) -> Response:
    return rendering.question(view, QuestionNumber(3))


def asked_again(view: SessionView) -> Response:
    return rendering.question(view, QuestionNumber(1))


def checked(view: SessionView) -> Response:
    return rendering.check(view)


def thanked(view: SessionView) -> Response:
    return rendering.thanks(view)


def of_form(**changed: Any) -> SessionView:
    return progressed(TEXTS, "q_2", form=replace(FORM, **changed))


EARLIER = to_millis(utc_now() - timedelta(days=400))


def sent(**changed: Any) -> SessionView:
    return progressed(
        {"q_1": "Robin did"}, "q_2", **{"completed_stamp": to_millis(utc_now())} | changed
    )


SENT = sent()
REWORDED: Any = [*QUESTIONS[:2], {"id": "q_3", "text": "What else?"}]
HINTED: Any = [*QUESTIONS[:2], QUESTIONS[2] | {"context": "Anything at all."}]
OTHERS = {
    "session key": replace(VISIT, session_key="a-session-key-of-another"),
    "remembered": replace(VISIT, remembered=True),
    "framed": replace(VISIT, framed=True),
    "not begun": progressed({}, last_active_at=0),
    "begun without any answer": progressed({}),
    "own words": progressed({"q_1": 'Kim did, "early"\n & sober'}, "q_2"),
    "words like a placeholder": progressed({"q_1": page_cache.placeholder("session")}, "q_2"),
    "nothing skipped": progressed({"q_1": "Robin did"}),
    "another skipped": progressed({"q_1": "Robin did"}, "q_3"),
    "skipped instead of answered": progressed({}, "q_1", "q_2"),
    "another answered": progressed({"q_2": "Robin did"}),
    "two answered": progressed({"q_1": "Robin did", "q_2": "It"}),
    "all answered": progressed({"q_1": "Robin did", "q_2": "It", "q_3": "Sleep"}),
    "an answer to what is not asked": progressed({"q_1": "Robin did", "q_9": "Why?"}, "q_2"),
    "name": progressed({"q_1": "Robin did"}, "q_2", responder_name="Kim"),
    "sent": SENT,
    "sent at another time": sent(completed_stamp=EARLIER),
    "sent with a name": sent(responder_name="Kim"),
    "share token": of_form(share_token="share-token-of-another"),
    "title": of_form(title="Rota of the night"),
    "question": of_form(questions=REWORDED),
    "helping line": of_form(questions=HINTED),
    "one question more": of_form(questions=[*QUESTIONS, {"id": "q_4", "text": "Anything else?"}]),
    "status": of_form(status=FormStatus.CLOSED, closed_at=utc_now()),
    "response limit": of_form(response_limit=ResponseLimit.ONE),
    "asker": of_form(asker="Kim & Co"),
    "websites": of_form(frame_origins="https://www.example.org"),
    "full": of_form(is_full=True),
}
WAYS = {
    "language of the browser": {"headers": {"Accept-Language": "de"}},
    "language from right to left": {"query_string": {"lang": "ar"}},
    "scripts": {"headers": {"HX-Request": "true"}},
    "theme": {"headers": {"Cookie": "askback_theme=dark"}},
    "in a frame": {"query_string": {"embed": "1"}},
    "posted": {"method": "POST"},
}


@pytest.fixture
def cache(monkeypatch: pytest.MonkeyPatch) -> PageCache:
    """An empty cache, and one answer key for all pages."""
    kept = PageCache()
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
    """The same for this very visit, without cache and placeholders."""
    with pytest.MonkeyPatch.context() as patch:
        plain = lambda view, *_, by, **_step: by(view).replace(ANSWER_KEY, MADE_KEY)  # noqa: E731
        patch.setattr(page_cache, "render", plain)
        return rendered(app, draw, view, **way)


@pytest.mark.usefixtures("cache")
@pytest.mark.parametrize("draw", [asked, asked_again, checked])
@pytest.mark.parametrize("other", OTHERS.values(), ids=OTHERS)
def test_visits_that_differ_in_this_get_separate_pages(
    app: Flask, draw: Draw, other: SessionView
) -> None:
    for view in (VISIT, other, VISIT, other):
        assert rendered(app, draw, view) == rendered_alone(app, draw, view)


@pytest.mark.usefixtures("cache")
@pytest.mark.parametrize("changed", [{}, {"remembered": True}, {"framed": True}], ids=repr)
@pytest.mark.parametrize("other", OTHERS.values(), ids=OTHERS)
def test_completed_visits_that_differ_in_this_get_separate_pages(
    app: Flask, other: SessionView, changed: dict[str, bool]
) -> None:
    parts = {"texts": other.session.texts, "follow_ups": ()}
    completed = replace(other.session, completed_stamp=other.session.completed_stamp or EARLIER)
    for view in (SENT, replace(other, session=completed.with_parts(**parts), **changed)) * 2:
        assert rendered(app, thanked, view) == rendered_alone(app, thanked, view)


@pytest.mark.usefixtures("cache")
@pytest.mark.parametrize("draw", [asked, asked_again, checked])
@pytest.mark.parametrize("way", WAYS.values(), ids=WAYS)
def test_requests_that_differ_in_this_get_separate_pages(
    app: Flask, draw: Draw, way: dict[str, Any]
) -> None:
    for each in ({}, way, {}, way):
        assert rendered(app, draw, VISIT, **each) == rendered_alone(app, draw, VISIT, **each)


@pytest.mark.usefixtures("cache")
@pytest.mark.parametrize("language", LANGUAGES, ids=lambda language: language.tag)
def test_the_time_of_sending_is_filled_in_for_each_visit(app: Flask, language: Language) -> None:
    way = {"query_string": {"lang": language.tag}}
    earlier = sent(completed_stamp=EARLIER)

    for view in (SENT, earlier) * 2:
        assert rendered(app, thanked, view, **way) == rendered_alone(app, thanked, view, **way)


@pytest.mark.usefixtures("cache")
def test_each_question_has_a_page_of_its_own(app: Flask) -> None:
    pages = {rendered(app, draw, VISIT)[0] for draw in (asked, asked_again, checked)}

    assert len(pages) == 3


@pytest.mark.parametrize(
    "own",
    [
        lambda view: rendering.question(view, QuestionNumber(3), text="Words of my own"),
        lambda view: rendering.question(view, QuestionNumber(3), error=REFUSAL, text=""),
        lambda view: rendering.check(view, name="Words of my own"),
        lambda view: rendering.check(view, error=REFUSAL),
        lambda _view: rendering.thanks(SENT, unsent_text="Words of my own"),
    ],
    ids=["typed", "refused", "name", "not sent", "too late"],
)
def test_pages_with_typed_text_or_errors_are_not_cached(
    app: Flask, cache: PageCache, own: Draw
) -> None:
    before = rendered(app, asked, VISIT), rendered(app, checked, VISIT)
    kept = len(cache)

    assert rendered(app, own, VISIT) == rendered_alone(app, own, VISIT)

    assert len(cache) == kept
    assert (rendered(app, asked, VISIT), rendered(app, checked, VISIT)) == before


def test_visits_that_differ_in_keys_and_texts_share_a_cached_page(
    app: Flask, cache: PageCache
) -> None:
    same = [VISIT, OTHERS["session key"], OTHERS["own words"]]

    pages = [rendered(app, asked_again, view)[0] for view in same]

    assert len(cache) == 1
    assert len(set(pages)) == 3
    assert "Robin did" not in pages[2]


@pytest.mark.parametrize("browser", [{}, {"use_cookies": False}], ids=["cookie", "none"])
def test_cached_pages_contain_no_text_of_other_respondents(
    app: Flask, account: Account, browser: dict[str, Any]
) -> None:
    with app.app_context():
        form = make_form(account.id)
    people = [arrive(app.test_client(**browser), form) for _ in range(2)]
    walks = [list(walk(person, name)) for person, name in zip(people, ("Kim", "Lou"), strict=True)]

    for mine, others in (walks, reversed(walks)):
        words = {said for page in others for said in own_words(page) if said}
        assert words
        assert not [each for each in words for page in mine if each in page.text]


def own_words(page: Any) -> list[str]:
    """What a page holds that is of one person: words, session key, name of unsent words."""
    draft_key = page.text.partition('data-draft-key="')[2].partition('"')[0]
    return [box(page), session_in(page.text), draft_key.replace("new", "")]


def walk(person: Respondent, name: str) -> Iterator[Any]:
    """The pages of somebody who answers, looks back, passes over and reads all over."""
    yield person.page
    yield person.answer(1, f"{name} did")
    yield person.post("/q/1/open")
    yield person.answer(1, f"{name} did it again")
    yield person.answer(2, f"It was {name}")
    yield person.post("/q/2/open")
    yield person.post("/q/2/skip")
    yield person.post("/q/2/open")


def test_the_cache_is_bounded_in_pages(app: Flask, monkeypatch: pytest.MonkeyPatch) -> None:
    cache = PageCache(pages_max=3)
    monkeypatch.setattr(page_cache, "pages", cache)

    for number in range(10):
        rendered(app, asked, of_form(title=f"Rota {number}"))
        assert len(cache) <= 3

    assert len(cache) == 3


def test_the_cache_is_bounded_in_bytes(app: Flask, monkeypatch: pytest.MonkeyPatch) -> None:
    cache = PageCache(bytes_max=40_000)
    monkeypatch.setattr(page_cache, "pages", cache)

    for number in range(20):
        rendered(app, asked, of_form(title=f"Rota {number}"))
        assert cache.bytes <= 40_000

    assert len(cache) > 1


def test_the_least_recently_used_page_is_evicted() -> None:
    cache = PageCache(pages_max=2)
    for name in (b"first", b"second"):
        cache.add(name, ["page"])
    cache.get(b"first")

    cache.add(b"third", ["page"])

    assert cache.get(b"first")
    assert cache.get(b"third")
    assert cache.get(b"second") is None


def test_a_page_larger_than_the_cache_is_not_stored() -> None:
    cache = PageCache(bytes_max=1000)

    cache.add(b"large", ["x" * 1000])

    assert (len(cache), cache.bytes) == (0, 0)


def test_a_page_stored_twice_counts_once() -> None:
    cache = PageCache()
    cache.add(b"page", ["words"])
    size = cache.bytes

    cache.add(b"page", ["words"])

    assert cache.bytes == size
