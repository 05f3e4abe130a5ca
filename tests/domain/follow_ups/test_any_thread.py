"""What holds for any thread."""

import pytest
from hypothesis import given
from hypothesis import strategies as st
from webapp.domain.follow_ups.phrases import phrasings

from webapp.domain.follow_ups.languages import PHRASED, language_of
from webapp.domain.follow_ups.rules import decide
from webapp.domain.follow_ups.thread import Decision, Exchange, Technique, Thread
from webapp.domain.follow_ups.words import lexicons
from webapp.domain.shared.vocabulary import FollowUpMode

CHARS_MAX = 200
QUESTIONS = {
    "en": "What made you switch, and how did it go?",
    "es": "¿Qué le hizo cambiar de proveedor?",
    "de": "Was hat Sie zum Wechsel bewogen?",
    "fr": "Qu’est-ce qui vous a fait changer ?",
    "pt-BR": "O que fez você mudar de fornecedor?",
    "ar": "ما الذي دفعك إلى التغيير؟",
    "": "Почему вы сменили поставщика?",
}
WORDS = sorted(
    {
        phrase
        for lexicon in lexicons().values()
        for kind in (lexicon.qualities, lexicon.vague, lexicon.hedges, lexicon.reasons)
        for phrase in kind.phrases
    }
)
answers = st.one_of(
    st.text(max_size=300),
    st.lists(st.sampled_from(WORDS), max_size=30).map(" ".join),
    st.lists(st.one_of(st.sampled_from(WORDS), st.text(max_size=9)), max_size=90).map(" ".join),
)
modes = st.sampled_from([FollowUpMode.SMART, FollowUpMode.DEEP_DIVE])
languages = st.sampled_from(sorted(QUESTIONS))
everything = [
    (language, question)
    for language, known in phrasings().items()
    for choices in (*known.by_technique.values(), known.quoting)
    for question in choices
]


def marks(question: str) -> int:
    return question.count("?") + question.count("؟")


def longest_quotation(question: str) -> int:
    """Words between quotation marks; the closing one of German opens in English."""
    for opening, closing in (("„", "“"), ("“", "”"), ("«", "»")):
        if opening in question:
            return len(question.partition(opening)[2].partition(closing)[0].split())
    return 0


@given(modes, languages, answers, st.integers(0, 3), st.text(max_size=5))
def test_a_decision_is_at_most_one_short_question_of_that_language(
    mode: FollowUpMode, language: str, answer: str, depth: int, seed: str
) -> None:
    asked = QUESTIONS[language]
    decision = decide(Thread(mode, (Exchange(asked, answer),), (asked,), depth, seed=seed))

    assert bool(decision.question) is (decision.technique is not None)
    assert marks(decision.question) == bool(decision.question)
    assert len(decision.question) <= CHARS_MAX
    assert "\n" not in decision.question
    assert longest_quotation(decision.question) <= 1
    assert not decision.question or language_of("", (decision.question, asked)) == language


@given(modes, languages, st.lists(answers, min_size=2, max_size=12))
def test_no_technique_and_no_question_comes_twice_in_a_thread(
    mode: FollowUpMode, language: str, given_answers: list[str]
) -> None:
    decisions = _asked_on(mode, QUESTIONS[language], given_answers)
    techniques = [decision.technique for decision in decisions]
    questions = [decision.question for decision in decisions]

    assert len(set(techniques)) == len(techniques)
    assert len(set(questions)) == len(questions)


@given(modes, languages, answers, st.text(max_size=5))
def test_the_same_thread_gives_the_same_decision(
    mode: FollowUpMode, language: str, answer: str, seed: str
) -> None:
    asked = QUESTIONS[language]
    thread = Thread(mode, (Exchange(asked, answer),), (asked,), seed=seed)

    assert decide(thread) == decide(thread)


@given(st.text(max_size=300), st.text(max_size=100), st.text(max_size=10))
def test_nothing_raises(question: str, answer: str, language: str) -> None:
    exchanges = (Exchange(question, answer), Exchange(answer, question, Technique.WHY))

    assert decide(Thread(FollowUpMode.DEEP_DIVE, exchanges, (), 1, language=language)).reason


@pytest.mark.parametrize("language", PHRASED)
def test_every_technique_has_three_phrasings(language: str) -> None:
    known = phrasings()[language]

    assert set(known.by_technique) == set(Technique)
    assert min(len(set(choices)) for choices in (*known.by_technique.values(), known.quoting)) >= 3


@pytest.mark.parametrize("language", PHRASED)
@pytest.mark.parametrize("number", range(3))
def test_one_word_is_quoted(language: str, number: int) -> None:
    assert longest_quotation(phrasings()[language].quoting[number].format(word="gut")) == 1


@pytest.mark.parametrize(("language", "question"), everything)
def test_every_phrasing_is_one_short_question(language: str, question: str) -> None:
    longest = question.format(word="m" * 20)

    assert marks(question) == 1
    assert longest.rstrip().endswith(("?", "؟"))
    assert len(longest) <= CHARS_MAX
    assert language_of("", (question, QUESTIONS[language])) == language


@pytest.mark.parametrize("language", PHRASED)
def test_all_phrasings_are_used(language: str) -> None:
    question = QUESTIONS[language]
    asked = {
        decide(
            Thread(
                FollowUpMode.SMART,
                (Exchange(question, "12 km"),),
                (question,),
                seed=f"ses_{number}",
            )
        ).question
        for number in range(100)
    }

    assert asked == set(phrasings()[language].by_technique[Technique.ELABORATE])


@pytest.mark.parametrize("language", PHRASED)
def test_a_question_that_was_asked_is_put_in_other_words(language: str) -> None:
    known = phrasings()[language].by_technique[Technique.ELABORATE]

    for left in known:
        questions = (QUESTIONS[language], *(each for each in known if each != left))
        thread = Thread(FollowUpMode.SMART, (Exchange(QUESTIONS[language], "12 km"),), questions)
        assert decide(thread).question == left


def _asked_on(mode: FollowUpMode, question: str, given_answers: list[str]) -> list[Decision]:
    """The decisions of a thread in which each answer is to the question asked before."""
    first, *others = given_answers
    exchanges, asked = (Exchange(question, first),), [question]
    decisions: list[Decision] = []
    for answer in others:
        used = frozenset(one.technique for one in decisions if one.technique)
        decision = decide(Thread(mode, exchanges, tuple(asked), len(decisions), used))
        if not decision.question:
            break
        decisions.append(decision)
        asked.append(decision.question)
        exchanges = (*exchanges, Exchange(decision.question, answer, decision.technique))
    return decisions
