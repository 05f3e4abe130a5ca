"""The documents: each a page and a text, open to everybody."""

import re

import pytest
from flask.testing import FlaskClient
from markupsafe import escape

from tests.pages.creator_client import Creator
from webapp.base.config import VARIABLES, describe
from webapp.base.errors import ErrorCode
from webapp.pages.public import markdown
from webapp.pages.public.docs import DOCUMENTS, TITLES

PAGES = {name: "/docs" if name == "index" else f"/docs/{name}" for name in TITLES}
HEADING = re.compile(r"<h[123][^>]* id=\"([^\"]+)\"")


@pytest.mark.parametrize("name", PAGES)
def test_documents_need_no_sign_in(name: str, client: FlaskClient) -> None:
    page, text = client.get(PAGES[name]), client.get(f"/docs/{name}.md")

    assert (page.status_code, page.mimetype) == (200, "text/html")
    assert (text.status_code, text.mimetype) == (200, "text/plain")
    assert "Set-Cookie" not in page.headers
    assert "Set-Cookie" not in text.headers
    assert text.headers["Cache-Control"] == "public, max-age=3600"


@pytest.mark.parametrize(
    "path",
    [
        "/llms.txt",
        "/docs/connect.md",
        "/.well-known/oauth-protected-resource/api",
        "/.well-known/oauth-authorization-server",
    ],
)
def test_cacheable_responses_set_no_cookie(path: str, ann: Creator) -> None:
    """The first request of a browser session writes to it."""
    response = ann.client.get(path)

    assert response.cache_control.public
    assert "Set-Cookie" not in response.headers
    assert "Cookie" not in response.vary
    assert "Set-Cookie" in ann.page("/docs").headers


@pytest.mark.parametrize("name", PAGES)
def test_the_text_twin_has_the_content_of_the_page(name: str, client: FlaskClient) -> None:
    page, text = client.get(PAGES[name]).text, client.get(f"/docs/{name}.md").text

    assert str(markdown.render(text)) in page
    assert f"<title>{TITLES[name]} · Askback</title>" in page
    assert f'href="/docs/{name}.md"' in page
    assert re.match(r"# .+\n\n", text)
    assert not re.search(r"\{[{%#]", text)
    prose = re.sub(r"^```.*?^```$", "code", text, flags=re.M | re.S)  # which has wider gaps
    assert "\n\n\n" not in prose


@pytest.mark.parametrize("name", PAGES)
def test_links_between_documents_are_valid(name: str, client: FlaskClient) -> None:
    text, page = client.get(f"/docs/{name}.md").text, client.get(PAGES[name]).text

    beside = re.findall(r"\]\(([a-z-]+)\.md(?:#([^)]+))?\)", text)
    for other, part in beside:
        parts = HEADING.findall(client.get(PAGES[other]).text)
        assert part in ["", *parts]
    assert re.findall(r'href="([^"]+\.md)', page) == [f"/docs/{name}.md"] * 2
    for path in re.findall(r"\]\((/[^)]*)\)", text):
        assert client.get(path).status_code == 200


def test_llms_txt_lists_every_document(client: FlaskClient) -> None:
    text = client.get("/llms.txt").text

    assert re.match(r"# Askback\n\n> [^\n]+\n\n[^\n]+\n\n## Documents\n\n(- [^\n]+\n)+$", text)
    listed = re.findall(r"^- \[.+\]\(http://127.0.0.1:8000(/[^)]+)\): \w", text, re.M)
    assert listed == [f"/docs/{document.name}.md" for document in DOCUMENTS] + ["/api/openapi"]
    assert {client.get(path).status_code for path in listed} == {200}


@pytest.mark.parametrize("path", ["/docs/nothing", "/docs/nothing.md", "/docs/errors.html"])
def test_an_unknown_document_is_not_found(path: str, client: FlaskClient) -> None:
    assert client.get(path).status_code == 404


def test_markup_in_a_document_is_shown_as_text() -> None:
    assert markdown.render('<script src="x"></script>\n\n<b>') == (
        "<p>&lt;script src=&quot;x&quot;&gt;&lt;/script&gt;</p>\n<p>&lt;b&gt;</p>\n"
    )
    assert "<a" not in markdown.render("[words](javascript:alert)")


@pytest.mark.parametrize("known", ErrorCode)
def test_every_error_code_is_explained(known: ErrorCode, client: FlaskClient) -> None:
    page = client.get("/docs/errors").text

    entry = page.partition(f'<h3 id="{known}">')[2].partition("<h")[0]
    assert as_read(escape(known.meaning)) in as_read(entry)
    assert as_read(escape(known.remedy)) in as_read(entry)
    assert entry.count("<code>") == 1 + (known.meaning + known.remedy).count("`") // 2


def as_read(text: str) -> str:
    return re.sub("</?code>|`", "", text)


@pytest.mark.parametrize("variable", VARIABLES)
def test_every_setting_is_explained(variable: str, client: FlaskClient) -> None:
    text = client.get("/docs/settings.md").text

    entry = text.partition(f"\n### `{variable}`\n\n")[2].partition("\n#")[0]
    described = describe(variable)
    assert entry.startswith(f"{described.text}.\n\n**Default** {described.default}.")
