"""Who asks and why: on the account and the draft, confirmed, and shown to people."""

import re
from base64 import b64decode
from io import BytesIO
from typing import Any
from zlib import crc32

import pytest

from tests.pages.creator.test_agreements import say_yes, words
from tests.pages.creator_client import Creator, plain
from webapp.records.drafts import Draft

HOSTILE = '<b onclick="x">Fern</b>\u202ehill'
REASON = "We want to make the rota fairer."
PIXEL = b64decode(
    "iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAYAAAAfFcSJAAAADUlEQVR42mNk+M9QDwADhgGAWjR9awAAAABJRU5ErkJggg=="
)


def account(ann: Creator, organisation: str, accent: str = "") -> Any:
    given = {"name": "Robin", "organisation": organisation, "accent": accent}
    return ann.post("/account/details", **given)


def respondents_page(ann: Creator, location: str) -> str:
    token = ann.page(location).text.partition("/r/")[2].partition('"')[0]
    return ann.client.get(f"/r/{token}").text


def upload(ann: Creator, content: bytes) -> Any:
    return ann.post("/account/picture", picture=(BytesIO(content), "picture.png"))


def addresses(page: str) -> list[str]:
    return re.findall('<img class="asker-mark[^"]*" src="([^"]+)"', page)


@pytest.fixture
def draft(ann: Creator) -> Draft:
    return ann.draft(followUpMode="smart", context="Two cafés close.")


def test_people_read_who_asks_why_and_how_long_it_takes(ann: Creator) -> None:
    draft = ann.draft()
    account(ann, HOSTILE, "blue")
    ann.post(f"/drafts/{draft.id}/reason", text=f" {REASON}\r\n ", revision=1)

    page = ann.page(f"/drafts/{draft.id}/confirm")
    public = respondents_page(ann, say_yes(ann, draft, page).location)

    for text in (page.text, public):
        assert "Robin, &lt;b onclick=&#34;x&#34;&gt;Fern&lt;/b&gt;hill" in text
        assert 'class="asker-mark asker-mark--blue"' in text
        assert REASON in text
        assert "about 2 minutes" in plain(text).replace("\N{NO-BREAK SPACE}", " ")


def test_a_form_that_is_out_keeps_who_asked_and_an_old_page_is_refused(
    ann: Creator, draft: Draft
) -> None:
    account(ann, "Fernhill", "green")
    page = ann.page(f"/drafts/{draft.id}/confirm")
    account(ann, "Mosshill")
    stale = say_yes(ann, draft, page)
    published = say_yes(ann, draft, stale)
    account(ann, "Nowhere", "red")

    public = respondents_page(ann, published.location)
    assert (stale.status_code, published.status_code) == (409, 303)
    assert "Asked by Robin, Mosshill" in plain(stale.text)
    assert "Mosshill" in public
    assert "Nowhere" not in public
    assert "asker-mark" not in public


def test_the_reason_is_part_of_what_is_confirmed_compared_and_undone(
    ann: Creator, draft: Draft
) -> None:
    before = draft.content_hash
    ann.page(f"/drafts/{draft.id}")

    ann.post(f"/drafts/{draft.id}/reason", text=REASON, revision=1)
    ann.by_agent(draft, goal="Learn")

    now = ann.stored(draft)
    assert (now.public_reason, now.content_hash != before) == (REASON, True)
    assert "Why people are asked, added" in words(ann, f"/drafts/{draft.id}/history")
    ann.post(f"/drafts/{draft.id}/restore", revision=3, to=1)
    now = ann.stored(draft)
    assert (now.public_reason, now.content_hash) == (None, before)


def test_a_picture_is_shown_where_its_creator_confirmed_it(
    ann: Creator, stranger: Creator, draft: Draft
) -> None:
    assert upload(ann, PIXEL).status_code == 303
    (own,) = addresses(ann.page("/account").text)
    page = ann.page(f"/drafts/{draft.id}/confirm")
    public = respondents_page(ann, say_yes(ann, draft, page).location)
    ann.post("/account/picture/remove")

    (address,) = addresses(public)
    answer = ann.client.get(address)
    assert answer.mimetype == "image/png"
    assert answer.data.startswith(b"\x89PNG")
    assert answer.headers["X-Content-Type-Options"] == "nosniff"
    assert "immutable" in answer.headers["Cache-Control"]
    assert addresses(ann.page("/account").text) == []
    assert stranger.page(own).status_code == 404
    assert ann.client.get(address.replace(own[-64:], "0" * 64)).status_code == 404


@pytest.mark.parametrize(
    "content",
    [
        b"",
        b"<svg xmlns='http://www.w3.org/2000/svg'><script>1</script></svg>",
        b"GIF89a" + b"\0" * 100,
        b"\x89PNG\r\n\x1a\n<script>1</script>",
        PIXEL[:30],
        PIXEL[:16] + (60_000).to_bytes(4) * 2 + PIXEL[24:],  # of 3.6 billion pixels
        b"\xff\xd8\xff" + b"\0" * 1000,
    ],
)
def test_what_is_no_picture_is_refused_with_what_would_be_taken(
    ann: Creator, content: bytes
) -> None:
    refused = upload(ann, content)

    assert refused.status_code == 422
    assert "Choose another one: PNG, JPEG or WebP, at most 2 MB." in refused.text
    assert addresses(ann.page("/account").text) == []


def test_nothing_but_the_picture_is_kept_of_a_file(ann: Creator) -> None:
    said = b"tEXtplace\x0057.7, 11.9"
    text = (len(said) - 4).to_bytes(4) + said + crc32(said).to_bytes(4)

    upload(ann, PIXEL[:33] + text + PIXEL[33:] + b"<script>1</script>")

    (own,) = addresses(ann.page("/account").text)
    kept = ann.page(own).data
    assert len(kept) <= 200_000
    assert b"57.7" not in kept
    assert b"script" not in kept
