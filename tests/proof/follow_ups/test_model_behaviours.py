"""A model that works, thinks, hangs, fails or tells secrets: what respondents get is a page."""

import re
from collections.abc import Callable, Iterator
from html import unescape
from typing import Any

import pytest
from flask import Flask
from sqlalchemy import select, update

from tests.domain.follow_ups.test_leaks import DISGUISES
from tests.factories import make_form
from tests.followups.model_server import (
    QUESTION,
    Answer,
    ModelServer,
    asking,
    cut_off,
    dripping_body,
    dripping_headers,
    empty,
    hanging,
    huge,
    junk,
    model_server,
    refusing,
    status,
    stopping,
    two_questions,
    without_new_limit,
    without_schemas,
    written,
)
from tests.pages.respondent_client import session_in
from tests.proof.follow_ups.people import MOMENT, SHORT, THANKS, Person
from webapp.base.config import Settings
from webapp.base.database import db
from webapp.follow_ups.model_exchange import FAILURES_IN_A_ROW, REST_SECONDS, ModelBreaker, prepare
from webapp.records.accounts.models import Account
from webapp.records.follow_ups import FollowUp
from webapp.records.forms import Form

MOST_SECONDS = 4.5
AT_ONCE_SECONDS = 0.5
FIRST, SECOND = "What made you switch?", "What would you tell a friend?"
SECRET = "severance budget"
CONTEXT = (
    f"We plan to close the Lisbon office. The {SECRET} is 1.250.000 euros. Adaeze Moreau decides."
)
BY_RULES = "<the rules>"
BOTH = pytest.mark.parametrize("provider", ["openai", "anthropic"])

# what the model does, and what comes after it
BEHAVIOURS: dict[str, tuple[Answer, str]] = {
    "good": (asking(), QUESTION),
    "knows no schema": (without_schemas(asking()), QUESTION),
    "knows the old limit": (without_new_limit(asking()), QUESTION),
    "500": (status(500, CONTEXT), BY_RULES),
    "429": (status(429, CONTEXT), BY_RULES),
    "401": (status(401, CONTEXT), BY_RULES),
    "refusal": (refusing(), BY_RULES),
    "empty": (empty(), BY_RULES),
    "junk": (junk(), BY_RULES),
    "not JSON": (written("What happened then?"), BY_RULES),
    "cut off": (cut_off(), BY_RULES),
    "huge": (huge(), BY_RULES),
    "two questions": (two_questions(), BY_RULES),
    "asks for a password": (asking("What is your password?"), BY_RULES),
    "markup": (asking("What <b>happened</b> then?"), BY_RULES),
    "asks again": (asking(FIRST), BY_RULES),
    "stopping": (stopping(), SECOND),
}
SLOW: dict[str, tuple[Answer, str]] = {
    "3 s": (asking(after=3), QUESTION),
    "30 s": (hanging(), BY_RULES),
    "drips": (dripping_headers(), BY_RULES),
    "drips its body": (dripping_body(), BY_RULES),
}


@pytest.fixture
def model() -> Iterator[ModelServer]:
    with model_server(asking()) as running:
        yield running


@pytest.fixture
def provider() -> str:
    return "openai"


@pytest.fixture
def settings(settings: Settings, model: ModelServer, provider: str) -> Settings:
    changed = settings.model_copy(update=model.settings(provider))
    prepare()  # as a server does at its start
    return changed


@pytest.fixture
def form(app: Flask, account: Account, settings: Settings) -> Any:
    app.extensions.pop("model_breaker", None)
    with app.app_context():
        asks = {"followUpMode": "smart", "context": CONTEXT, "maxFollowupsPerQuestion": 1}
        prepared = {0: [("And then?", "always")], 1: [("And now?", "always")]}
        made = make_form(account.id, questions=[FIRST, SECOND], prepared=prepared, **asks)
        db.session.execute(update(Form).values(follow_up_writer=settings.follow_up_writer))
        db.session.commit()
        return made


@pytest.fixture
def person(app: Flask, form: Any) -> Person:
    return arrive(app, form)


