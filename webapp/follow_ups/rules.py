"""Threads of questions and answers, and the rules that choose a follow-up."""

from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Sequence
from enum import StrEnum
from typing import NamedTuple

from webapp.base.vocabulary import FollowUpCondition, FollowUpMode
from webapp.follow_ups import lexicon, signals
from webapp.follow_ups.text import read
from webapp.records.content import model as content
from webapp.records.languages import PHRASED


class Technique(StrEnum):
    """The way a follow-up question builds on an answer, chosen by a model. In earlier versions,
    rules asked all of them.
    """

    PREPARED = "prepared"  # prepared before anybody answered
    REOPEN = "reopen"  # from another angle
    ELABORATE = "elaborate"
    SPECIFY = "specify"
    DEPENDS = "depends"
    WHY = "why"
    EXAMPLE = "example"
    IMPACT = "impact"
    ALTERNATIVES = "alternatives"
    CONTRAST = "contrast"
    CHOOSE_ONE = "choose_one"


class Reason(StrEnum):
    """The reason for a question, or for none. Some occur only in rows of earlier versions."""

    NON_ANSWER = "nonanswer"
    FACT = "fact"
    RICH = "rich"
    SHORT = "short"
    HEDGED = "hedge"
    NO_REASON = "no_reason"
    NO_EXAMPLE = "no_example"
    DEEPER = "deeper"  # deep_dive goes on without a sign in the answer
    EMPTY = "empty"  # no letter and no digit
    REFUSED = "stop"  # the answer asks to stop
    JUNK = "junk"
    SENSITIVE = "sensitive"
    THIN_TWICE = "thin_twice"  # a non-answer to a follow-up
    NO_PHRASES = "no_phrases"  # the built-in question lacks the language of the form
    NOTHING_LEFT = "nothing_left"  # neither a prepared follow-up nor the built-in one fits
    CHOSEN_BY_MODEL = "model"
    STOPPED_BY_MODEL = "model_stop"


class Exchange(NamedTuple):
    """A question with its answer."""

    question: str
    answer: str


class Thread(NamedTuple):
    """One scripted question with its answer, and its answered follow-ups."""

    mode: FollowUpMode
    exchanges: tuple[Exchange, ...]  # in the order asked; the decision is about the last answer
    questions: tuple[str, ...]  # all that this respondent was or will be asked
    depth: int = 0  # the number of follow-ups asked, including unanswered ones
    language: str = ""  # tag of the language to ask in, "" if unknown or none of the six
    written: tuple[str, ...] = ()  # the part of `questions` that a model wrote
    hints: tuple[str, ...] = ()  # the explanations below the questions of the form
    corrected: bool = False  # an answer changed after a follow-up to it was asked
    prepared: tuple[content.PreparedFollowUp, ...] = ()  # remaining ones, in order
    built_in_asked: bool = False

    @property
    def scripted(self) -> Exchange:
        """The question of the form, with its answer."""
        return self.exchanges[0]

    @property
    def last(self) -> Exchange:
        """The exchange whose answer is under decision."""
        return self.exchanges[-1]


class Decision(NamedTuple):
    """A follow-up question and how it was chosen; `question` is "" if nothing is asked.

    reason  for a prepared question, its condition
    writer  a `FollowUpAuthor`, the model and its host, or "" for the built-in question
    model_outcome  a `ModelOutcome`, or the check that the model's text failed; "" if no model was
                   asked
    """

    reason: Reason | FollowUpCondition
    technique: Technique | None = None
    question: str = ""
    writer: str = ""
    model_outcome: str = ""


def decide(thread: Thread) -> Decision:
    """Return the question to ask after the last answer of the thread, or why none is asked.

    The caller enforces the caps on questions. The same thread always gives the same decision.
    """
    if thread.mode is FollowUpMode.NONE:
        return Decision(Reason.NOTHING_LEFT)
    if ended := ending(thread):
        return Decision(ended)
    for each in holding(thread):
        asked = each["text"], each["prepared_by"]
        return Decision(each["condition"], Technique.PREPARED, *asked)
    return _built_in(thread)


