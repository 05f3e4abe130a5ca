"""What follows from an answer where no model writes."""

import random

import pytest
from hypothesis import given, strategies as st

from tests.domain.follow_ups.written_questions import rows as rows_of
from webapp.base.vocabulary import (
    FollowUpAuthor,
    FollowUpCondition,
    FollowUpMode,
    ResponseLimit,
    ResponseMode,
)
from webapp.follow_ups.lexicon import load
from webapp.follow_ups.rules import (
    Decision,
    Exchange,
    Reason,
    Technique,
    Thread,
    decide,
    ending,
    holding,
    most_asked,
)
from webapp.follow_ups.signals import is_sensitive, is_silent, leaves_room
from webapp.follow_ups.text import read
from webapp.records.content.model import FormSettings, PreparedFollowUp, QuestionRow
from webapp.records.languages import OTHER, PHRASED, recognise

SMART, DEEP, NONE = FollowUpMode.SMART, FollowUpMode.DEEP_DIVE, FollowUpMode.NONE
OPEN = "What was the move like?"
DAILY = "Do you use it daily?"
EVERY = tuple(FollowUpCondition)
MORE = {tag: load(f"words/{tag}")["say_more"] for tag in PHRASED}
QUESTIONS = {
    "en": OPEN,
    "es": "¿Cómo fue el cambio de proveedor?",
    "de": "Wie haben Sie den Wechsel erlebt?",
    "fr": "Comment avez-vous vécu le changement ?",
    "pt-BR": "Como foi a mudança de fornecedor?",
    "ar": "كيف كانت تجربتك مع التغيير؟",
}


def prepared(*conditions: str) -> tuple[PreparedFollowUp, ...]:
    return tuple(
        PreparedFollowUp(
            text=f"{number}?",
            condition=FollowUpCondition(condition),
            prepared_by=FollowUpAuthor.AGENT,
        )
        for number, condition in enumerate(conditions)
    )


def thread(answer: str, question: str = OPEN, language: str = "en", **changed: object) -> Thread:
    return Thread(DEEP, (Exchange(question, answer),), (question,), language=language)._replace(
        **changed  # type: ignore[arg-type]
    )


LIST = "- the price is too high for us\n- nobody ever answers"


@pytest.mark.parametrize(
    ("held", "question", "answer"),
    [*rows_of("conditions.txt"), ("always if_several", OPEN, LIST)],
)
def test_a_condition_is_about_the_answer_to_the_scripted_question(
    held: str, question: str, answer: str
) -> None:
    asked = thread(answer, question, recognise(question), prepared=prepared(*EVERY))
    later = asked._replace(exchanges=(*asked.exchanges, Exchange("0?", "Well, that took a while.")))

    for each in (asked, later):
        assert (" ".join(found["condition"] for found in holding(each)) or "-") == held


def test_the_first_whose_condition_holds_is_asked_as_it_is() -> None:
    asked = thread("Slow", prepared=prepared("if_no", "if_short", "always"))
    how = FollowUpCondition.IF_SHORT, Technique.PREPARED

    assert decide(asked) == Decision(*how, "1?", FollowUpAuthor.AGENT)


@pytest.mark.parametrize(
    ("last", "reason"),
    [
        ("...", Reason.EMPTY),
        ("bla bla bla bla bla bla", Reason.JUNK),
        ("I'd rather not say", Reason.REFUSED),
        ("My father died in March", Reason.SENSITIVE),
        ("no idea", Reason.THIN_TWICE),
    ],
)
def test_an_answer_ends_its_thread_for_rules_and_model(last: str, reason: Reason) -> None:
    exchanges = (Exchange(OPEN, "Slow"), Exchange("0?", last))
    asked = thread("", exchanges=exchanges, depth=1, prepared=prepared("always"))

    assert (ending(asked), decide(asked)) == (reason, Decision(reason))
    assert decide(asked._replace(language="")).reason is reason


