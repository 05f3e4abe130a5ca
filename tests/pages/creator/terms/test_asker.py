"""Who asks and why: on the account and the draft, part of what is confirmed, shown to people."""

from html import unescape
from typing import Any

import pytest
from flask import Flask

from tests.factories import make_draft
from tests.pages.creator.test_draft import by_agent, stored
from tests.pages.creator_client import Creator, hidden, plain
from webapp.domain.drafts.models import Draft

HOSTILE = '<b onclick="x">Fern</b>\u202ehill'
REASON = "We want to make the rota fairer."


@pytest.fixture
def draft(app: Flask, ann: Creator) -> Draft:
    with app.app_context():
        return make_draft(ann.account.id)


def publish(ann: Creator, draft: Draft, page: Any) -> Any:
    names = ("told_records", "told_transcriber", "told_writer", "told_organisation", "told_accent")
    shown = {name: unescape(hidden(page, name)) for name in ("revision", "shown_hash", *names)}
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


def test_without_all_of_it_the_page_is_as_before(ann: Creator, draft: Draft) -> None:
    page = ann.page(f"/drafts/{draft.id}/confirm")

    shown = respondents_page(ann, publish(ann, draft, page).location)

    assert "Asked by Robin Example<" in shown.replace("\n", "").replace("  ", "")
    assert "ask__reason" not in shown


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


@pytest.mark.parametrize(("accent", "status"), [("", 303), ("violet", 303), ("url(x)", 422)])
def test_only_our_colours_are_taken(ann: Creator, accent: str, status: int) -> None:
    answer = account(ann, "x" * 100, accent)

    assert answer.status_code == status
    if status == 422:
        assert "Choose one of green, blue" in answer.text
