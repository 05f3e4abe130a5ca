"""The site itself: its notes, the security contact (RFC 9116), the theme of every page."""

import re
from datetime import datetime, timedelta

import pytest
from flask import Flask
from flask.testing import FlaskClient
from markupsafe import escape
from werkzeug.test import TestResponse

from tests.pages.creator_client import ORIGIN, Creator
from tests.pages.respondent_client import Respondent, box, storage_away
from webapp.base.config import VARIABLES, describe
from webapp.base.database import utc_now
from webapp.base.errors import ErrorCode
from webapp.pages.public import markdown
from webapp.pages.public.docs import DOCUMENTS, TITLES

OPERATOR = pytest.mark.settings(
    operator_name="Fernhill & Sons", operator_contact="hello@fernhill.example"
)
PATH = "/.well-known/security.txt"
CONTACT = "mailto:security@example.org"


@OPERATOR
@pytest.mark.parametrize("path", ["/about", "/privacy"])
def test_they_name_the_operator_without_cookie_and_database(
    app: Flask, client: FlaskClient, path: str
) -> None:
    with storage_away(app):
        page = client.get(path)

    assert page.status_code == 200
    assert "This server is run by Fernhill &amp; Sons." in page.text
    assert 'href="mailto:hello@fernhill.example"' in page.text
    assert "Set-Cookie" not in page.headers


@pytest.mark.settings(security_contact=CONTACT, public_url="https://askback.example")
def test_the_document_is_what_the_rfc_asks_for(client: FlaskClient) -> None:
    response = client.get(PATH, base_url="https://askback.example")

    fields = dict(line.split(": ", 1) for line in response.text.splitlines())
    expires = datetime.fromisoformat(fields.pop("Expires"))
    assert response.headers["Content-Type"] == "text/plain; charset=utf-8"
    assert fields == {
        "Contact": CONTACT,
        "Preferred-Languages": "en",
        "Canonical": f"https://askback.example{PATH}",
    }
    assert timedelta(days=90) < expires - utc_now() < timedelta(days=365)


COOKIE = "askback_theme"
HERE = "127.0.0.1"


def theme(page: TestResponse) -> str:
    """What the document says; "" leaves it to the device."""
    found = re.search(r'<html [^>]*data-theme="(\w+)"', page.text)
    return found[1] if found else ""


def kept(client: FlaskClient) -> str | None:
    cookie = client.get_cookie(COOKIE, HERE)
    return cookie.value if cookie else None


@pytest.mark.parametrize("chosen", ["light", "dark"])
def test_a_respondent_chooses_a_theme_and_stays_on_the_page(
    respondent: Respondent, chosen: str
) -> None:
    respondent.answer(1, "Me")

    page = respondent.post("/q/1/open", theme=chosen)

    assert theme(page) == chosen
    assert kept(respondent.client) == chosen
    assert box(page) == "Me"
    respondent.post("/q/1/open", theme="neon")  # an unknown one changes nothing
    assert theme(respondent.open("/check")) == chosen
    assert theme(respondent.post("/q/1/open", theme="system")) == ""
    assert not kept(respondent.client)


@pytest.mark.parametrize(
    "back",
    ["", "//evil.example", "/\\evil.example", "/\t/evil.example", "https://evil.example",
     "/a\r\nX: y"],
)  # fmt: skip
def test_the_page_to_return_to_must_be_ours(ann: Creator, back: str) -> None:
    sent = ann.post("/appearance", theme="dark", back=back)

    assert sent.headers["Location"] == "/drafts"


def test_a_cross_site_post_does_not_change_the_theme(ann: Creator) -> None:
    sent = ann.client.post("/appearance", base_url=ORIGIN, data={"theme": "dark"})

    assert sent.status_code == 403
    assert kept(ann.client) is None


PAGES = {name: "/docs" if name == "index" else f"/docs/{name}" for name in TITLES}
HEADING = re.compile(r"<h[123][^>]* id=\"([^\"]+)\"")


@pytest.mark.parametrize("path", ["/docs/connect.md", "/.well-known/oauth-authorization-server"])
def test_cacheable_responses_set_no_cookie(path: str, ann: Creator) -> None:
    response = ann.client.get(path)

    assert response.cache_control.public
    assert "Set-Cookie" not in response.headers
    assert "Cookie" not in response.vary
    assert "Set-Cookie" in ann.page("/docs").headers


def test_documents_are_pages_and_texts_without_sign_in(client: FlaskClient) -> None:
    parts = {name: HEADING.findall(client.get(path).text) for name, path in PAGES.items()}
    for name, path in PAGES.items():
        page, text = client.get(path), client.get(f"/docs/{name}.md")

        assert (page.mimetype, text.mimetype) == ("text/html", "text/plain"), name
        assert str(markdown.render(text.text)) in page.text, name
        assert f"<title>{TITLES[name]} · Askback</title>" in page.text, name
        assert not re.search(r"\{[{%#]", text.text), name
        for other, part in re.findall(r"\]\(([a-z-]+)\.md(?:#([^)]+))?\)", text.text):
            assert part in ["", *parts[other]], (name, other)
        for link in re.findall(r"\]\((/[^)]*)\)", text.text):
            assert client.get(link).status_code == 200, (name, link)


def test_llms_txt_lists_every_document(client: FlaskClient) -> None:
    text = client.get("/llms.txt").text

    listed = re.findall(r"^- \[.+\]\(http://127.0.0.1:8000(/[^)]+)\): \w", text, re.M)
    assert listed == [f"/docs/{each['name']}.md" for each in DOCUMENTS] + ["/api/openapi"]
    assert {client.get(path).status_code for path in listed} == {200}


def test_markup_in_a_document_is_shown_as_text() -> None:
    assert markdown.render('<script src="x"></script>\n\n<b>') == (
        "<p>&lt;script src=&quot;x&quot;&gt;&lt;/script&gt;</p>\n<p>&lt;b&gt;</p>\n"
    )
    assert "<a" not in markdown.render("[words](javascript:alert)")


def test_every_error_code_is_explained(client: FlaskClient) -> None:
    page = client.get("/docs/errors").text

    for known in ErrorCode:
        entry = as_read(page.partition(f'<h3 id="{known}">')[2].partition("<h")[0])
        assert as_read(escape(known.meaning)) in entry
        assert as_read(escape(known.remedy)) in entry


def as_read(text: str) -> str:
    return re.sub("</?code>|`", "", text)


def test_every_setting_is_explained(client: FlaskClient) -> None:
    text = client.get("/docs/settings.md").text

    for variable in VARIABLES:
        entry = text.partition(f"\n### `{variable}`\n\n")[2].partition("\n#")[0]
        described = describe(variable)
        assert entry.startswith(f"{described['text']}.\n\n**Default** {described['default']}.")
