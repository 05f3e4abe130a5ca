"""A form without room: words are kept in their box, and the creator is told what to do."""

from typing import Any

import pytest
from flask import Flask

from tests.factories import make_answer, make_form
from tests.pages.creator import Creator
from tests.pages.respondent import Respondent, box, stored

WORDS = "More than there is room for"


@pytest.mark.settings(limit_form_bytes=10)
def test_the_words_stay_and_what_was_saved_can_be_sent(app: Flask, respondent: Respondent) -> None:
    respondent.answer(1, "Me")

    page = respondent.answer(2, WORDS)

    assert page.status_code == 422
    assert box(page) == WORDS
    assert "This form has no room for more answers." in page.text
    assert "Anything you saved before is safe" in page.text
    assert stored(app) == (1, 1)
    respondent.post("/q/2/skip", answer="")
    respondent.post("/check", name="")
    assert "This is what you sent" in respondent.post("/sent").text


@pytest.mark.settings(limit_form_bytes=10)
def test_it_is_told_in_the_language_of_the_page(respondent: Respondent) -> None:
    respondent.open("?lang=de")

    page = respondent.answer(1, WORDS)

    assert page.status_code == 422
    assert "Dieses Formular hat keinen Platz" in page.text


def form_with(app: Flask, creator: Creator, size: int) -> Any:
    with app.app_context():
        form = make_form(creator.account.id)
        make_answer(form, "a" * 32, text="x" * size)
    return form


@pytest.mark.settings(limit_form_bytes=1000)
@pytest.mark.parametrize(("size", "times"), [(799, 0), (800, 1)])
def test_the_creator_is_told_from_eighty_per_cent_on(
    size: int, times: int, app: Flask, ann: Creator
) -> None:
    form = form_with(app, ann, size)

    pages = [ann.client.get(f"/forms/{form.id}{view}").text for view in ("", "/people")]

    assert [page.count("LIMIT_FORM_BYTES") for page in pages] == [times] * 2


@pytest.mark.settings(limit_form_bytes=500_000)
def test_the_creator_is_told_how_full_it_is(app: Flask, ann: Creator) -> None:
    with app.app_context():
        form = make_form(ann.account.id)
        for number in range(21):
            make_answer(form, str(number).zfill(32), text="x" * 20_000)
    nearly = ann.client.get(f"/forms/{form.id}").text
    with app.app_context():
        make_answer(form, "y" * 32, text="x")
    full = ann.client.get(f"/forms/{form.id}").text
    share = ann.client.get(f"/forms/{form.id}/share").text

    assert "The answers fill 84 % of the room of this form." in nearly
    assert "This form is full." in full
    assert "It is out, but full." in share
    assert "Send it to someone" not in share
