"""How a model may behave, in code: each row of the table is refused by its check."""

import pytest

from tests.domain.follow_ups.written_questions import INTERVIEWS, make_thread, outcome, rows
from webapp.follow_ups import conduct
from webapp.follow_ups.guard import Check
from webapp.follow_ups.text import load
from webapp.records.languages import PHRASED


@pytest.mark.parametrize(("check", "language", "question"), rows("misconduct.txt"))
def test_what_is_out_of_line_is_refused(check: str, language: str, question: str) -> None:
    interview = INTERVIEWS[language]

    assert outcome(question, interview.thread, interview.context) is Check(check)


HEALTH = "Did you tell a doctor about the pain?"


@pytest.mark.parametrize(
    ("scripted", "answer", "title", "expected"),
    [
        ("How was your week?", "Bad.", "", Check.SPECIAL),
        ("How was your week?", "I was ill, the doctor came.", "", Check.SPECIAL),
        ("How was your health this week?", "Bad.", "", None),
        ("How was your week?", "Bad.", "Health at work", None),
        ("How was your week?", "Bad.", "Our hospital", None),
        ("How was it at church?", "Bad.", "Politics", Check.SPECIAL),  # another category
    ],
)
def test_a_special_category_is_named_after_the_form(
    scripted: str, answer: str, title: str, expected: Check | None
) -> None:
    assert outcome(HEALTH, make_thread(scripted, answer), title=title) is expected


@pytest.mark.parametrize(
    ("answer", "expected"), [("I never got my refund.", None), ("It broke.", Check.THREATS)]
)
def test_a_refund_is_asked_about_where_somebody_wrote_of_it(
    answer: str, expected: Check | None
) -> None:
    thread = make_thread("Why did you send it back?", answer)

    assert outcome("How long did you wait for the refund?", thread) is expected


@pytest.mark.parametrize("spelled", ["s t u p i d", "STUPID", "st\u00fcpid", "s-t-u-p-i-d"])
def test_the_spelling_of_a_word_is_no_matter(spelled: str) -> None:
    assert outcome(f"Was that not {spelled} of them?") is Check.ABUSE


@pytest.mark.parametrize("tag", PHRASED)
def test_the_lists_of_a_language_are_all_there(tag: str) -> None:
    lists = load(f"conduct/{tag}")
    known = {*conduct.NEVER, *conduct.SPECIAL, conduct.NAMES_HEALTH, conduct.ONLY_IF_SAID}
    grammar = {"openings", "asks", "joiners", "relatives", "preposed", "second"}

    assert known | grammar <= lists.keys()
    optional = {"frames"} | {f"{name}_parts" for name in known}
    assert lists.keys() <= known | grammar | optional
    assert all(isinstance(each, str) for each in lists.values())


def test_good_questions_pass() -> None:
    """99 of 100 at least: a refusal costs one question, and the rules decide."""
    asked = rows("good_questions.txt")
    refused = [
        (question, check)
        for language, question in asked
        if (check := outcome(question, INTERVIEWS[language].thread, INTERVIEWS[language].context))
    ]

    assert len(refused) <= len(asked) / 100, refused
