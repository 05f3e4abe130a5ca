"""No page of a respondent has a word that could not be in their language.

All words of the source become Cyrillic ones here, and so is everything that people typed: Latin
letters that are left on a page were written past the catalogs.
"""

import re
from html import unescape
from typing import Any

import pytest
from babel.support import NullTranslations
from flask import Flask
from flask.testing import FlaskClient
from werkzeug.test import TestResponse

from tests.factories import make_account, make_form
from tests.pages.respondent_client import Respondent, arrive, storage_away
from webapp.answers.answering import RESPONDER_NAME_MAX_CHARS
from webapp.web import languages
from webapp.web.limiter import limiter

KEPT = re.compile(r"%\(\w+\)s|\{\w+\}|[A-Za-z]")
NAMES = {"Askback", "seconds", "count"}  # our own name; places that a script fills
NOT_READ = re.compile(
    r'<(a|button) [^>]*\blang="[^"]*"[^>]*>.*?</\1>|<style.*?</style>|<script.*?</script>',
    re.DOTALL,
)
# attributes that somebody hears or sees, also by a script
READ = re.compile(
    r" (?:aria-label|title|placeholder|alt|data-(?!draft-field|draft-key|clear-drafts"
    r"|recover-drafts|unsent|copy-from|copy-status|max-length|lpignore)[\w-]+"
    r'|property="og:(?:title|description)" content)="([^"]*)"'
)


class Cyrillic(NullTranslations):  # type: ignore[misc]
    """Every message in letters that English has not; places stay."""

    def ugettext(self, message: str) -> str:
        return KEPT.sub(lambda found: found[0] if len(found[0]) > 1 else "ж", message)

    gettext = ugettext

    def ungettext(self, singular: str, plural: str, number: int) -> str:
        return self.ugettext(singular if number == 1 else plural)

    ngettext = ungettext


def leftovers(page: TestResponse) -> set[str]:
    """Latin words on the page that nobody has typed."""
    html = NOT_READ.sub("", page.text)
    said = [*READ.findall(html), re.sub("<[^>]*>", " ", html)]
    return {word for each in said for word in re.findall("[A-Za-z]+", unescape(each))} - NAMES


@pytest.fixture(autouse=True)
def _cyrillic(app: Flask, monkeypatch: pytest.MonkeyPatch) -> None:
    found = {"ar": Cyrillic()}
    nothing = NullTranslations()
    monkeypatch.setattr(languages, "read_catalog", lambda locale: found.get(locale, nothing))


@pytest.fixture
def asked(app: Flask) -> Any:
    """A form of which every word is Cyrillic."""
    with app.app_context():
        account = make_account(name="Анна")
        return make_form(account.id, title="Смены", questions=["Кто?", {"text": "Что?"}])


@pytest.fixture
def person(client: FlaskClient, asked: Any) -> Respondent:
    """Reads Arabic, so that names of months have no Latin letters either."""
    client.get(f"/r/{asked.share_token}?lang=ar")
    return arrive(client, asked)


@pytest.mark.parametrize(
    "way",
    [
        [("/q/1", {"answer": ""})],
        [("/q/1", {"answer": "Я"}), ("/q/2/skip", {})],
        [("/q/1", {"answer": "Я"}), ("/check", {"name": "ж" * (RESPONDER_NAME_MAX_CHARS + 1)})],
        [("/q/1", {"answer": "Я"}), ("/check", {}), ("/q/2", {"answer": "Поздно"})],
        [("/q/1", {"answer": "Я"}), ("/check", {"name": "Лена"}), ("/sent", {})],
        [("/q/1", {"answer": "Я"}), ("/withdraw", {}), ("/withdraw/now", {})],
        [("/q/1", {"answer": "Я"}), ("/q/2/elsewhere", {})],
        [("/q/9", {"answer": "Я"})],
        [("/nowhere", {})],
        [("/q/1", {"answer": "ж" * 1024 * 1024})],
    ],
    ids=lambda way: " ".join(path + str(fields)[:30] for path, fields in way),
)
def test_nothing_english_is_left(person: Respondent, way: list[tuple[str, dict[str, str]]]) -> None:
    pages = [person.page, *(person.post(path, **fields) for path, fields in way)]

    assert all("жж" in page.text for page in pages)
    assert [leftovers(page) for page in pages] == [set()] * len(pages)


@pytest.mark.settings(limit_answer_session="3/minute")
def test_nothing_english_is_left_on_refusals(
    app: Flask, person: Respondent, monkeypatch: pytest.MonkeyPatch
) -> None:
    limiter.reset()
    shown, path = person.page, f"/r/{person.share_token}"
    with storage_away(app):
        pages = [person.client.get(path), person.answer(1, "Я")]
    for text in ("Я", "Не я", "Не я"):  # saved, another answer than the saved one, too fast
        person.page = shown
        pages.append(person.answer(1, text))
    limiter.reset()
    monkeypatch.setattr("webapp.pages.respondent.rendering.question", lambda *_: 1 / 0)
    pages.append(person.client.get(f"{path}/q/1"))

    assert [page.status_code for page in pages] == [503, 503, 200, 422, 429, 500]
    assert [leftovers(page) for page in pages] == [set()] * len(pages)
