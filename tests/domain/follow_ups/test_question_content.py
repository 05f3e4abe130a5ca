"""What a written question may hold, and how a model may behave."""

import pytest

from tests.domain.follow_ups.written_questions import INTERVIEWS, make_thread, outcome, rows
from webapp.follow_ups import conduct
from webapp.follow_ups.guard import Check
from webapp.follow_ups.lexicon import load
from webapp.records.languages import PHRASED

FILLER = "What about the following matters, one by one and slowly"
SPELLINGS_OF_STUPID = ("s t u p i d", "STUPID", "st\u00fcpid", "s-t-u-p-i-d")
QUESTIONS: list[tuple[str, str, Check | None]] = [
    # length lines and characters
    ("en", "", Check.REPLY),
    ("en", "   ", Check.REPLY),
    ("en", f"{FILLER} {'o' * (198 - len(FILLER))}?", None),
    ("en", f"{FILLER} {'o' * (199 - len(FILLER))}?", Check.LENGTH),
    ("en", "What was slow?\nWhat else", Check.LINES),
    ("en", "What was slow\u2028then?", Check.LINES),
    ("en", "What was slow\x0bthen?", Check.LINES),
    ("en", "  What was slow then?\n", None),
    ("en", "What was\tslow then?", Check.CHARACTERS),
    ("en", "What was\x00 slow then?", Check.CHARACTERS),
    ("en", "What was \u202eslow then?", Check.CHARACTERS),
    ("en", "What was \u2066slow then?", Check.CHARACTERS),
    ("en", "What was \u061cslow then?", Check.CHARACTERS),
    ("en", "What was sl\u200bow then?", Check.CHARACTERS),
    ("en", "What was sl\u200dow then?", Check.CHARACTERS),
    ("en", "What was sl\u00adow then?", Check.CHARACTERS),
    ("en", "What was sl\ufe0fow then?", Check.CHARACTERS),
    ("en", "What was sl\ufeffow then?", Check.CHARACTERS),
    ("en", "What was slow then \ud800?", Check.CHARACTERS),
    ("en", "What was slow then \ue000?", Check.CHARACTERS),
    ("en", "What was slow then 🙂?", Check.CHARACTERS),
    ("en", "What was <b>slow</b> then?", Check.CHARACTERS),
    ("en", "What was **slow** then?", Check.CHARACTERS),
    ("en", "What was _slow_ then?", Check.CHARACTERS),
    ("en", "What was `slow` then?", Check.CHARACTERS),
    ("en", "What was [slow] then?", Check.CHARACTERS),
    ("en", "# What was slow then?", Check.CHARACTERS),
    ("en", "What was {slow} then?", Check.CHARACTERS),
    ("en", "What was C:\\slow then?", Check.CHARACTERS),
    ("en", "What is slow = then?", Check.CHARACTERS),
    ("en", "What cost 50 € or 60 % more then, and/or less?", None),
    # exactly one question
    ("en", "Tell me more.", Check.ONE_QUESTION),
    ("en", "What was slow? And why?", Check.ONE_QUESTION),
    ("en", "What was slow??", Check.ONE_QUESTION),
    ("en", "What was slow⁇", Check.CHARACTERS),
    ("en", "What was slow? Please tell.", Check.ONE_QUESTION),
    ("en", "What was slow？ And why?", Check.ONE_QUESTION),
    ("en", "What was slow; and why;", Check.ONE_QUESTION),
    ("en", "That is fine. What comes to mind?", None),
    ("en", "What was slow then (if anything?)", None),
    # exactly one question in any script
    ("es", "¿Qué pasó? ¿Y por qué?", Check.ONE_QUESTION),
    ("es", "¿Qué pasó, ¿por qué?", Check.ONE_QUESTION),
    ("ar", "ماذا حدث؟ ولماذا؟", Check.ONE_QUESTION),
    ("ar", "ماذا\u200cحدث بعد ذلك؟", None),
    ("el", "Τι έγινε; Και γιατί;", Check.ONE_QUESTION),
    ("el", "Τι έγινε μετά\u037e", None),
    ("el", "Τι έγινε μετά?", None),
    ("ja", "それはいつでしたか？なぜですか？", Check.ONE_QUESTION),
    ("ja", "それはいつでしたか", Check.ONE_QUESTION),
    ("hi", "फिर क्या हुआ?", None),
    # addresses are refused
    ("en", "Could you look at https://example.com/a then?", Check.ADDRESS),
    ("en", "Could you look at www.example then?", Check.ADDRESS),
    ("en", "Could you look at example.com then?", Check.ADDRESS),
    ("en", "Could you look at Example.Rocks then?", Check.ADDRESS),
    ("en", "Could you look at example dot com then?", Check.ADDRESS),
    ("en", "Could you look at example．com then?", Check.ADDRESS),
    ("en", "Could you look at 10.0.0.1 then?", Check.ADDRESS),
    ("en", "Could you call +49 (151) 234-5678 then?", Check.ADDRESS),
    ("en", "Could you run /etc/passwd then?", Check.ADDRESS),
    ("en", "Could you use mailto:somebody then?", Check.ADDRESS),
    ("en", "Could you look at t.me/somebody then?", Check.ADDRESS),
    ("en", "Could you write to somebody (at) example (dot) rocks then?", Check.ADDRESS),
    # markup and code are refused
    ("en", "- What was slow then?", Check.MARKUP),
    ("en", "1. What was slow then?", Check.MARKUP),
    ("en", "What was &lt;slow then?", Check.MARKUP),
    ("en", "What was slow // then?", Check.MARKUP),
    ("en", "What was slow -- then?", Check.MARKUP),
    ("en", "What does print() do then?", Check.MARKUP),
    ("en", "What does print(context) do then?", Check.MARKUP),
    # the script is that of the questions
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
    # a question has letters
    ("en", "?", Check.SCRIPT),
    ("en", "14?", Check.SCRIPT),
    ("en", "(…)?", Check.SCRIPT),
    # the language is that of the questions
    ("en", "Was war für Sie daran so langsam?", Check.LANGUAGE),
    ("de", "What was so slow about it for you?", Check.LANGUAGE),
    ("es", "Qual foi o principal motivo para você?", Check.LANGUAGE),
    ("fr", "¿Qué fue lo más lento para usted?", Check.LANGUAGE),
    ("pt_BR", "¿Qué fue lo más lento para usted?", Check.LANGUAGE),
    ("ar", "چرا این ابزار برای شما کند بود؟", Check.LANGUAGE),
    ("en", "Anything?", None),  # no telling
    # nothing is asked twice
    ("en", "What made you switch to another tool?", Check.REPEATED),
    ("en", "WHAT made you switch, to another tool?", Check.REPEATED),
    ("en", "So what made you switch to that other tool?", Check.REPEATED),
    ("en", "How many people are there in your team?", Check.REPEATED),
    ("en", "What did a normal week look like?", None),
    # quoted words stand in the answer
    ("en", "You wrote “slow”. When?", None),
    ("en", "You wrote “Slow!” When?", None),
    ("en", 'You wrote "fed up". When?', None),
    ("en", "You wrote 'never wrote back'. When?", None),
    ("en", "You wrote ‘slow’ and “support”. When?", None),
    ("en", "You wrote «slow». When?", None),
    ("en", "You didn't like the users' view. When was that?", None),
    ("en", "You wrote “fast”. When?", Check.QUOTATION),
    ("en", "You wrote “slo”. When?", Check.QUOTATION),
    ("en", "You wrote “slow support”. When?", Check.QUOTATION),
    ("en", "You wrote “slow” and “fast”. When?", Check.QUOTATION),
    ("en", 'You wrote "fast". When?', Check.QUOTATION),
    ("en", "You wrote 'fast'. When?", Check.QUOTATION),
    ("en", "You wrote ‘fast’. When?", Check.QUOTATION),
    ("en", "You wrote ‚fast‘. When?", Check.QUOTATION),
    ("en", "You wrote „fast“. When?", Check.QUOTATION),
    ("en", "You wrote «fast». When?", Check.QUOTATION),
    ("en", "You wrote »fast«. When?", Check.QUOTATION),
    ("en", "You wrote ‹fast›. When?", Check.QUOTATION),
    ("en", "You wrote 「fast」. When?", Check.QUOTATION),
    ("en", "You wrote 『fast』. When?", Check.QUOTATION),
    ("en", "You wrote ＂fast＂. When?", Check.QUOTATION),
    ("en", "You wrote “fast. When?", Check.QUOTATION),
    ("en", "You wrote fast”. When?", Check.QUOTATION),
    ("en", "You wrote 'fast. When?", Check.QUOTATION),
    ("en", "You wrote “”. When?", Check.QUOTATION),
    ("en", "You wrote “slow „fast” slow“. When?", Check.QUOTATION),
    ("en", "You wrote ,,fast''. When?", Check.QUOTATION),
    ("en", "You wrote ″fast″. When?", Check.CHARACTERS),
    ("en", "Could you write to me@example.com then?", Check.CHARACTERS),
    ("ja", "なぜ別のツールに変えましたか？", Check.REPEATED),
    ("ja", "サポートから返事が来ませんの後は？", Check.COPIED),
    ("ja", "サポートから返事がない時は？", None),
    ("ja", "「遅く」とは？", None),
    ("ja", "「速く」とは？", Check.QUOTATION),
    *(("en", f"Was that not {each} of them?", Check.ABUSE) for each in SPELLINGS_OF_STUPID),
]


@pytest.mark.parametrize(("language", "question", "expected"), QUESTIONS)
def test_a_question_is_refused_by_its_check(
    language: str, question: str, expected: Check | None
) -> None:
    assert outcome(question, INTERVIEWS[language].thread) is expected


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
