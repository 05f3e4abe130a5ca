"""Answers as people put them, in the six languages: grave ones, refusals, and neither."""

import pytest

from tests.domain.follow_ups.written_questions import rows
from webapp.base.vocabulary import FollowUpMode
from webapp.follow_ups.rules import Decision, Exchange, Reason, Thread, decide
from webapp.follow_ups.signals import is_sensitive, is_silent
from webapp.follow_ups.text import read

SWITCH = "What made you switch?"
IS_SO = {
    "grave": is_sensitive,
    "not grave": lambda answer: not is_sensitive(answer),
    "refusal": lambda answer: decided(SWITCH, answer).reason is Reason.REFUSED,
    "wish": lambda answer: decided(SWITCH, answer).reason is not Reason.REFUSED,
    "silent": lambda answer: is_silent(read(answer)),
    "missing": lambda answer: (
        decided(SWITCH, answer).reason not in {Reason.NON_ANSWER, Reason.REFUSED}
    ),
}


def decided(question: str, answer: str) -> Decision:
    """The decision on the only answer to the only question of a form."""
    return decide(Thread(FollowUpMode.SMART, (Exchange(question, answer),), (question,)))


@pytest.mark.parametrize("kind", IS_SO)
def test_an_answer_is_what_people_take_it_for(kind: str) -> None:
    answers = [answer for is_, answer in rows("answers.txt") if is_ == kind]

    assert answers
    assert [answer for answer in answers if not IS_SO[kind](answer)] == []


@pytest.mark.parametrize(
    ("question", "answer"),
    [
        ("Do you have any allergies?", "No"),
        ("Are there any questions you have for us?", "no, thanks"),
        ("What else would you like to tell us?", "No"),
        ("Gibt es Unverträglichkeiten?", "nein"),
        ("Haben Sie noch Fragen an uns?", "Nein"),
        ("Avez-vous des questions pour nous ?", "non"),
        ("¿Tiene usted alguna pregunta para nosotros?", "no"),
        ("Você tem alguma pergunta para nós?", "não"),
        ("هل لديك أي أسئلة لنا؟", "لا"),
    ],
)
def test_nobody_is_asked_why_there_is_nothing(question: str, answer: str) -> None:
    assert decided(question, answer) == Decision(Reason.REFUSED)
