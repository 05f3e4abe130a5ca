"""Forms inside other websites: framed where the creator says so, by name, and without a cookie."""

from dataclasses import dataclass, field
from typing import Any

import pytest
from flask import Flask
from flask.testing import FlaskClient
from werkzeug.test import TestResponse

from tests.factories import make_form, make_response
from tests.pages.creator_client import ORIGIN, Creator
from tests.pages.respondent.test_private_content import closed_way, whole_way
from tests.pages.respondent_client import Respondent, close, heading, hidden, storage_away
from webapp.drafts.form_settings import allow_embedding
from webapp.records.accounts.models import Account

SHOP = "https://shop.example"
BOTH = f"{SHOP} https://blog.example:8443"


@dataclass
class Framed(Respondent):
    """A respondent in a frame, who uses the addresses that stand on the page."""

    seen: list[TestResponse] = field(default_factory=list)

    def open(self, path: str = "") -> TestResponse:
        return self._see(self.client.get(f"/r/{self.share_token}{path}?embed=1"))

    def post(self, path: str, **fields: Any) -> TestResponse:
        sent = hidden(self.page) | fields
        return self._see(self.client.post(f"/r/{self.share_token}{path}?embed=1", data=sent))

    def _see(self, page: TestResponse) -> TestResponse:
        self.page = page
        self.seen.append(page)
        return page


@pytest.fixture
def form(app: Flask, account: Account) -> Any:
    """A form that two websites may show."""
    with app.app_context():
        form = make_form(account.id, title='Rota "talks" </textarea>')
        allow_embedding(account.id, form.id, BOTH)
        return form


@pytest.fixture
def framed(client: FlaskClient, form: Any) -> Framed:
    page = client.get(f"/r/{form.share_token}?embed=1")
    return Framed(client, form.share_token, page, [page])


def ancestors(page: TestResponse) -> str:
    """Who may frame the page, as both headers say."""
    said = page.headers["Content-Security-Policy"].rpartition("frame-ancestors ")[2]
    assert page.headers.get("X-Frame-Options") == ("DENY" if said == "'none'" else None)
    return said


@pytest.mark.parametrize(
    ("way", "state"), [(whole_way, "open"), (closed_way, "closed"), (closed_way, "full")]
)
def test_exactly_the_named_origins_may_embed_every_page_of_the_form(
    app: Flask, framed: Framed, form: Any, way: Any, state: str
) -> None:
    if state == "closed":
        close(app, form)
    with app.app_context():
        if state == "full":
            make_response(form)

    way(framed)

    pages = [page for page in framed.seen if page.mimetype == "text/html" and page.text]
    assert {ancestors(page) for page in pages if page.status_code != 303} == {BOTH}
    assert [page for page in framed.seen if "Set-Cookie" in page.headers] == []


@pytest.mark.settings(limit_answer_session="1/minute")
def test_refusals_are_shown_in_the_frame(app: Flask, framed: Framed) -> None:
    with storage_away(app):
        away = framed.answer(1, "Me")
    large = framed.answer(1, "x" * 1_400_000)
    framed.answer(1, "Me")
    fast = framed.answer(2, "It")

    assert [page.status_code for page in (away, large, fast)] == [503, 413, 429]
    assert {ancestors(page) for page in (away, large, fast)} == {BOTH}
    assert "Me</textarea>" in away.text
    assert f'action="/r/{framed.share_token}/q/2?embed=1"' in fast.text


@pytest.fixture
def respondent_alone(app: Flask, client: FlaskClient, account: Account) -> Respondent:
    """At a form that is not embedded, by a link that asks for it."""
    with app.app_context():
        token = make_form(account.id).share_token
    return Respondent(client, token, client.get(f"/r/{token}?embed=1"))


def test_a_form_without_origins_cannot_be_embedded_and_works_as_ever(
    respondent_alone: Respondent,
) -> None:
    alone = respondent_alone
    pages = [alone.page, alone.answer(1, ""), alone.open("/q/9"), alone.open()]
    answered = alone.answer(1, "Me")

    assert {ancestors(page) for page in pages} == {"'none'"}
    assert "embed" not in pages[0].text
    assert heading(answered) == "What went wrong?"
    assert [cookie.key for cookie in alone.client._cookies.values()] == ["askback_r"]


@pytest.mark.parametrize(
    "path",
    ["/drafts", "/forms/{form.id}/share", "/login", "/about"],
)
def test_creator_pages_cannot_be_embedded(ann: Creator, form: Any, path: str) -> None:
    assert ancestors(ann.page(path.format(form=form))) == "'none'"


def test_an_iframe_is_detected_by_sec_fetch_dest(client: FlaskClient, form: Any) -> None:
    page = client.get(f"/r/{form.share_token}", headers={"Sec-Fetch-Dest": "iframe"})

    assert f'action="/r/{form.share_token}/q/1?embed=1"' in page.text


def test_a_cookie_of_the_same_browser_is_not_read_in_the_frame(
    client: FlaskClient, form: Any
) -> None:
    arrived = Respondent(client, form.share_token, client.get(f"/r/{form.share_token}"))
    arrived.answer(1, "Me")

    page = client.get(f"/r/{form.share_token}?embed=1")

    assert page.status_code == 200
    assert heading(page) == "Who changed it?"


def test_a_creator_names_websites_and_gets_the_code(
    app: Flask, ann: Creator, account: Account
) -> None:
    with app.app_context():
        form = make_form(account.id, title='Rota "talks" </textarea>')
    before = ann.page(f"/forms/{form.id}/share").text

    saved = ann.post(f"/forms/{form.id}/embedding", origins="https://Shop.example/")

    page = ann.page(f"/forms/{form.id}/share").text
    assert saved.headers["Location"].endswith("/share#website")
    assert "iframe" not in before
    assert (
        f"&lt;iframe src=&#34;{ORIGIN}/r/{form.share_token}?embed=1&#34; "
        "title=&#34;Rota &amp;#34;talks&amp;#34; &amp;lt;/textarea&amp;gt;&#34;" in page
    )
    assert f"\n{SHOP}</textarea>" in page
    refused = ann.post(f"/forms/{form.id}/embedding", origins="https://a.example/page <b>")
    assert refused.status_code == 422
    assert "\nhttps://a.example/page &lt;b&gt;</textarea>" in refused.text
    assert f"\n{SHOP}</textarea>" in ann.page(f"/forms/{form.id}/share").text


def test_another_creators_form_is_not_there(stranger: Creator, form: Any) -> None:
    assert stranger.post(f"/forms/{form.id}/embedding", origins=SHOP).status_code == 404
