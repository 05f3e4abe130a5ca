"""Who asks and why: on the account and the draft, part of what is confirmed, shown to people."""

import re
from base64 import b64decode
from html import unescape
from io import BytesIO
from typing import Any
from zlib import crc32

import pytest
from flask import Flask

from tests.factories import make_draft
from tests.pages.creator.test_draft import by_agent, stored
from tests.pages.creator_client import ORIGIN, Creator, hidden, plain
from webapp.records.drafts import Draft

HOSTILE = '<b onclick="x">Fern</b>\u202ehill'
REASON = "We want to make the rota fairer."


@pytest.fixture
def draft(app: Flask, ann: Creator) -> Draft:
    with app.app_context():
        return make_draft(ann.account.id)


def publish(ann: Creator, draft: Draft, page: Any) -> Any:
    told = ("records", "transcriber", "writer", "organisation", "accent", "picture")
    names = ("revision", "shown_hash", *(f"shown_{what}" for what in told))
    shown = {name: unescape(hidden(page, name)) for name in names}
    return ann.post(f"/drafts/{draft.id}/confirm", then="publish", **shown)


def account(ann: Creator, organisation: str, accent: str = "") -> Any:
    given = {"name": "Robin", "organisation": organisation, "accent": accent}
    return ann.post("/account/details", **given)


def respondents_page(ann: Creator, location: str) -> str:
    token = ann.page(location).text.partition("/r/")[2].partition('"')[0]
    return ann.client.get(f"/r/{token}").text


def test_people_read_who_asks_why_and_how_long_it_takes(ann: Creator, draft: Draft) -> None:
    account(ann, HOSTILE, "blue")
    ann.post(f"/drafts/{draft.id}/reason", text=f" {REASON}\r\n ", revision=1)

    page = ann.page(f"/drafts/{draft.id}/confirm")
    shown = respondents_page(ann, publish(ann, draft, page).location)

    for text in (page.text, shown):
        assert "Robin, &lt;b onclick=&#34;x&#34;&gt;Fern&lt;/b&gt;hill" in text
        assert 'class="asker-mark asker-mark--blue"' in text
        assert REASON in text
        assert "about 2 minutes" in plain(text).replace("\N{NO-BREAK SPACE}", " ")


def test_a_form_that_is_out_keeps_who_asked_and_an_old_page_is_refused(
    ann: Creator, draft: Draft, app: Flask
) -> None:
    account(ann, "Fernhill", "green")
    page = ann.page(f"/drafts/{draft.id}/confirm")
    account(ann, "Mosshill")
    stale = publish(ann, draft, page)
    published = publish(ann, draft, stale)
    account(ann, "Nowhere", "red")

    assert (stale.status_code, published.status_code) == (409, 303)
    assert "Asked by Robin, Mosshill" in plain(stale.text)
    shown = respondents_page(ann, published.location)
    assert "Mosshill" in shown
    assert "Nowhere" not in shown
    assert "asker-mark" not in shown


def test_the_reason_is_part_of_what_is_confirmed_compared_and_undone(
    app: Flask, ann: Creator, draft: Draft
) -> None:
    before = draft.content_hash
    ann.page(f"/drafts/{draft.id}")

    saved = ann.post(f"/drafts/{draft.id}/reason", htmx=True, text=REASON, revision=1)
    ann.post(f"/drafts/{draft.id}/goal", text="Learn", revision=2)

    assert REASON in saved.text
    assert stored(app, draft).content_hash != before
    assert "Why people are asked, added" in plain(ann.page(f"/drafts/{draft.id}/history").text)
    ann.post(f"/drafts/{draft.id}/restore", revision=3, to=1)
    assert (stored(app, draft).public_reason, stored(app, draft).content_hash) == (None, before)


def test_an_agents_change_keeps_the_reason(app: Flask, ann: Creator, draft: Draft) -> None:
    ann.post(f"/drafts/{draft.id}/reason", text=REASON, revision=1)

    assert by_agent(app, draft, title="Other").public_reason == REASON


