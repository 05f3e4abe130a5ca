"""A form without room: who comes is told at once, who is under way keeps their words, and the
creator is told what to do.
"""

from typing import Any

import pytest
from flask import Flask
from flask.testing import FlaskClient

from tests.factories import make_answer, make_form
from tests.pages.creator_client import Creator
from tests.pages.respondent_client import Respondent, box, heading, stored
from webapp.base.config import Settings
from webapp.base.limits import ANSWER_MAX_CHARS
from webapp.records.forms import BYTES_OF_CHAR

LONGEST = ANSWER_MAX_CHARS * BYTES_OF_CHAR
WORDS = "\U0001f600" * ANSWER_MAX_CHARS
NO_ROOM = "This form has no room for more answers."


@pytest.fixture
def settings(settings: Settings, request: pytest.FixtureRequest) -> Settings:
    """Forms with room for so many bytes, fewer than an operator may choose."""
    return settings.model_copy(update={"limit_form_bytes": request.param})


@pytest.mark.parametrize("settings", [LONGEST], indirect=True)
def test_the_text_stays_and_saved_answers_can_be_sent(app: Flask, respondent: Respondent) -> None:
    respondent.answer(1, "Me")

    page = respondent.answer(2, WORDS)

    assert page.status_code == 422
    assert box(page) == WORDS
    assert NO_ROOM in page.text
    assert "Anything you saved before is safe" in page.text
    assert stored(app) == (1, 1)
    respondent.post("/q/2/skip", answer="")
    respondent.post("/check", name="")
    assert "This is what you sent" in respondent.post("/sent").text


@pytest.mark.parametrize("settings", [LONGEST], indirect=True)
def test_text_typed_before_the_form_filled_up_is_kept(
    app: Flask, respondent: Respondent, form: Any
) -> None:
    fill(app, form)

    page = respondent.answer(1, WORDS)

    assert page.status_code == 422
    assert NO_ROOM in page.text
    assert box(page) == WORDS


@pytest.mark.parametrize("settings", [LONGEST], indirect=True)
def test_the_message_is_in_the_language_of_the_page(
    app: Flask, respondent: Respondent, form: Any
) -> None:
    fill(app, form)

    page = respondent.open("?lang=de")

    assert "Dieses Formular hat keinen Platz" in heading(page)


@pytest.mark.parametrize("settings", [LONGEST], indirect=True)
@pytest.mark.parametrize("path", ["", "/q/1", "/q/2"])
def test_new_visitors_are_told_before_they_write(
    app: Flask, client: FlaskClient, form: Any, path: str
) -> None:
    fill(app, form)

    page = client.get(f"/r/{form.share_token}{path}")

    assert page.status_code == 410
    assert heading(page) == NO_ROOM
    assert "Robin Example takes no more answers." in page.text
    assert "Continue" not in page.text


@pytest.mark.parametrize("settings", [LONGEST], indirect=True)
def test_respondents_with_a_session_continue_while_there_is_room(
    app: Flask, respondent: Respondent, form: Any
) -> None:
    respondent.answer(1, "Me")
    fill(app, form)

    assert heading(respondent.open()) == "What went wrong?"
    respondent.answer(2, "It ran twice.")
    thanks = respondent.post("/check", name="")

    assert "Thank you." in thanks.text
    assert "/another" not in thanks.text
    assert heading(respondent.post("/another")) == NO_ROOM


@pytest.mark.parametrize("settings", [LONGEST], indirect=True)
def test_a_form_with_room_again_accepts_new_respondents(
    app: Flask, client: FlaskClient, respondent: Respondent, form: Any
) -> None:
    respondent.answer(1, "Me")
    full = client.application.test_client().get(f"/r/{form.share_token}")

    respondent.post("/withdraw/now")
    empty = client.application.test_client().get(f"/r/{form.share_token}")

    assert [heading(page) for page in (full, empty)] == [NO_ROOM, "Who changed it?"]


@pytest.mark.parametrize("settings", [LONGEST], indirect=True)
def test_nobody_is_invited_to_answer(
    app: Flask, client: FlaskClient, respondent: Respondent, form: Any
) -> None:
    respondent.answer(1, "Me")
    fill(app, form)

    deleted = respondent.post("/withdraw/now")

    assert heading(deleted) == "Your answers are deleted."
    assert "Answer again" not in deleted.text
    assert "og:description" not in client.get(f"/r/{form.share_token}").text


def fill(app: Flask, form: Any) -> None:
    """Somebody else's answer leaves less than the room of a longest one."""
    with app.app_context():
        make_answer(form, "b" * 32, text="x")


def form_with(app: Flask, creator: Creator, size: int) -> Any:
    with app.app_context():
        form = make_form(creator.account.id)
        make_answer(form, "a" * 32, text="x" * size)  # 15 bytes more for the question
    return form


@pytest.mark.parametrize("settings", [1000], indirect=True)
@pytest.mark.parametrize(("size", "times"), [(784, 0), (785, 1)])
def test_the_creator_is_told_from_eighty_per_cent_on(
    size: int, times: int, app: Flask, ann: Creator
) -> None:
    form = form_with(app, ann, size)

    pages = [ann.client.get(f"/forms/{form.id}{view}").text for view in ("", "/people")]

    assert [page.count("LIMIT_FORM_BYTES") for page in pages] == [times] * 2


@pytest.mark.parametrize("settings", [500_315], indirect=True)
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
    assert "It’s live, but full." in share
    assert "Send it to someone" not in share
