"""The language of respondent pages; creator pages are English."""

import re
from typing import Any

import pytest
from flask import Flask
from flask.testing import FlaskClient
from werkzeug.test import TestResponse

from tests.pages.creator_client import Creator
from tests.pages.respondent_client import arrive, box, heading, hidden, texts
from webapp.web.languages import LANGUAGES

TAGS = [language.tag for language in LANGUAGES]
CONTINUE = ["Continue", "Continuar", "Weiter", "Continuer", "Continuar", "متابعة"]


def language(page: TestResponse) -> tuple[str, str]:
    """Language and direction of the document."""
    found = re.search(r'<html lang="([^"]+)" dir="([^"]+)">', page.text)
    assert found
    return found[1], found[2]


def tag(page: TestResponse) -> str:
    return language(page)[0]


def test_each_language_can_be_asked_for(client: FlaskClient, form: Any) -> None:
    said = set()
    for wanted in TAGS:
        page = client.get(f"/r/{form.share_token}?lang={wanted}")
        assert language(page) == (wanted, "rtl" if wanted == "ar" else "ltr")
        assert page.headers["Content-Language"] == wanted
        said |= {*re.findall(r"btn--main[^>]*>([^<]+?) <", page.text)}
    assert said == {*CONTINUE}


@pytest.mark.parametrize(
    ("named", "chosen", "preferred", "expected"),
    [
        ("fr", "de", "es", "fr"),
        ("", "de", "es", "de"),
        ("xx", "yy", "zz", "en"),
        ("", "", "de-AT,de;q=0.9,en;q=0.8", "de"),
        ("", "", "pt-PT", "pt-BR"),
    ],
)
def test_address_before_cookie_before_browser_before_english(
    client: FlaskClient, form: Any, named: str, chosen: str, preferred: str, expected: str
) -> None:
    if chosen:
        client.set_cookie("askback_lang", chosen, path="/r", domain="127.0.0.1")

    page = client.get(f"/r/{form.share_token}?lang={named}", headers={"Accept-Language": preferred})

    assert tag(page) == expected


@pytest.mark.parametrize(
    "value",
    ["../../../etc/passwd", "de%0d%0aSet-Cookie:%20a=b", "%ED%A0%80"],
)
def test_an_unsupported_language_is_ignored(client: FlaskClient, form: Any, value: str) -> None:
    page = client.get(f"/r/{form.share_token}?lang={value}", headers={"Accept-Language": value[:9]})

    assert page.status_code == 200
    assert tag(page) == "en"
    assert "Set-Cookie" not in page.headers


@pytest.mark.settings(public_url="https://ask.example.org")
def test_a_chosen_language_is_remembered_where_respondents_are(
    client: FlaskClient, form: Any
) -> None:
    where = f"https://ask.example.org/r/{form.share_token}"
    page = client.get(f"{where}?lang=fr")

    name, *attributes = page.headers["Set-Cookie"].split("; ")
    assert name == "__Secure-askback_lang=fr"
    assert {"Secure", "HttpOnly", "SameSite=Lax", "Path=/r"} <= set(attributes)
    assert tag(client.get(where, headers={"Accept-Language": "de"})) == "fr"


@pytest.mark.parametrize(
    ("way", "same"),
    [
        ([], "Who changed it?"),
        (["/q/1", "/q/2"], "Antworten prüfen, dann senden."),
        (["/q/1", "/withdraw"], "Alle Ihre Antworten löschen?"),
    ],
)
def test_the_chooser_shows_the_same_page_of_the_same_session(
    browser: FlaskClient, form: Any, way: list[str], same: str
) -> None:
    person = arrive(browser, form)
    for path in way:
        person.post(path, answer="Me")
    before = person.page

    page = person.post(chooser(before).removeprefix(f"/r/{form.share_token}"), language="de")

    assert tag(page) == "de"
    assert heading(page) == same
    assert hidden(page)["session"] == hidden(before)["session"] or not way


def chooser(page: TestResponse) -> str:
    """Where the buttons of the languages post to: their own address, or that of their form."""
    own = re.search(r'name="language" [^>]*formaction="([^"]+)"', page.text)
    around = re.search(r'languages__list" method="post" action="([^"]+)"', page.text)
    found = own or around
    assert found
    return found[1]


@pytest.mark.parametrize("choice", [{"language": "de"}, {"theme": "dark"}], ids=str)
def test_a_choice_keeps_unsent_text(
    app: Flask, client: FlaskClient, form: Any, choice: dict[str, str]
) -> None:
    person = arrive(client, form)
    person.answer(1, "Me")

    page = person.post("/q/2/open", answer="half a sentence\n<b>", **choice)
    assert heading(page) == "What went wrong?"
    assert box(page) == "half a sentence\n<b>"
    assert texts(app) == ["Me"]

    page = person.post("/check/open", name='Sam "S" Okafor', **choice)
    assert 'name="name" value="Sam &#34;S&#34; Okafor"' in page.text


@pytest.mark.parametrize("path", ["/r/nothing/is/here", "/privacy"])
def test_other_respondent_pages_are_translated(client: FlaskClient, path: str) -> None:
    assert tag(client.get(path, headers={"Accept-Language": "de"})) == "de"


@pytest.mark.parametrize("path", ["/drafts", "/nothing-here"])
def test_pages_of_creators_are_english_in_every_browser(ann: Creator, path: str) -> None:
    ann.client.set_cookie("askback_lang", "de", path="/", domain="127.0.0.1")

    page = ann.client.get(f"{path}?lang=de", headers={"Accept-Language": "de"})

    assert tag(page) == "en"
    assert "Content-Language" not in page.headers