@pytest.mark.parametrize("htmx", [False, True])
def test_a_reason_that_is_too_long_is_given_back(
    app: Flask, ann: Creator, draft: Draft, *, htmx: bool
) -> None:
    refused = ann.post(f"/drafts/{draft.id}/reason", htmx=htmx, text="x" * 201, revision=1)

    assert refused.status_code == 422
    assert "x" * 201 in refused.text
    assert "This is longer than 200 characters." in refused.text
    assert stored(app, draft).revision == 1


PIXEL = b64decode(
    "iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAYAAAAfFcSJAAAADUlEQVR42mNk+M9QDwADhgGAWjR9awAAAABJRU5ErkJggg=="
)


def upload(ann: Creator, content: bytes, name: str = "picture.png") -> Any:
    return ann.post("/account/picture", picture=(BytesIO(content), name))


def addresses(page: str) -> list[str]:
    return re.findall('<img class="asker-mark[^"]*" src="([^"]+)"', page)


def test_a_picture_is_shown_where_its_creator_confirmed_it(
    app: Flask, ann: Creator, stranger: Creator, draft: Draft
) -> None:
    assert upload(ann, PIXEL).status_code == 303
    (own,) = addresses(ann.page("/account").text)
    page = ann.page(f"/drafts/{draft.id}/confirm")
    shown = respondents_page(ann, publish(ann, draft, page).location)
    ann.post("/account/picture/remove")

    (public,) = addresses(shown)
    answer = ann.client.get(public)
    assert answer.mimetype == "image/png"
    assert answer.data.startswith(b"\x89PNG")
    assert answer.headers["X-Content-Type-Options"] == "nosniff"
    assert "immutable" in answer.headers["Cache-Control"]
    assert addresses(ann.page("/account").text) == []
    assert stranger.page(own).status_code == 404
    assert ann.client.get(public.replace(own[-64:], "0" * 64)).status_code == 404


@pytest.mark.parametrize(
    "content",
    [
        b"",
        b"<svg xmlns='http://www.w3.org/2000/svg'><script>1</script></svg>",
        b"GIF89a" + b"\0" * 100,
        b"\x89PNG\r\n\x1a\n<script>1</script>",
        PIXEL[:30],
        PIXEL[:16] + (60_000).to_bytes(4) * 2 + PIXEL[24:],
        b"\xff\xd8\xff" + b"\0" * 1000,
    ],
    ids=["nothing", "SVG", "GIF", "page", "cut", "of 3.6 billion pixels", "no JPEG"],
)
def test_what_is_no_picture_is_refused_with_what_would_be_taken(
    ann: Creator, content: bytes
) -> None:
    refused = upload(ann, content, "me.jpg")

    assert refused.status_code == 422
    assert "Choose another one: PNG, JPEG or WebP, at most 2 MB." in refused.text
    assert addresses(ann.page("/account").text) == []


def test_nothing_but_the_picture_is_kept_of_a_file(ann: Creator) -> None:
    """A text beside the picture, and a page behind it."""
    said = b"tEXtplace\x0057.7, 11.9"
    text = (len(said) - 4).to_bytes(4) + said + crc32(said).to_bytes(4)

    upload(ann, PIXEL[:33] + text + PIXEL[33:] + b"<script>1</script>")

    (own,) = addresses(ann.page("/account").text)
    kept = ann.page(own).data
    assert len(kept) <= 200_000
    assert b"57.7" not in kept
    assert b"script" not in kept


def test_a_file_of_more_than_two_megabytes_is_refused(ann: Creator) -> None:
    answer = ann.client.post(
        "/account/picture",
        data=b"\0" * 2_300_000,
        content_type="multipart/form-data; boundary=of-nothing",
        headers={"Origin": ORIGIN},
    )
    assert answer.status_code == 413


@pytest.mark.parametrize(("accent", "status"), [("", 303), ("violet", 303), ("url(x)", 422)])
def test_only_our_colours_are_taken(ann: Creator, accent: str, status: int) -> None:
    answer = account(ann, "x" * 100, accent)

    assert answer.status_code == status
    if status == 422:
        assert "Choose one of green, blue" in answer.text
