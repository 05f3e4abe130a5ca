"""The list of forms, one form with its link and its end, the trash, and copies."""

from typing import Any

import pytest
from flask import Flask

from tests.pages.creator_client import ORIGIN, Creator, plain
from webapp.base.vocabulary import FormStatus
from webapp.records import drafts, forms
from webapp.records.content.model import snapshot
from webapp.records.drafts import Draft


@pytest.fixture
def form(ann: Creator) -> Any:
    return ann.form(title="Rota talks", context="canary")


def status(ann: Creator, form: Any) -> FormStatus:
    with ann.context():
        found: FormStatus = forms.get_form(form.account_id, form.id).status
        return found


def test_the_share_page_gives_link_code_and_a_mail_without_markup(ann: Creator) -> None:
    form = ann.form(title='Rota & "co" <b>?body=x', context="canary")

    page = ann.page(f"/forms/{form.id}/share").text

    assert f'value="{ORIGIN}/r/{form.share_token}"' in page
    assert "<svg" in page.partition('class="qr"')[2]
    assert "canary" not in page
    mail = page.partition('href="mailto:')[2].partition('"')[0]
    assert mail.startswith("?subject=Rota%20%26%20%22co%22%20%3Cb%3E%3Fbody%3Dx&amp;body=")
    assert form.share_token in mail


FORM_PAGES = [
    *("", "/code.svg", "/code.png", "/settings", "/share", "/people", "/questions/1", "/new"),
    *("/delete", "/export.csv", "/export-by-person.csv", "/export.json", "/automated/delete"),
]
DRAFT_PAGES = [
    *("", "/confirm", "/preview", "/title", "/title/edit", "/context", "/context/edit", "/try"),
    *("/questions", "/questions/new", "/questions/1/edit", "/questions/1/remove"),
    *("/questions/row", "/history", "/now", "/rev", "/return", "/return/edit"),
]
FORM_STEPS = ["/close", "/reopen", "/delete", "/restore", "/copy", "/erase", "/embedding", "/read"]
DRAFT_STEPS = [
    *("/confirm", "/discard", "/seen", "/title", "/context", "/settings", "/questions", "/try"),
    *("/questions/1", "/questions/1/remove", "/questions/1/position", "/restore", "/return"),
    *("/changes/1/put-back", "/changes/1/accept", "/keep"),
]


@pytest.fixture
def draft(ann: Creator) -> Draft:
    return ann.draft()


@pytest.mark.parametrize(
    "path",
    [
        *(f"/forms/{{form}}{page}" for page in FORM_PAGES),
        *(f"/drafts/{{draft}}{page}" for page in DRAFT_PAGES),
    ],
)
def test_pages_of_another_creator_are_not_there(
    app: Flask, ann: Creator, stranger: Creator, draft: Draft, form: Any, path: str
) -> None:
    own = path.format(form=form.id, draft=draft.id)

    assert ann.page(own).status_code in {200, 204, 303}
    assert stranger.page(own).status_code == stranger.swap(own).status_code == 404
    assert app.test_client().get(own).location.startswith("/login")
    for listed in ("/forms", "/drafts"):
        assert "Rota" in ann.page(listed).text
        assert "Rota" not in stranger.page(listed).text


@pytest.mark.parametrize(
    "path",
    [
        *(f"/forms/{{form}}{step}" for step in FORM_STEPS),
        *(f"/drafts/{{draft}}{step}" for step in DRAFT_STEPS),
    ],
)
def test_actions_of_another_creator_are_not_found(
    ann: Creator, stranger: Creator, draft: Draft, form: Any, path: str
) -> None:
    own = path.format(form=form.id, draft=draft.id)
    before = ann.page(f"/drafts/{draft.id}").text

    response = stranger.post(own, text="x", revision=1, shown_hash=draft.content_hash)

    assert response.status_code == 404
    assert plain(ann.page(f"/drafts/{draft.id}").text) == plain(before)
    assert status(ann, form) is FormStatus.PUBLISHED


def test_only_a_form_in_the_trash_is_erased_by_its_creator(
    ann: Creator, stranger: Creator, form: Any
) -> None:
    address = f"/forms/{form.id}/erase"
    asked, sent = ann.page(address), ann.post(address)
    ann.post(f"/forms/{form.id}/delete")

    assert (asked.status_code, asked.location) == (303, f"/forms/{form.id}")
    assert sent.status_code == 404
    assert stranger.page(address).status_code == stranger.post(address).status_code == 404
    assert ann.post(address, csrf_token="").status_code == 400
    assert ann.post(f"/forms/{form.id}/restore").status_code == 303


@pytest.mark.parametrize(
    ("title", "copied"),
    [
        ("Rota talks", "Copy of Rota talks"),
        ("x" * 112, "Copy of " + "x" * 112),
        ("x" * 113, "Copy of " + "x" * 111 + "…"),
    ],
)
def test_a_copy_says_whose_copy_it_is(ann: Creator, title: str, copied: str) -> None:
    smart = {"goal": "Learn", "context": "the reason", "followUpMode": "smart"}
    form = ann.form(title=title, **smart, maxTotalQuestions=4)

    place = ann.post(f"/forms/{form.id}/copy").location
    page = ann.page(place).text
    with ann.context():
        copy = drafts.get_draft(ann.account.id, place.split("/")[2].partition("?")[0])
        assert snapshot(copy) | {"title": title} == snapshot(form)

    assert f"<title>{copied} · Askback</title>" in page
    assert "made from a form" in page
    assert "made from a form" not in ann.page(place.partition("?")[0]).text
