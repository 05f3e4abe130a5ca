"""Which replies of a model become a follow-up question."""

import json

import pytest
from hypothesis import example, given, settings, strategies as st

from tests.domain.follow_ups.written_questions import (
    ENGLISH,
    INTERVIEWS,
    make_thread,
    outcome,
    outcome_of,
    rows,
)
from webapp.base.vocabulary import FollowUpAuthor, FollowUpCondition
from webapp.follow_ups.guard import Unusable, checked
from webapp.follow_ups.messages import Brief
from webapp.follow_ups.rules import Decision, Exchange, Reason, Technique
from webapp.records.content.model import PreparedFollowUp

ASKED = "Could you say a bit more about that?"
FILLER = "What about the following matters, one by one and slowly"
UNSEEN = "\x00\u202e\u200b\u200d\xad\ud800\ue000"
QUESTIONS = [
    *rows("questions.txt"),
    *rows("misconduct.txt"),
    *(("fine", language, each) for language, of in INTERVIEWS.items() for each in of.harmless),
    *(("characters", "en", f"What was sl{char}ow then?") for char in UNSEEN),
    *(("lines", "en", f"What was slow{char}then?") for char in "\n\u2028"),
    *(("abuse", "en", f"Was that not {each} of them?") for each in ("s-t-u-p-i-d", "ST\u00fcPID")),
    ("leak", "ja", "大川部長は値上げと？"),
    ("fine", "en", f"{FILLER} {'o' * (198 - len(FILLER))}?"),
    ("length", "en", f"{FILLER} {'o' * (199 - len(FILLER))}?"),
    ("fine", "ar", "ماذا\u200cحدث بعد ذلك؟"),
]


@pytest.mark.parametrize("check", sorted({row[0] for row in QUESTIONS}))
def test_a_question_is_refused_by_its_check(check: str) -> None:
    for expected, language, question in QUESTIONS:
        if expected == check:
            interview = INTERVIEWS[language]
            found = outcome(question, interview.thread, interview.context) or "fine"
            assert found == check, question


HEALTH = "Did you tell a doctor about the pain?"


@pytest.mark.parametrize(
    ("scripted", "answer", "title", "expected"),
    [
        ("How was your week?", "Bad.", "", "special_category"),
        ("How was your week?", "I was ill, the doctor came.", "", "special_category"),
        ("How was your health this week?", "Bad.", "", None),
        ("How was your week?", "Bad.", "Health at work", None),
        ("How was it at church?", "Bad.", "Politics", "special_category"),  # another category
    ],
)
def test_a_special_category_is_named_after_the_form(
    scripted: str, answer: str, title: str, expected: str | None
) -> None:
    assert outcome(HEALTH, make_thread(scripted, answer), title=title) == expected


def test_good_questions_pass() -> None:
    """99 of 100 at least: a refusal costs one question, and the rules decide."""
    asked = rows("good_questions.txt")
    refused = [
        (question, check)
        for language, question in asked
        if (check := outcome(question, INTERVIEWS[language].thread, INTERVIEWS[language].context))
    ]

    assert len(refused) <= len(asked) / 100, refused


def test_a_refusal_carries_no_text() -> None:
    with pytest.raises(Unusable) as caught:
        checked('{"question": "Zanzibar', ENGLISH.thread, Brief("", None, "Zanzibar"))

    error = caught.value
    assert (str(error), error.args) == ("reply", ("reply",))
    assert (error.__cause__, error.__context__) == (None, None)


PREPARED = tuple(
    PreparedFollowUp(text=text, condition=FollowUpCondition.ALWAYS, prepared_by=author)
    for text, author in (
        ("See acme.example. Who decided it?", FollowUpAuthor.AGENT),
        ("Who else?", FollowUpAuthor.CREATOR),
    )
)