def ending(thread: Thread) -> Reason | None:
    """Return why neither rules nor a model may ask after the last answer.

    None if a question may follow. Checks the words of all six languages.
    """
    question, text = thread.last
    if not any(map(str.isalnum, text)):
        return Reason.EMPTY
    if signals.is_sensitive(text):
        return Reason.SENSITIVE
    answer = read(text)
    if signals.refuses(question, answer):
        return Reason.REFUSED
    if signals.is_junk(answer):
        return Reason.JUNK
    return Reason.THIN_TWICE if len(thread.exchanges) > 1 and signals.is_silent(answer) else None


def holding(thread: Thread) -> Iterator[content.PreparedFollowUp]:
    """Yield the remaining prepared follow-ups whose conditions hold, in order."""
    if thread.prepared:
        signs = signals.Signs(*thread.scripted, thread.language)
        yield from (each for each in thread.prepared if _HOLDS[each["condition"]](signs))


def may_follow(thread: Thread) -> bool:
    """Return whether a follow-up is possible before the text of the last answer is known."""
    if len(thread.exchanges) > 1:
        return any(holding(thread))
    never = {Reason.NOTHING_LEFT, Reason.NO_PHRASES}
    return bool(thread.prepared) or _built_in(thread).reason not in never


def most_prepared(mode: FollowUpMode, prepared: Iterable[content.PreparedFollowUp]) -> int:
    """Return how many prepared follow-ups to a question one person can get, before the caps."""
    count = Counter(each["condition"] for each in prepared)
    said = count[FollowUpCondition.ALWAYS] + count[FollowUpCondition.IF_SHORT]
    said += count[FollowUpCondition.IF_SEVERAL]
    said += max(count[FollowUpCondition.IF_YES], count[FollowUpCondition.IF_NO])
    most = max(said, count[FollowUpCondition.IF_NO_ANSWER])
    return min(most, 1) if mode is FollowUpMode.SMART else most


def most_asked(
    questions: Sequence[content.QuestionRow], language: str, settings: content.FormSettings
) -> int:
    """Return how many questions one person can get if no model writes any.

    language  "" if each respondent's page decides it, so that any is possible
    """
    mode, cap = settings.follow_up_mode, settings.max_followups_per_question
    prepared = (most_prepared(mode, each.get("follow_ups", ())) for each in questions)
    possible = PHRASED if not language else {language}.intersection(PHRASED)
    has_room = any(
        signals.leaves_room(each["text"], tag)
        for each in questions
        if cap > 0 and not each.get("follow_ups")
        for tag in possible
    )
    follow_ups = sum(min(cap, each) for each in prepared) + has_room
    return content.most_with_follow_ups(len(questions), follow_ups, settings.max_total_questions)


def load() -> None:
    """Load the words of all languages; otherwise the first decision takes half a second."""
    decide(Thread(FollowUpMode.DEEP_DIVE, (Exchange("How was it?", "It was slow"),), ()))


def _built_in(thread: Thread) -> Decision:
    """Choose the built-in question: once, and only after a question without prepared follow-ups."""
    if thread.depth or thread.prepared or thread.built_in_asked:
        return Decision(Reason.NOTHING_LEFT)
    if thread.language not in PHRASED:
        return Decision(Reason.NO_PHRASES)
    if not signals.leaves_room(thread.scripted.question, thread.language):
        return Decision(Reason.NOTHING_LEFT)
    signs = signals.Signs(*thread.scripted, thread.language)
    if signs.bare_number:
        return Decision(Reason.FACT)
    if signs.silent and not signs.unknown:
        return Decision(Reason.NON_ANSWER)
    if not signs.short and not signs.unknown:
        return Decision(Reason.RICH)
    reason = Reason.NON_ANSWER if signs.unknown else Reason.SHORT
    say_more = lexicon.load(f"words/{thread.language}")["say_more"]
    return Decision(reason, Technique.ELABORATE, say_more)


_HOLDS: dict[FollowUpCondition, Callable[[signals.Signs], bool]] = {
    FollowUpCondition.IF_NO_ANSWER: lambda signs: signs.unknown,
    FollowUpCondition.IF_YES: lambda signs: signs.yes,
    FollowUpCondition.IF_NO: lambda signs: signs.no,
    FollowUpCondition.IF_SHORT: lambda signs: signs.short and not signs.silent,
    FollowUpCondition.IF_SEVERAL: lambda signs: signs.several and not signs.silent,
    FollowUpCondition.ALWAYS: lambda signs: not signs.silent,
}
