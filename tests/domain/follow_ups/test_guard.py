"""Which replies of a model become a follow-up question."""

import time

import pytest
from hypothesis import example, given, settings
from hypothesis import strategies as st

from tests.domain.follow_ups.written_questions import (
    ENGLISH,
    INTERVIEWS,
    Interview,
    make_thread,
    reply,
)
from webapp.domain.follow_ups.guard import Check, Unusable, checked, similarity
from webapp.domain.follow_ups.thread import Decision, Exchange, Reason, Technique, Thread

ASKED = "Could you say a bit more about that?"
HARMLESS = [
    pytest.param(interview, question, id=f"{language}: {question}")
    for language, interview in INTERVIEWS.items()
    for question in interview.harmless
]


def outcome(question: str, thread: Thread = ENGLISH.thread, context: str = "") -> Check | None:
    return outcome_of(reply(question), thread, context)


def outcome_of(text: str, thread: Thread = ENGLISH.thread, context: str = "") -> Check | None:
    try:
        checked(text, thread, context=context)
    except Unusable as unusable:
        return unusable.check
    return None


@pytest.mark.parametrize(("interview", "question"), HARMLESS)
def test_harmless_questions_pass(interview: Interview, question: str) -> None:
    found = checked(reply(question), interview.thread, context=interview.context)

    assert found == Decision(Reason.CHOSEN_BY_MODEL, Technique.WHY, question)


def test_there_are_harmless_questions_in_every_language() -> None:
    assert len(HARMLESS) >= 50
    assert all(interview.harmless for interview in INTERVIEWS.values())


def test_a_stop_is_a_stop() -> None:
    stop = checked(reply("", "why", "stop"), ENGLISH.thread, context="")

    assert stop == Decision(Reason.STOPPED_BY_MODEL)


def test_what_is_no_reply_is_refused() -> None:
    assert outcome_of("stop") is Check.REPLY


def test_a_refusal_carries_no_text() -> None:
    with pytest.raises(Unusable) as caught:
        checked('{"question": "Zanzibar', ENGLISH.thread, context="Zanzibar")

    error = caught.value
    assert (str(error), error.args, error.__cause__, error.__context__) == (
        "reply",
        ("reply",),
        None,
        None,
    )


FILLER = "What about the following matters, one by one and slowly"


@pytest.mark.parametrize(
    ("question", "expected"),
    [
        ("", Check.LENGTH),
        ("   ", Check.LENGTH),
        (f"{FILLER} {'o' * (198 - len(FILLER))}?", None),
        (f"{FILLER} {'o' * (199 - len(FILLER))}?", Check.LENGTH),
        ("What was slow?\nWhat else", Check.LINES),
        ("What was slow\u2028then?", Check.LINES),
        ("What was slow\x0bthen?", Check.LINES),
        ("  What was slow then?\n", None),
        ("What was\tslow then?", Check.CHARACTERS),
        ("What was\x00 slow then?", Check.CHARACTERS),
        ("What was \u202eslow then?", Check.CHARACTERS),
        ("What was \u2066slow then?", Check.CHARACTERS),
        ("What was \u061cslow then?", Check.CHARACTERS),
        ("What was sl\u200bow then?", Check.CHARACTERS),
        ("What was sl\u200dow then?", Check.CHARACTERS),
        ("What was sl\u00adow then?", Check.CHARACTERS),
        ("What was sl\ufe0fow then?", Check.CHARACTERS),
        ("What was sl\ufeffow then?", Check.CHARACTERS),
        ("What was slow then \ud800?", Check.CHARACTERS),
        ("What was slow then \ue000?", Check.CHARACTERS),
        ("What was slow then 🙂?", Check.CHARACTERS),
        ("What was <b>slow</b> then?", Check.CHARACTERS),
        ("What was **slow** then?", Check.CHARACTERS),
        ("What was _slow_ then?", Check.CHARACTERS),
        ("What was `slow` then?", Check.CHARACTERS),
        ("What was [slow] then?", Check.CHARACTERS),
        ("# What was slow then?", Check.CHARACTERS),
        ("What was {slow} then?", Check.CHARACTERS),
        ("What was C:\\slow then?", Check.CHARACTERS),
        ("What is slow = then?", Check.CHARACTERS),
        ("What cost 50 € or 60 % more then, and/or less?", None),
    ],
)
def test_length_lines_and_characters(question: str, expected: Check | None) -> None:
    assert outcome(question) is expected


