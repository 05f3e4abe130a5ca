"""Words of respondents on a creator's pages: htmx never acts on anything in them."""

import json
import secrets
from html.parser import HTMLParser

import pytest
from sqlalchemy import select

from tests.factories import make_answer, make_form
from tests.pages.creator_client import Creator
from webapp.answers import answering
from webapp.base.database import db, utc_now
from webapp.records.responses.models import ResponseSession

NAME, WORDS = "Nadia canary-name", "canary-words <button hx-post=/logout>"
VOID = {"meta", "link", "input", "br", "img", "path", "rect", "use", "hr"}


class Reader(HTMLParser):
    """Collects each text that holds a word, with whether htmx is off around it."""

    def __init__(self) -> None:
        super().__init__()
        self.open: list[tuple[str, bool]] = []
        self.found: list[tuple[str, bool]] = []

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        if tag not in VOID:
            self.open.append((tag, "hx-disable" in dict(attrs)))

    def handle_endtag(self, tag: str) -> None:
        while self.open and self.open.pop()[0] != tag:
            pass

    def handle_data(self, data: str) -> None:
        if "canary" in data and ("title", False) not in self.open:
            self.found.append((data, any(off for _, off in self.open)))


@pytest.mark.parametrize("path", ["", "/people", "/people/{}", "?q=canary", "/people?q=canary"])
def test_htmx_is_off_around_them(ann: Creator, path: str) -> None:
    with ann.context():
        form, key = make_form(ann.account.id), secrets.token_urlsafe(24)
        make_answer(form, key, text=WORDS)
        answering.complete_response(form.share_token, key, responder_name=NAME, now=utc_now())
        person = db.session.scalar(select(ResponseSession.id))
    reader = Reader()

    page = ann.page(f"/forms/{form.id}{path.format(person)}").text
    reader.feed(page.replace("<mark>", "").replace("</mark>", ""))

    found = [(text.strip(), off) for text, off in reader.found]
    assert {*found} - {("“canary”", True)} == {(NAME, True), (WORDS, True)}


def test_htmx_runs_no_scripts_of_what_it_is_sent(ann: Creator) -> None:
    page = ann.page("/drafts").text
    config = page.partition('name="htmx-config" content=\'')[2].partition("'")[0]

    assert {name: json.loads(config)[name] for name in ("allowEval", "allowScriptTags")} == {
        "allowEval": False,
        "allowScriptTags": False,
    }