@pytest.mark.parametrize(
    ("chosen", "expected"),
    [
        ({"prepared": 2, "question": "Something of its own?"}, 1),
        ({"question": "WHO else?"}, 1),  # copied
        ({"prepared": 0, "question": ASKED}, None),
        ({"prepared": 3}, "reply"),
    ],
)
def test_a_prepared_question_is_asked_as_it_is(
    chosen: dict[str, object], expected: int | str | None
) -> None:
    thread = make_thread("Why did you go?", "Noise.", prepared=PREPARED)
    text = json.dumps({"action": "ask", "technique": "why"} | chosen)

    if isinstance(expected, str):
        assert outcome_of(text, thread) == expected
        return
    found = checked(text, thread, Brief("", None, "acme.example decided it"))
    if expected is None:
        assert found == Decision(Reason.CHOSEN_BY_MODEL, Technique.WHY, ASKED)
    else:
        asked, author = PREPARED[expected]["text"], PREPARED[expected]["prepared_by"]
        assert found == Decision(Reason.CHOSEN_BY_MODEL, Technique.PREPARED, asked, author)


@pytest.mark.parametrize(
    ("tag", "question", "expected"),
    [
        ("de-CH", "Was war daran für Sie so langsam?", None),
        ("de", "What was so slow about it for you?", "language"),
        ("", "Was war daran für Sie so langsam?", None),
        ("nl", "What was so slow about it for you?", "language"),
    ],
)
def test_the_language_is_that_of_the_form(tag: str, question: str, expected: str | None) -> None:
    assert outcome(question, make_thread("Tool?", "Slow.", language=tag)) == expected


ANSWER = "we moved because the contract ended and nobody wanted to sign a new one"


@pytest.mark.parametrize(
    ("question", "expected"),
    [
        ("You say the contract ended and nobody wanted. Who decided?", None),
        ("You say the contract ended and nobody wanted to. Who decided?", "copied"),
    ],
)
def test_little_is_copied_from_the_answer(question: str, expected: str | None) -> None:
    assert outcome(question, make_thread("What made you switch?", ANSWER)) == expected


@pytest.mark.parametrize("language", ["en", "de", "es", "fr", "pt_BR"])
@pytest.mark.parametrize("name", ["Okafor", "0kaf0r", "14"])
def test_the_context_does_not_leak(language: str, name: str) -> None:
    interview = INTERVIEWS[language]
    question = interview.harmless[0].replace("?", f" {name}?")

    assert outcome(question, interview.thread, interview.context) == "leak"


def test_what_a_model_asked_before_makes_nothing_known() -> None:
    told = "Would a rebate of 17 euros help?"
    thread = make_thread("Why?", "So.", questions=("Why?", told), written=(told,))

    assert outcome("Is 17 too much?", thread, "A rebate of 17 euros.") == "leak"


@pytest.mark.parametrize(
    ("first", "corrected", "expected"),
    [
        ("It was fine.", False, "leak"),
        ("I waited for a rebate there.", False, None),
        ("I waited for a rebate there.", True, "leak"),  # they may have written it afterwards
    ],
)
def test_who_repeats_a_word_of_a_question_did_not_know_it(
    first: str,
    corrected: bool,  # noqa: FBT001
    expected: str | None,
) -> None:
    told = "Would a rebate help?"
    exchanges = (
        Exchange("Why?", first),
        Exchange(told, "I cannot say what the rebate would change."),
    )
    asked = {"questions": ("Why?", told), "written": (told,), "corrected": corrected}
    thread = make_thread("", "", exchanges=exchanges, **asked)

    assert outcome("How was the merger for you?", thread, "The rebate, the merger.") == expected


def test_the_whole_context_is_looked_at() -> None:
    context = "We lose customers every day. " * 400 + "They leave for Nordwind."

    assert outcome("What did Nordwind do for you?", context=context) == "leak"


@settings(max_examples=40, deadline=None)
@given(
    st.text(max_size=300),
    st.lists(st.tuples(st.text(max_size=80), st.text(max_size=300)), min_size=1, max_size=4),
    st.text(max_size=300),
)
@example("\ud800?", [("\ud800", "\ud800")], "\ud800")
@example("Ａ?", [("", "")], "")
def test_nothing_but_a_refusal_is_raised(
    question: str, exchanges: list[tuple[str, str]], context: str
) -> None:
    thread = make_thread("", "", exchanges=tuple(Exchange(*each) for each in exchanges))

    outcome(question, thread, context)
    outcome_of(question, thread, context)