@pytest.mark.parametrize(
    ("question", "expected"),
    [
        ("Tell me more.", Check.ONE_QUESTION),
        ("What was slow? And why?", Check.ONE_QUESTION),
        ("What was slow??", Check.ONE_QUESTION),
        ("What was slow⁇", Check.CHARACTERS),
        ("What was slow? Please tell.", Check.ONE_QUESTION),
        ("What was slow？ And why?", Check.ONE_QUESTION),
        ("What was slow; and why;", Check.ONE_QUESTION),
        ("That is fine. What comes to mind?", None),
        ("What was slow then (if anything?)", None),
    ],
)
def test_exactly_one_question(question: str, expected: Check | None) -> None:
    assert outcome(question) is expected


@pytest.mark.parametrize(
    ("language", "question", "expected"),
    [
        ("es", "¿Qué pasó? ¿Y por qué?", Check.ONE_QUESTION),
        ("ar", "ماذا حدث؟ ولماذا؟", Check.ONE_QUESTION),
        ("ar", "ماذا\u200cحدث بعد ذلك؟", None),  # joiners belong to the spelling of some languages
        ("el", "Τι έγινε; Και γιατί;", Check.ONE_QUESTION),
        ("el", "Τι έγινε μετά\u037e", None),
        ("el", "Τι έγινε μετά?", None),
        ("ja", "それはいつでしたか？なぜですか？", Check.ONE_QUESTION),
        ("ja", "それはいつでしたか", Check.ONE_QUESTION),
        ("hi", "फिर क्या हुआ?", None),
    ],
)
def test_exactly_one_question_in_any_script(
    language: str, question: str, expected: Check | None
) -> None:
    assert outcome(question, INTERVIEWS[language].thread) is expected


@pytest.mark.parametrize(
    "question",
    [
        "Could you look at https://example.com/a then?",
        "Could you look at www.example then?",
        "Could you look at example.com then?",
        "Could you look at Example.Rocks then?",
        "Could you look at example dot com then?",
        "Could you look at example．com then?",
        "Could you look at 10.0.0.1 then?",
        "Could you call +49 (151) 234-5678 then?",
        "Could you run /etc/passwd then?",
        "Could you use mailto:somebody then?",
    ],
)
def test_addresses_are_refused(question: str) -> None:
    assert outcome(question) is Check.ADDRESS


def test_mail_addresses_are_refused() -> None:
    assert outcome("Could you write to me@example.com then?") is Check.CHARACTERS


@pytest.mark.parametrize(
    "question",
    [
        "- What was slow then?",
        "1. What was slow then?",
        "What was &lt;slow then?",
        "What was slow // then?",
        "What was slow -- then?",
        "What does print() do then?",
        "What does print(context) do then?",
    ],
)
def test_markup_and_code_are_refused(question: str) -> None:
    assert outcome(question) is Check.MARKUP


@pytest.mark.parametrize(
    ("language", "question"),
    [
        ("en", "What is your password?"),
        ("en", "What is your pass-word there?"),
        ("en", "Which PIN do you use?"),
        ("en", "What is your credit card number?"),
        ("en", "What is your date of birth?"),
        ("en", "What is your passport number?"),
        ("en", "What is your full name?"),
        ("es", "¿Cuál es su contraseña?"),
        ("es", "¿Cuál es su número de cuenta?"),
        ("es", "¿Cuál es su fecha de nacimiento?"),
        ("de", "Wie lautet Ihr Passwort?"),
        ("de", "Wie lautet die Nummer Ihrer Kreditkarte?"),
        ("de", "Wie ist Ihr Geburtsdatum?"),
        ("fr", "Quel est votre mot de passe ?"),
        ("fr", "Quel est le numéro de votre carte bancaire ?"),
        ("fr", "Quelle est votre date de naissance ?"),
        ("pt_BR", "Qual é a sua senha?"),
        ("pt_BR", "Qual é o número do cartão?"),
        ("pt_BR", "Qual é o seu CPF?"),
        ("ar", "ما هي كلمة المرور؟"),
        ("ar", "ما هو رقم بطاقتك؟"),
        ("ar", "ما هو رقم البطاقة الائتمانية؟"),
        ("ar", "ما هو تاريخ ميلادك؟"),
    ],
)
def test_secrets_are_not_asked_for(language: str, question: str) -> None:
    assert outcome(question, INTERVIEWS[language].thread) is Check.SECRETS


def test_a_technique_is_used_once() -> None:
    thread = make_thread("Why?", "So.", used=frozenset({Technique.WHY}))

    assert outcome_of(reply(ASKED, Technique.WHY), thread) is Check.TECHNIQUE
    assert outcome_of(reply(ASKED, Technique.EXAMPLE), thread) is None


