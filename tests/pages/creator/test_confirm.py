"""Confirmation: only from the creator's browser, only for the content shown."""

import re
from typing import Any

import pytest
from flask import Flask

from tests.factories import make_draft
from tests.pages.creator.test_draft import by_agent, stored
from tests.pages.creator_client import ORIGIN, Creator, hidden, plain
from tests.pages.respondent_client import storage_away
from webapp.base.vocabulary import DraftStatus
from webapp.drafts import confirmations
from webapp.drafts.confirmations import ConfirmationRow
from webapp.records.drafts import Draft


@pytest.fixture
def draft(app: Flask, ann: Creator) -> Draft:
    with app.app_context():
        return make_draft(ann.account.id, context="Two cafés left", goal="Learn")


def confirmation(app: Flask, draft: Draft) -> ConfirmationRow | None:
    with app.app_context():
        return confirmations.find_confirmation(draft.id)


def say_yes(ann: Creator, draft: Draft, **changed: Any) -> Any:
    form = {"then": "publish", "revision": draft.revision, "shown_hash": draft.content_hash}
    return ann.post(f"/drafts/{draft.id}/confirm", **form | changed)


def untouched(app: Flask, draft: Draft) -> bool:
    return stored(app, draft).status is DraftStatus.DRAFT and confirmation(app, draft) is None


def test_publish_now_makes_the_form_and_shows_its_link(
    app: Flask, ann: Creator, draft: Draft
) -> None:
    response = say_yes(ann, draft)

    page = ann.page(response.location)
    assert response.status_code == 303
    assert stored(app, draft).status is DraftStatus.PUBLISHED
    assert f"{ORIGIN}/r/" in page.text
    assert re.search(r"Robin Example revision 1, \d+ \w+, \d\d:\d\d UTC", plain(page.text))


def test_letting_the_agent_publish_only_confirms(app: Flask, ann: Creator, draft: Draft) -> None:
    response = say_yes(ann, draft, then="agent")

    found = confirmation(app, draft)
    assert response.location == f"/drafts/{draft.id}"
    assert stored(app, draft).status is DraftStatus.DRAFT
    assert found is not None
    assert found.content_hash == draft.content_hash


def test_a_change_withdraws_the_confirmation_on_the_open_page(ann: Creator, draft: Draft) -> None:
    say_yes(ann, draft, then="agent")

    saved = ann.post(f"/drafts/{draft.id}/title", htmx=True, revision=1, text="New").text

    assert 'id="confirm-button"' in saved
    assert 'name="revision" value="2"' in saved.partition('id="decision"')[2]
    assert "Changed since you confirmed it" in saved
    assert "You have confirmed this." not in saved


def test_a_get_never_confirms(app: Flask, ann: Creator, draft: Draft) -> None:
    query = f"?then=publish&revision=1&shown_hash={draft.content_hash}"

    ann.page(f"/drafts/{draft.id}/confirm{query}")
    ann.client.head(f"/drafts/{draft.id}/confirm{query}", base_url=ORIGIN)

    assert untouched(app, draft)


def test_a_changed_draft_is_shown_and_not_published(app: Flask, ann: Creator, draft: Draft) -> None:
    ann.page(f"/drafts/{draft.id}/confirm")
    by_agent(app, draft, title="Bait")

    response = say_yes(ann, draft)

    words = plain(response.text)
    assert response.status_code == 409
    assert "Nothing was published." in words
    assert "1 change since revision 1" in words
    assert "removed: Rota added: Bait" in words
    assert untouched(app, draft)


def test_the_second_yes_is_for_the_revision_just_read(
    app: Flask, ann: Creator, draft: Draft
) -> None:
    by_agent(app, draft, title="Bait")
    stale = say_yes(ann, draft)

    again = say_yes(
        ann, draft, revision=hidden(stale, "revision"), shown_hash=hidden(stale, "shown_hash")
    )

    assert again.location.startswith("/forms/")
    assert stored(app, draft).status is DraftStatus.PUBLISHED


@pytest.mark.parametrize(
    "forged",
    [{"shown_hash": "0" * 64}, {"shown_hash": ""}, {"revision": 2}, {"revision": "x"}],
    ids=str,
)
def test_a_confirmation_of_other_content_does_not_count(
    app: Flask, ann: Creator, draft: Draft, forged: dict[str, Any]
) -> None:
    response = say_yes(ann, draft, **forged)

    assert response.status_code == 409
    assert "Nothing was published." in response.text
    assert 'name="then"' not in response.text
    assert untouched(app, draft)


def test_what_changed_meanwhile_is_put_back_and_read_again(
    app: Flask, ann: Creator, draft: Draft
) -> None:
    by_agent(app, draft, title="Bait", goal="Sell")
    stale = say_yes(ann, draft)
    actions = re.findall('action="(/drafts/[^"]*/put-back)"', stale.text)

    sent = ann.post(actions[0], revision=hidden(stale, "revision"), since=hidden(stale, "since"))

    kept = stored(app, draft)
    assert "Undo this change Title" in plain(stale.text)
    assert len(actions) == 2
    assert (kept.title, kept.goal, kept.revision) == (draft.title, "Sell", 3)
    assert sent.location.startswith(f"/drafts/{draft.id}?")
    assert confirmation(app, draft) is None


def test_a_storage_that_is_away_offers_the_same_yes_again(
    app: Flask, ann: Creator, draft: Draft
) -> None:
    ann.post("/nowhere")  # has fetched its token then
    with storage_away(app):
        refused = say_yes(ann, draft)

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
    assert stored(app, draft).status is DraftStatus.PUBLISHED


def test_an_incomplete_draft_lists_what_is_missing(app: Flask, ann: Creator) -> None:
    with app.app_context():
        draft = make_draft(ann.account.id, title=" ", questions=["A?", ""])

    page = ann.page(f"/drafts/{draft.id}/confirm")
    response = say_yes(ann, draft)

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
    assert untouched(app, draft)


@pytest.mark.parametrize(
    "headers",
    [
        {"Authorization": "Bearer askat_x", "Origin": ORIGIN},
        {"Authorization": "Basic eDp5", "Origin": ORIGIN},
        {"Origin": "https://elsewhere.example"},
        {"Origin": "null"},
        {"Origin": ORIGIN, "Sec-Fetch-Site": "cross-site"},
        {"Origin": ORIGIN, "Sec-Fetch-Site": "same-site"},
        {},
    ],
    ids=str,
)
def test_a_confirmation_from_another_site_is_refused(
    app: Flask, ann: Creator, draft: Draft, headers: dict[str, str]
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
    assert untouched(app, draft)


def test_a_bearer_token_does_not_even_see_the_page(app: Flask, ann: Creator, draft: Draft) -> None:
    token = {"Authorization": "Bearer askat_x"}

    assert ann.page(f"/drafts/{draft.id}/confirm", **token).status_code == 403
    assert app.test_client().get(f"/drafts/{draft.id}/confirm", headers=token).status_code == 403
