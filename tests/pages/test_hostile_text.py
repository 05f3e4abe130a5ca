"""Hostile text of people and programs is escaped on every page."""

import re
from collections.abc import Iterator
from html.parser import HTMLParser
from typing import Any, NamedTuple
from urllib.parse import urlencode

import pytest
from flask import Flask
from sqlalchemy import select
from werkzeug.routing import Rule

from tests.browser.example_data import connect
from tests.event_factories import make_attempt, make_delivery, make_subscription
from tests.factories import make_answer, make_draft, make_form, prepare
from tests.pages.creator_client import Creator, hidden
from webapp.answers import answering, trash
from webapp.answers.session import QuestionNumber
from webapp.base.database import db, utc_now
from webapp.drafts import editing, reviews, revisions
from webapp.records.accounts import credentials
from webapp.records.content.draft_input import parse_draft_input
from webapp.records.responses.models import ResponseSession

MADE_BY_PEOPLE = (
    "title",
    "goal",
    "context",
    "question",
    "hint",
    "agent",
    "creator",
    "answer",
    "person",
    "host",
    "reply",
    "signature",
    "note",
    "returned",
    "follow_up",
)
VIEWS = ("", "/people")
PAGES = {
    "inbox", "drafts", "questions", "history", "confirm", "forms", "trash", "results",
    "connections", "account", "home", "respond", "deliveries", "trial",
    "returns",
}  # fmt: skip


def hostile(field: str) -> str:
    """Words that break out of a tag, an attribute, a title or a template wherever they can."""
    return f"""</title></textarea><x-{field} onbad=1>"'><x-{field} onbad='1'>&{{{{7*7}}}}"""


class Reader(HTMLParser):
    """What a browser would make of a page: its elements, attributes, and the words in them."""

    def __init__(self, page: str) -> None:
        super().__init__()
        self.names: set[str] = set()
        self.words = ""
        self.feed(page)

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        self.names |= {tag, *(name for name, _ in attrs)}
        self.words += " ".join(value or "" for _, value in attrs)

    def handle_data(self, data: str) -> None:
        self.words += data

    @property
    def intruders(self) -> set[str]:
        return {name for name in self.names if name.startswith("x-") or "onbad" in name}


class World(NamedTuple):
    """Everything that a creator can have, with hostile words in every place for words."""

    ann: Creator
    values: list[dict[str, Any]]


@pytest.fixture
def world(app: Flask, ann: Creator) -> World:
    content = {
        "title": hostile("title"),
        "goal": hostile("goal"),
        "context": hostile("context"),
        "questions": [
            {"id": hostile("id"), "text": hostile("question"), "context": hostile("hint")},
            "Plain?",
        ],
    }
    with app.app_context():
        credentials.change_details(ann.account.id, hostile("creator"), "en")
        grant = connect(ann.account.id, "client", hostile("agent"), [], utc_now())
        draft = editing.create_draft(
            ann.account.id, parse_draft_input(content), author=grant, now=utc_now()
        )
        revisions.mark_seen(ann.account.id, draft.id, 1, now=utc_now())
        ann.by_agent(draft, questions=[{"text": hostile("question") * 2}, "Plain?"], title="T")
        ann.by_agent(draft, agent_note=hostile("note"), **content)
        back = {"revision": 3, "note": hostile("returned"), "now": utc_now()}
        reviews.return_draft(ann.account.id, draft.id, **back)
        by_hand = prepare(make_draft(ann.account.id, **content), [(hostile("follow_up"), "if_no")])
        form, thrown = make_form(ann.account.id, **content), make_form(ann.account.id, **content)
        trash.delete_form(ann.account.id, thrown.id, now=utc_now())
        make_answer(form, "k" * 32, 0, hostile("answer"))
        person = {"responder_name": hostile("person"), "now": utc_now()}
        answering.complete_response(form.share_token, "k" * 32, **person)
        session_id = db.session.scalar(select(ResponseSession.id))
        delivery = make_delivery(make_subscription(form, host=hostile("host")), body="{}")
        make_attempt(delivery, reply=hostile("reply"), signature=hostile("signature"))
    rest = {
        "position": 1,
        "number": 1,
        "place": QuestionNumber(1),
        "form_id": form.id,
        "session_id": session_id,
    }
    rest["delivery_id"] = delivery.id
    parts = [(draft.id, "title"), (draft.id, "goal"), (draft.id, "context"), (by_hand.id, "title")]
    return World(
        ann,
        [
            rest | {"draft_id": draft_id, "part": part, "share_token": form.share_token}
            for draft_id, part in parts
        ],
    )


def addresses(app: Flask, values: dict[str, Any]) -> Iterator[str]:
    """Every page that can be looked at."""
    for rule in app.url_map.iter_rules():
        if rule.endpoint.partition(".")[0] in PAGES and "GET" in (rule.methods or ()):
            yield address(rule, values)


def address(rule: Rule, values: dict[str, Any]) -> str:
    built = rule.build({"kind": "svg", "digest": "0" * 64} | values)
    assert built, rule
    return built[1]


def test_hostile_text_is_escaped_on_every_page(app: Flask, world: World) -> None:
    seen = ""

    for path in sorted({path for values in world.values for path in addresses(app, values)}):
        for page in (world.ann.page(path), world.ann.swap(path)):
            if page.mimetype == "text/html":
                read = Reader(page.text)
                assert not read.intruders, path
                seen += read.words

    missing = [field for field in MADE_BY_PEOPLE if hostile(field) not in seen]
    assert missing == []
    assert "49" not in re.findall(r"&(\S{2,7})", seen)


@pytest.mark.parametrize(
    ("path", "form"),
    [
        ("title", {"text": hostile("typed"), "revision": 0}),
        (
            "questions/1",
            {
                "text": "Plain?",
                "follow_up-1": hostile("typed"),
                "condition-1": hostile("typed"),
                "revision": 0,
            },
        ),
        ("return", {"note": hostile("typed"), "revision": 0}),
        ("settings", {"maxTotalQuestions": hostile("typed"), "revision": 3}),
    ],
)
def test_refused_hostile_text_is_returned_escaped(
    world: World, path: str, form: dict[str, Any]
) -> None:
    draft_id = world.values[0]["draft_id"]

    part = world.ann.post(f"/drafts/{draft_id}/{path}", htmx=True, **form)
    page = world.ann.post(f"/drafts/{draft_id}/{path}", **form)

    assert {part.status_code, page.status_code} <= {409, 422}
    assert not Reader(part.text + page.text).intruders


def test_a_hostile_search_text_is_escaped(world: World) -> None:
    form_id = world.values[0]["form_id"]
    query = {name: hostile(name) for name in ("q", "from", "to", "sent", "before")}

    found = [world.ann.page(f"/forms/{form_id}{view}?{urlencode(query)}") for view in VIEWS]

    assert [page.status_code for page in found] == [200, 200]
    assert not Reader("".join(page.text for page in found)).intruders


def test_hostile_answers_of_a_trial_are_escaped(world: World) -> None:
    path = f"/drafts/{world.values[0]['draft_id']}/try"
    page = world.ann.page(path)

    for typed in ({"answer": hostile("typed")}, {"open": "1", "answer": hostile("typed") * 2}, {}):
        fields = {"answer": hostile("typed") * 3} | typed
        carried, place = hidden(page, "carried"), hidden(page, "place")
        page = world.ann.post(path, carried=carried, place=place, **fields)
        read = Reader(page.text)
        assert not read.intruders
        assert hostile("typed") in read.words