@pytest.mark.parametrize(
    ("language", "question", "expected"),
    [
        ("en", "Расскажете немного подробнее?", Check.SCRIPT),
        ("en", "What was slоw then?", Check.SCRIPT),  # a Cyrillic о
        ("en", "What was ｓｌｏｗ then?", Check.SCRIPT),
        ("ar", "Could you say more?", Check.SCRIPT),
        ("el", "Could you say more;", Check.SCRIPT),
        ("ru", "Could you say more?", Check.SCRIPT),
        ("ja", "Could you say more?", Check.SCRIPT),
        ("ja", "다른 것은 무엇입니까？", Check.SCRIPT),
        ("ja", "コストは？", None),
        ("hi", "Could you say more?", Check.SCRIPT),
    ],
)
def test_the_script_is_that_of_the_questions(
    language: str, question: str, expected: Check | None
) -> None:
    assert outcome(question, INTERVIEWS[language].thread) is expected


def test_words_of_the_respondent_may_be_in_another_script() -> None:
    thread = make_thread("Почему вы сменили инструмент?", "Из-за Slack.")

    assert outcome("Что вам не нравилось в Slack?", thread) is None
    assert outcome("Что вам не нравилось в Teams?", thread) is Check.SCRIPT


def test_questions_without_letters_tell_no_script() -> None:
    assert outcome(ASKED, make_thread("1 + 1 = ?", "Two.")) is Check.SCRIPT


@pytest.mark.parametrize(
    ("language", "question", "expected"),
    [
        ("en", "Was war für Sie daran so langsam?", Check.LANGUAGE),
        ("de", "What was so slow about it for you?", Check.LANGUAGE),
        ("es", "Qual foi o principal motivo para você?", Check.LANGUAGE),
        ("fr", "¿Qué fue lo más lento para usted?", Check.LANGUAGE),
        ("pt_BR", "¿Qué fue lo más lento para usted?", Check.LANGUAGE),
        ("ar", "چرا این ابزار برای شما کند بود؟", Check.LANGUAGE),
        ("en", "Anything?", None),  # no telling
    ],
)
def test_the_language_is_that_of_the_questions(
    language: str, question: str, expected: Check | None
) -> None:
    assert outcome(question, INTERVIEWS[language].thread) is expected


@pytest.mark.parametrize(
    ("tag", "question", "expected"),
    [
        ("de", "Was war daran für Sie so langsam?", None),
        ("de-CH", "Was war daran für Sie so langsam?", None),
        ("de", "What was so slow about it for you?", Check.LANGUAGE),
        ("pt_BR", "Qual foi o principal motivo para você?", None),
        ("nl", "Kunt u daar iets meer over vertellen?", None),
        ("fi", "Mitä tarkoitatte sillä?", None),
        ("", "Was war daran für Sie so langsam?", None),
        ("nl", "What was so slow about it for you?", Check.LANGUAGE),
    ],
)
def test_the_language_is_that_of_the_form(tag: str, question: str, expected: Check | None) -> None:
    assert outcome(question, make_thread("Tool?", "Slow.", language=tag)) is expected


@pytest.mark.parametrize(
    ("question", "expected"),
    [
        ("What made you switch to another tool?", Check.REPEATED),
        ("WHAT made you switch, to another tool?", Check.REPEATED),
        ("So what made you switch to that other tool?", Check.REPEATED),
        ("How many people are there in your team?", Check.REPEATED),
        ("What did a normal week look like?", None),
    ],
)
def test_nothing_is_asked_twice(question: str, expected: Check | None) -> None:
    assert outcome(question) is expected


def test_nothing_is_asked_twice_without_spaces_between_words() -> None:
    thread = INTERVIEWS["ja"].thread

    assert outcome("なぜ別のツールに変えましたか？", thread) is Check.REPEATED


def test_similarity_is_between_nothing_and_everything() -> None:
    assert similarity("Why?", "why") == 1
    assert similarity("Why?", "Bmx") == pytest.approx(0)
    assert similarity("?", "!") == 1


ANSWER = "we moved because the contract ended and nobody wanted to sign a new one"


@pytest.mark.parametrize(
    ("question", "expected"),
    [
        ("You say the contract ended and nobody wanted. Who decided?", None),
        ("You say the contract ended and nobody wanted to. Who decided?", Check.COPIED),
        ("You say the contract, ended: and nobody WANTED to. Who decided?", Check.COPIED),
    ],
)
def test_little_is_copied_from_the_answer(question: str, expected: Check | None) -> None:
    assert outcome(question, make_thread("What made you switch?", ANSWER)) is expected