def arrive(app: Flask, form: Any) -> Person:
    client = app.test_client()

    def exchange(
        method: str, path: str, fields: dict[str, str], headers: dict[str, str]
    ) -> tuple[int, str]:
        page = client.open(path, method=method, data=fields, headers=headers)
        return page.status_code, str(page.headers) + page.text

    return Person(exchange, form.share_token, session_in(client.get(f"/r/{form.share_token}").text))


def asked(app: Flask) -> list[FollowUp]:
    with app.app_context():
        found = db.session.scalars(select(FollowUp).where(FollowUp.question_text != ""))
        return list(found)


def through_the_form(person: Person) -> str:
    """All of it, with the follow-up if there is one; what came after the first answer."""
    assert person.answer("/q/1", SHORT).heading == MOMENT
    came = person.on_from("/q/1").heading
    if came != SECOND:
        person.answer("/q/1/f/1", "Because it took two days, twice a month")
    person.post("/q/1/open")
    person.answer("/q/2", "Twice a day")
    person.on_from("/q/2")
    person.post("/check/open")
    assert person.post("/check").heading.startswith(THANKS)
    person.post("/sent")
    return came


def require_harmless(app: Flask, person: Person, behaviour: tuple[Answer, str]) -> None:
    expected = behaviour[1]
    came = through_the_form(person)

    assert max(each.seconds for each in person.seen) < MOST_SECONDS
    assert {each.status for each in person.seen} == {200}
    body = unescape("".join(each.body for each in person.seen)).lower()
    for words in (SECRET, "severance", "moreau", "lisbon"):
        assert words not in body
    # keys and the length of a page are random, and may hold any digits
    assert not re.search(r"(?<![\w.-])1\.?250(?![\w.-])", re.sub("content-length: .*", "", body))
    rows = asked(app)
    if expected != BY_RULES:
        assert came == expected
        return
    assert came not in {QUESTION, FIRST, SECOND}
    assert came.endswith("?")
    assert [row.writer for row in rows if row.question_text == came] == ["agent"]
    assert len(rows) <= 2


@BOTH
@pytest.mark.parametrize("behaviour", BEHAVIOURS.values(), ids=BEHAVIOURS)
def test_a_page_comes_whatever_a_model_does(
    app: Flask, person: Person, model: ModelServer, behaviour: tuple[Answer, str]
) -> None:
    model.answer = behaviour[0]
    require_harmless(app, person, behaviour)
    assert model.asked


@pytest.mark.prove
@BOTH
@pytest.mark.parametrize("behaviour", SLOW.values(), ids=SLOW)
def test_a_page_comes_in_time(
    app: Flask, person: Person, model: ModelServer, behaviour: tuple[Answer, str]
) -> None:
    model.answer = behaviour[0]
    require_harmless(app, person, behaviour)


@pytest.mark.parametrize("disguise", DISGUISES.values(), ids=DISGUISES)
def test_no_disguise_brings_the_context_to_a_page(
    app: Flask, person: Person, model: ModelServer, disguise: Callable[[str], str]
) -> None:
    leaking = f"What do you think of {disguise(SECRET)} now?"
    model.answer = asking(leaking)
    require_harmless(app, person, (model.answer, BY_RULES))
    assert leaking not in [row.question_text for row in asked(app)]


@BOTH
def test_after_three_failures_nobody_waits_for_a_minute(
    app: Flask, form: Any, model: ModelServer
) -> None:
    now = [100.0]
    app.extensions["model_breaker"] = ModelBreaker(clock=lambda: now[0])
    model.answer = status(500)
    for _ in range(FAILURES_IN_A_ROW):
        begin(app, form)
    model.answer = hanging()
    for _ in range(3):
        now[0] += REST_SECONDS / 4
        shown = begin(app, form)
        assert shown.heading not in {QUESTION, SECOND}
        assert shown.seconds < AT_ONCE_SECONDS
    assert len(model.asked) == FAILURES_IN_A_ROW

    model.answer = asking()
    now[0] += REST_SECONDS / 4 + 0.1
    assert begin(app, form).heading == QUESTION
    assert begin(app, form).heading == QUESTION


def begin(app: Flask, form: Any) -> Any:
    person = arrive(app, form)
    person.answer("/q/1", SHORT)
    return person.on_from("/q/1")