@pytest.mark.parametrize("language", PHRASED)
def test_a_thin_answer_is_asked_for_more_in_its_language(language: str) -> None:
    asked = thread("Barcelona", QUESTIONS[language], language)

    assert decide(asked) == Decision(Reason.SHORT, Technique.ELABORATE, MORE[language])
    assert MORE[language].rstrip()[-1] in "?؟"


@pytest.mark.parametrize(
    ("answer", "reason", "asks"),
    [
        ("Slow", Reason.SHORT, True),
        ("I do not know", Reason.NON_ANSWER, True),
        ("nothing", Reason.NON_ANSWER, False),
        ("12 km", Reason.FACT, False),
        ("It took the whole of March", Reason.RICH, False),
    ],
)
def test_only_a_thin_answer_is_asked_for_more(answer: str, reason: Reason, *, asks: bool) -> None:
    for mode in (SMART, DEEP):
        decision = decide(thread(answer, mode=mode))
        assert (decision.reason, bool(decision.question)) == (reason, asks)


def test_facts_reasons_and_invitations_leave_no_room() -> None:
    assert [row for row in rows_of("no_room.txt") if leaves_room(row[1], row[0])] == []
    assert all(leaves_room(question, language) for language, question in QUESTIONS.items())


SETTINGS = FormSettings(DEEP, ResponseMode.TEXT_ONLY, ResponseLimit.MULTIPLE, 5, None)


def rows(*conditions: str, text: str = OPEN) -> list[QuestionRow]:
    """A question for each, with follow-ups for these conditions."""
    made = []
    for each in conditions:
        row = QuestionRow(id="q", text=text)
        if each:
            row["follow_ups"] = [*prepared(*each.split())]
        made.append(row)
    return made


@pytest.mark.parametrize(
    ("questions", "changed", "most"),
    [
        (rows("always if_short if_several"), {}, 4),
        (rows("always if_short if_several"), {"follow_up_mode": SMART}, 2),
        (rows("always", "always always", ""), {"max_total_questions": 1}, 3),
        (rows("", "", ""), {"max_followups_per_question": 0}, 3),
        (rows("", text=DAILY), {}, 1),
        (rows("always"), {"language": OTHER}, 2),
    ],
)
def test_the_most_of_questions_is_what_can_be_asked(
    questions: list[QuestionRow], changed: dict[str, object], most: int
) -> None:
    language = str(changed.pop("language", "en"))

    assert most_asked(questions, language, SETTINGS._replace(**changed)) == most


@given(st.text(max_size=300), st.text(max_size=100), st.sampled_from([*PHRASED, "", "xx"]))
def test_nothing_raises(question: str, answer: str, language: str) -> None:
    asked = thread(answer, question, language, prepared=prepared(*EVERY))

    assert decide(asked) == decide(asked)
    assert decide(asked._replace(prepared=())).reason


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
    answers = [answer for is_, answer in rows_of("answers.txt") if is_ == kind]

    assert answers
    assert [answer for answer in answers if not IS_SO[kind](answer)] == []


@pytest.mark.parametrize(("question", "answer"), rows_of("nothing_to_add.txt"))
def test_nobody_is_asked_why_there_is_nothing(question: str, answer: str) -> None:
    assert decided(question, answer) == Decision(Reason.REFUSED)


CHARS = 10_000
PLAIN = "I like the colors and the layout of the page very much"
RANDOM = random.Random(12)  # noqa: S311
HOSTILE = {
    "blanks": " ",
    "combining marks": "\u0301\u0323",
    "characters that become eighteen": "\ufdfa",
    "different Han": "".join(chr(0x4E00 + i) for i in range(CHARS)),
    "any letters beyond": "".join(chr(RANDOM.randrange(0x10000, 0x10FFFF)) for _ in range(CHARS)),
}


@pytest.mark.parametrize("part", HOSTILE.values(), ids=HOSTILE)
def test_long_texts_are_decided_about(part: str) -> None:
    text = (part * (CHARS // len(part) + 1))[:CHARS]
    for asked, said in ((SWITCH, text), (text, PLAIN)):
        exchange = Exchange(asked, said)
        decide(Thread(FollowUpMode.DEEP_DIVE, (exchange, exchange), (asked,) * 40))