def test_little_is_copied_without_spaces_between_words() -> None:
    thread = INTERVIEWS["ja"].thread

    assert outcome("サポートから返事が来ませんの後は？", thread) is Check.COPIED
    assert outcome("サポートから返事がない時は？", thread) is None


@pytest.mark.parametrize(
    ("question", "expected"),
    [
        ("You wrote “slow”. When?", None),
        ("You wrote “Slow!” When?", None),
        ('You wrote "fed up". When?', None),
        ("You wrote 'never wrote back'. When?", None),
        ("You wrote ‘slow’ and “support”. When?", None),
        ("You wrote «slow». When?", None),
        ("You didn't like the users' view. When was that?", None),
        ("You wrote “fast”. When?", Check.QUOTATION),
        ("You wrote “slo”. When?", Check.QUOTATION),
        ("You wrote “slow support”. When?", Check.QUOTATION),
        ("You wrote “slow” and “fast”. When?", Check.QUOTATION),
        ('You wrote "fast". When?', Check.QUOTATION),
        ("You wrote 'fast'. When?", Check.QUOTATION),
        ("You wrote ‘fast’. When?", Check.QUOTATION),
        ("You wrote ‚fast‘. When?", Check.QUOTATION),
        ("You wrote „fast“. When?", Check.QUOTATION),
        ("You wrote «fast». When?", Check.QUOTATION),
        ("You wrote »fast«. When?", Check.QUOTATION),
        ("You wrote ‹fast›. When?", Check.QUOTATION),
        ("You wrote 「fast」. When?", Check.QUOTATION),
        ("You wrote 『fast』. When?", Check.QUOTATION),
        ("You wrote ＂fast＂. When?", Check.QUOTATION),
        ("You wrote “fast. When?", Check.QUOTATION),
        ("You wrote fast”. When?", Check.QUOTATION),
        ("You wrote 'fast. When?", Check.QUOTATION),
        ("You wrote “”. When?", Check.QUOTATION),
        ("You wrote “slow „fast” slow“. When?", Check.QUOTATION),
    ],
)
def test_quoted_words_stand_in_the_answer(question: str, expected: Check | None) -> None:
    assert outcome(question) is expected


def test_quoted_words_stand_in_the_answer_without_spaces_between_words() -> None:
    thread = INTERVIEWS["ja"].thread

    assert outcome("「遅く」とは？", thread) is None
    assert outcome("「速く」とは？", thread) is Check.QUOTATION


def test_words_of_an_earlier_answer_may_be_quoted() -> None:
    earlier = Exchange("Why did you go?", "Noise.")
    thread = make_thread("", "", exchanges=(earlier, Exchange("What else?", "Nothing.")))

    assert outcome("You wrote “noise” before. When was it worst?", thread) is None


@pytest.mark.parametrize("language", ["en", "de", "es", "fr", "pt_BR"])
@pytest.mark.parametrize(
    "name", ["Okafor", "O k a f o r", "O-k-a-f-o-r", "OKAFOR", "Ökafór", "0kaf0r", "Oka for", "14"]
)
def test_the_context_does_not_leak(language: str, name: str) -> None:
    interview = INTERVIEWS[language]
    question = interview.harmless[0].replace("?", f" {name}?")

    assert outcome(question, interview.thread, interview.context) is Check.LEAK


def test_the_context_does_not_leak_in_scripts_without_capitals() -> None:
    arabic, japanese = INTERVIEWS["ar"], INTERVIEWS["ja"]

    assert outcome("هل تعرف نوردويند كلاود؟", arabic.thread, arabic.context) is Check.LEAK
    assert outcome("大川部長は値上げと？", japanese.thread, japanese.context) is Check.LEAK


@settings(max_examples=300, deadline=None)
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


@pytest.mark.parametrize(
    "piece", ["a ", "“", "'a ", "\ufdfa", "a\u0323\u0301", "ab", "漢", "한", "а", "? ", "1 ", "( "]
)
def test_hostile_texts_are_checked_in_bounded_time(piece: str) -> None:
    outcome(ASKED, context="warm")
    thread = make_thread(
        piece * 2000,
        piece * 20_000,
        exchanges=tuple(Exchange(piece * 200, piece * 20_000) for _ in range(50)),
        questions=tuple(f"{piece * 200}{number}" for number in range(70)),
    )
    began = time.thread_time()

    outcome((piece * 200)[:199] + "?", thread, context="Xy " + (piece * 4000)[:3997])
    outcome(f"{ASKED} {piece.strip() * 9}", thread, context="Xy " + (piece * 4000)[:3997])

    assert time.thread_time() - began < 0.2  # some 40 ms on a slow machine
