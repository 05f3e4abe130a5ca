"""Messages at the settings of a draft."""

import pytest
from flask import Flask

from tests.pages.creator.test_draft import CHOSEN, stored, written
from tests.pages.creator_client import Creator


@pytest.mark.parametrize("name", ["maxFollowupsPerQuestion", "maxTotalQuestions"])
@pytest.mark.parametrize(
    ("value", "reason"),
    [
        ("abc", "Enter a whole number, or leave it empty."),
        ("-1", "Enter a whole number, or leave it empty."),
        ("51", "Enter a whole number up to 50, or leave it empty."),
    ],
)
def test_the_reason_of_a_refused_number_stands_at_its_field(
    name: str, value: str, reason: str, app: Flask, ann: Creator
) -> None:
    draft = written(app, ann)

    page = ann.post(f"/drafts/{draft.id}/settings", revision=1, **CHOSEN | {name: value}).text

    field = page.partition(f' for="{name}"')[2].partition(">\n  </div>")[0]
    assert reason in field
    assert f'aria-describedby="{name}-message {name}-hint" aria-invalid="true"' in field
    assert page.count("aria-invalid") == 1


def test_a_swap_says_what_is_wrong_at_the_field_and_that_nothing_was_saved(
    app: Flask, ann: Creator
) -> None:
    draft = written(app, ann)
    wrong = CHOSEN | {"maxTotalQuestions": "abc"}

    refused = ann.post(f"/drafts/{draft.id}/settings", htmx=True, revision=1, **wrong).text
    saved = ann.post(f"/drafts/{draft.id}/settings", htmx=True, revision=1, **CHOSEN).text

    assert "Enter a whole number" in refused.partition('id="maxTotalQuestions-message"')[2]
    assert "Enter a whole number" not in refused.partition('id="maxTotalQuestions-message"')[0]
    assert "Not saved." in refused
    assert 'id="maxTotalQuestions-message"' in saved
    assert "field__error" not in saved


@pytest.mark.parametrize(("most", "told"), [(1, True), (2, False), (None, False)])
def test_a_cap_below_the_number_of_questions_says_that_all_are_asked(
    most: int | None, app: Flask, ann: Creator, *, told: bool
) -> None:
    draft = written(app, ann, questions=["One?", "Two?"])
    number = {"maxTotalQuestions": "" if most is None else str(most)}

    answer = ann.post(f"/drafts/{draft.id}/settings", htmx=True, revision=1, **CHOSEN | number)

    said = "This is less than the 2 questions you wrote. They are asked all the same."
    assert (said in answer.text) is told
    assert (said in ann.page(f"/drafts/{draft.id}").text) is told


@pytest.mark.parametrize(
    ("chosen", "told"),
    [
        ({"followUpMode": "none"}, "Each person gets 2 questions."),
        ({"maxTotalQuestions": "5"}, "Each person gets at most 3 questions."),
        ({"maxTotalQuestions": "2"}, "Your limits leave no room for follow-up questions."),
    ],
)
def test_what_each_person_gets_follows_from_all_settings(
    app: Flask, ann: Creator, chosen: dict[str, str], told: str
) -> None:
    draft = written(app, ann)

    saved = ann.post(f"/drafts/{draft.id}/settings", htmx=True, revision=1, **CHOSEN | chosen)

    limit = saved.text.partition('id="question-limit"')[2]
    assert told in limit
    assert "at most" not in limit or chosen.get("maxTotalQuestions") == "5"


@pytest.mark.parametrize("htmx", [False, True])
def test_smart_asks_for_the_private_context_and_saves_both(
    app: Flask, ann: Creator, *, htmx: bool
) -> None:
    draft = written(app, ann)
    smart = CHOSEN | {"followUpMode": "smart"}

    asked = ann.post(f"/drafts/{draft.id}/settings", htmx=htmx, revision=1, **smart)
    blank = ann.post(f"/drafts/{draft.id}/settings", htmx=htmx, revision=1, context=" ", **smart)
    long = "x" * 5001
    refused = ann.post(f"/drafts/{draft.id}/settings", htmx=htmx, revision=1, context=long, **smart)
    both = ann.post(
        f"/drafts/{draft.id}/settings", htmx=htmx, revision=1, context="Two cafés close.", **smart
    )

    assert [each.status_code for each in (asked, blank, refused)] == [422] * 3
    for page in (asked, blank, refused):
        assert 'name="context"' in page.text
    assert "field__error" not in asked.text + blank.text
    assert long in refused.text
    assert both.status_code == (200 if htmx else 303)
    saved = stored(app, draft)
    assert (saved.revision, saved.follow_up_mode) == (2, "smart")
    assert saved.private_context == "Two cafés close."
