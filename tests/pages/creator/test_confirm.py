"""Confirmation: only from the creator's browser, only for the content shown."""

import re
from typing import Any

import pytest
from flask import Flask

from tests.pages.creator_client import ORIGIN, Creator, hidden, plain
from tests.pages.respondent_client import storage_away
from webapp.base.vocabulary import DraftStatus
from webapp.drafts import confirmations
from webapp.records.drafts import Draft, DraftConfirmation


@pytest.fixture
def draft(ann: Creator) -> Draft:
    return ann.draft(context="Two cafés left", goal="Learn")


def confirmation(ann: Creator, draft: Draft) -> DraftConfirmation | None:
    found: DraftConfirmation | None = ann.within(confirmations.find_confirmation, draft.id)
    return found


def untouched(ann: Creator, draft: Draft) -> bool:
    return ann.stored(draft).status is DraftStatus.DRAFT and confirmation(ann, draft) is None


def test_letting_the_agent_publish_only_confirms(ann: Creator, draft: Draft) -> None:
    response = ann.confirm(draft, then="agent")

    found = confirmation(ann, draft)
    assert response.location == f"/drafts/{draft.id}"
    assert ann.stored(draft).status is DraftStatus.DRAFT
    assert found is not None
    assert found.content_hash == draft.content_hash


def test_a_get_never_confirms(ann: Creator, draft: Draft) -> None:
    query = f"?then=publish&revision=1&shown_hash={draft.content_hash}"

    ann.page(f"/drafts/{draft.id}/confirm{query}")
    ann.client.head(f"/drafts/{draft.id}/confirm{query}", base_url=ORIGIN)

    assert untouched(ann, draft)


def test_a_changed_draft_is_shown_and_not_published(ann: Creator, draft: Draft) -> None:
    ann.page(f"/drafts/{draft.id}/confirm")
    ann.by_agent(draft, title="Bait")

    response = ann.confirm(draft)

    words = plain(response.text)
    assert response.status_code == 409
    assert "Nothing was published." in words
    assert "removed: Rota added: Bait" in words
    assert untouched(ann, draft)
    shown = {name: hidden(response, name) for name in ("revision", "shown_hash")}
    assert ann.confirm(draft, **shown).location.startswith("/forms/")


@pytest.mark.parametrize(
    "forged",
    [{"shown_hash": "0" * 64}, {"shown_hash": ""}, {"revision": 2}, {"revision": "x"}],
    ids=str,
)
def test_a_confirmation_of_other_content_does_not_count(
    ann: Creator, draft: Draft, forged: dict[str, Any]
) -> None:
    response = ann.confirm(draft, **forged)

    assert response.status_code == 409
    assert "Nothing was published." in response.text
    assert 'name="then"' not in response.text
    assert untouched(ann, draft)


def test_a_storage_that_is_away_offers_the_same_yes_again(
    app: Flask, ann: Creator, draft: Draft
) -> None:
    ann.post("/nowhere")  # has fetched its token then
    with storage_away(app):
        refused = ann.confirm(draft)

    fields = re.findall('type="hidden" name="([^"]*)" value="([^"]*)"', refused.text)
    assert refused.status_code == 503
    assert f'<form class="actions" method="post" action="/drafts/{draft.id}/confirm">' in (
        refused.text
    )
    assert "never publishes twice" in refused.text
    assert ann.client.post(
        f"/drafts/{draft.id}/confirm",
        base_url=ORIGIN,
        data=dict(fields),
        headers={"Origin": ORIGIN},
    ).location.endswith("/share")
    assert ann.stored(draft).status is DraftStatus.PUBLISHED


def test_an_incomplete_draft_lists_what_is_missing(ann: Creator) -> None:
    draft = ann.draft(title=" ", questions=["A?", ""])

    page = ann.page(f"/drafts/{draft.id}/confirm")
    response = ann.confirm(draft)

    links = re.findall(r'<li><a href="([^"]+)">([^<]+)</a></li>', page.text)
    editors = [(f"/drafts/{draft.id}/title/edit", "Write a title")]
    editors += [(f"/drafts/{draft.id}/questions/2/edit", "Write question 2")]
    assert links == editors
    assert all(ann.page(url).status_code == 200 for url, _words in links)
    assert "Not ready to publish yet" in plain(page.text)
    assert page.text.index("Still missing") < page.text.index("What people will see")
    assert re.search(r'<span\s+class="unwritten">', page.text)
    assert 'name="then"' not in page.text
    assert response.status_code == 409
    assert untouched(ann, draft)


@pytest.mark.parametrize(
    "headers",
    [
        {"Authorization": "Bearer askat_x", "Origin": ORIGIN},
        {"Origin": "https://elsewhere.example"},
        {"Origin": ORIGIN, "Sec-Fetch-Site": "same-site"},
        {},
    ],
    ids=str,
)
def test_a_confirmation_from_another_site_is_refused(
    ann: Creator, draft: Draft, headers: dict[str, str]
) -> None:
    token = hidden(ann.page(f"/drafts/{draft.id}/confirm"), "csrf_token")
    form = {"then": "publish", "revision": "1", "shown_hash": draft.content_hash}

    response = ann.client.post(
        f"/drafts/{draft.id}/confirm",
        base_url=ORIGIN,
        data=form | {"csrf_token": token},
        headers=headers,
    )

    assert response.status_code == 403
    assert untouched(ann, draft)


def test_a_bearer_token_does_not_even_see_the_page(app: Flask, ann: Creator, draft: Draft) -> None:
    token = {"Authorization": "Bearer askat_x"}

    assert ann.page(f"/drafts/{draft.id}/confirm", **token).status_code == 403
    assert app.test_client().get(f"/drafts/{draft.id}/confirm", headers=token).status_code == 403
