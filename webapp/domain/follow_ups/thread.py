"""What a follow-up question is decided from, and what came of it."""

from enum import StrEnum
from typing import NamedTuple

from webapp.domain.content.model import PreparedFollowUp
from webapp.domain.shared.vocabulary import FollowUpCondition, FollowUpMode


class Technique(StrEnum):
    """How a follow-up question goes on from an answer, as a model chooses it. Earlier versions
    asked all of them by rules.
    """

    PREPARED = "prepared"  # before anybody answered
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
    """Why something is asked, or nothing is. Some are only of rows that earlier versions stored."""

    NON_ANSWER = "nonanswer"
    FACT = "fact"
    YES_NO = "yesno"
    RICH = "rich"
    MULTIPLE = "multi"
    SHORT = "short"
    HEDGED = "hedge"
    VAGUE = "vague"
    NO_REASON = "no_reason"
    NO_EXAMPLE = "no_example"
    CONTRAST = "contrast"
    DEEPER = "deeper"  # deep_dive goes on without a sign in the answer
    EMPTY = "empty"  # no letter and no digit
    REFUSED = "stop"  # the answer says to stop
    JUNK = "junk"
    TENDER = "tender"
    THIN_TWICE = "thin_twice"  # no answer to a follow-up
    NO_PHRASES = "no_phrases"  # the built-in question is not written in the language of the form
    NOTHING_LEFT = "nothing_left"  # no prepared follow-up fits, and the built-in one does not
    CHOSEN_BY_MODEL = "model"
    STOPPED_BY_MODEL = "model_stop"


class Exchange(NamedTuple):
    """A question with its answer; `technique` of a follow-up, None of a scripted question."""

    question: str
    answer: str
    technique: Technique | None = None


class Thread(NamedTuple):
    """One scripted question with its answer, and the follow-ups to it that have one.

    exchanges  in the order they were asked; the last one has the answer that is decided about
    questions  all questions this respondent was asked or will be, follow-ups without answer too
    depth      how many follow-ups to it were asked, those without an answer too
    used       their techniques
    language   tag of the language to ask in, "" if it is not known or none of the six
    written    those of `questions` that a model wrote
    hints      the explanations below the questions of the form
    corrected  whether an answer is another one than when a follow-up to it was asked
    prepared   the follow-ups to the scripted question that may still be asked, in their order
    built_in_asked  whether this respondent was asked the built-in question
    """

    mode: FollowUpMode
    exchanges: tuple[Exchange, ...]
    questions: tuple[str, ...]
    depth: int = 0
    used: frozenset[Technique] = frozenset()
    language: str = ""
    written: tuple[str, ...] = ()
    hints: tuple[str, ...] = ()
    corrected: bool = False
    prepared: tuple[PreparedFollowUp, ...] = ()
    built_in_asked: bool = False

    @property
    def scripted(self) -> Exchange:
        """The question of the form."""
        return self.exchanges[0]

    @property
    def last(self) -> Exchange:
        """The question whose answer is decided about."""
        return self.exchanges[-1]


class Decision(NamedTuple):
    """A follow-up question and how it was chosen; `question` is "" where nothing is asked.

    reason  of a prepared one its condition
    writer  a `FollowUpAuthor`, the model and its host, or "" for the built-in question
    model_outcome  a `ModelOutcome`, or the check that refused what a model wrote; "" if none was
            asked
    """

    reason: Reason | FollowUpCondition
    technique: Technique | None = None
    question: str = ""
    writer: str = ""
    model_outcome: str = ""
