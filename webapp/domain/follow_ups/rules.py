"""The follow-up questions that rules choose, from words alone.

They are few and say why. Where a sign is doubtful nothing is asked.
"""

from collections.abc import Iterator

from webapp.domain.follow_ups.languages import language_of
from webapp.domain.follow_ups.phrases import phrase
from webapp.domain.follow_ups.signals import (
    Signals,
    is_empty,
    is_junk,
    is_thin,
    refuses,
    signals_of,
)
from webapp.domain.follow_ups.tender import is_tender
from webapp.domain.follow_ups.text import read
from webapp.domain.follow_ups.thread import Decision, Exchange, Reason, Technique, Thread
from webapp.domain.shared.vocabulary import FollowUpMode

Choice = tuple[Reason, Technique | None]


def decide(thread: Thread) -> Decision:
    """What to ask after the last answer of the thread, or why nothing is asked.

    The caps on questions are the caller's. The same thread always gives the same decision.
    Source: design, follow-ups; the order is the one of the choices below, the first match wins.
    """
    if thread.mode is FollowUpMode.NONE:
        return Decision(Reason.NOTHING_LEFT)
    if ended := ending(thread):
        return Decision(ended)
    language = language_of(thread.language, _questions(thread))
    if not language:
        return Decision(Reason.NO_PHRASES)
    signals = signals_of(thread.last.question, thread.last.answer, language)
    reason, technique = _choose(thread, signals)
    if technique is None:
        return Decision(reason)
    asked = frozenset(_questions(thread))
    question = phrase(language, technique, seed=thread.seed, word=signals.word, asked=asked)
    return Decision(reason, technique, question)


def load() -> None:
    """Load the words of all languages, for which the first decision would take 0.1 s."""
    question = "How was it?"
    decide(Thread(FollowUpMode.DEEP_DIVE, (Exchange(question, "It was slow"),), (question,)))


def ending(thread: Thread) -> Reason | None:
    """Why nothing may be asked after the last answer, whoever would write the question.

    None where there may be a question. Looks at words of all six languages.
    """
    question, text, _ = thread.last
    if is_empty(text):
        return Reason.EMPTY
    if is_tender(text):
        return Reason.TENDER
    answer = read(text)
    if refuses(question, answer):
        return Reason.REFUSED
    if is_junk(answer):
        return Reason.JUNK
    return Reason.THIN_TWICE if is_thin(answer) and _was_thin(thread) else None


def _was_thin(thread: Thread) -> bool:
    before = thread.exchanges[-2:-1]
    return bool(before) and is_thin(read(before[0].answer))


def _questions(thread: Thread) -> tuple[str, ...]:
    return thread.questions or tuple(exchange.question for exchange in thread.exchanges)


def _choose(thread: Thread, signals: Signals) -> Choice:
    smart = thread.mode is FollowUpMode.SMART
    if signals.yes_no and Technique.WHY not in thread.used:
        return Reason.YES_NO, Technique.WHY
    if signals.non_answer:
        return Reason.NON_ANSWER, _reopened(thread, signals)
    if signals.fact:
        return Reason.FACT, None if smart or thread.depth else Technique.WHY
    if signals.rich and smart:
        return Reason.RICH, None
    choices = _smart(thread, signals) if smart else _deep_dive(signals)
    unused = (choice for choice in choices if choice[1] not in thread.used)
    return next(unused, (Reason.NOTHING_LEFT, None))


def _reopened(thread: Thread, signals: Signals) -> Technique | None:
    """Another angle, once, unless somebody who has nothing to say would be pressed."""
    pressed = signals.flat and thread.mode is FollowUpMode.SMART
    done = thread.depth > 0 or Technique.REOPEN in thread.used
    return None if pressed or done else Technique.REOPEN


def _smart(thread: Thread, signals: Signals) -> Iterator[Choice]:
    for choice in _from_signals(signals):
        if not thread.depth or choice[1] not in {Technique.WHY, Technique.EXAMPLE}:
            yield choice


def _deep_dive(signals: Signals) -> Iterator[Choice]:
    yield from _from_signals(signals)
    if signals.contrast:
        yield Reason.CONTRAST, Technique.CONTRAST
    if signals.lacks_example:
        yield Reason.DEEPER, Technique.EXAMPLE
    if signals.lacks_reason:
        yield Reason.DEEPER, Technique.WHY
    yield Reason.DEEPER, Technique.IMPACT
    yield Reason.DEEPER, Technique.ALTERNATIVES


def _from_signals(signals: Signals) -> Iterator[Choice]:
    found = (
        (signals.multiple, Reason.MULTIPLE, Technique.CHOOSE_ONE),
        (signals.short, Reason.SHORT, Technique.ELABORATE),
        (signals.hedge, Reason.HEDGED, Technique.DEPENDS),
        (signals.vague, Reason.VAGUE, Technique.SPECIFY),
        (signals.no_reason, Reason.NO_REASON, Technique.WHY),
        (signals.no_example, Reason.NO_EXAMPLE, Technique.EXAMPLE),
    )
    return ((reason, technique) for holds, reason, technique in found if holds)
