"""Trial of a draft: the creator answers it as respondents will. The page carries the state.

Nothing is stored. The rules for respondents apply: the order of the steps, both caps, one decision
per answer, and the handling of follow-ups when an answer is changed or taken back.
"""

import hashlib
from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from enum import StrEnum
from typing import NamedTuple

from webapp.answers.session import Step, Steps
from webapp.base.vocabulary import FollowUpMode
from webapp.follow_ups.rules import Decision, Thread
from webapp.records.content.model import Content, form_settings
from webapp.records.follow_ups import AskedFollowUp
from webapp.records.languages import language_of_content, language_to_ask_in


class NoRoom(StrEnum):
    """Reasons why no follow-up is considered after an answer."""

    NO_FOLLOW_UPS = "no_follow_ups"  # the form asks none
    QUESTION_CAP = "question_cap"  # no more follow-ups to this question
    TOTAL_CAP = "total_cap"  # no more questions in all
    PASSED = "passed"  # a follow-up to this question was skipped


class Decided(NamedTuple):
    """The outcome of one answer; `unheard`: the model gave nothing useful."""

    reason: str
    asked: bool = False
    writer: str = ""
    unheard: bool = False


@dataclass(frozen=True, slots=True)
class Trial:
    """The progress of the creator."""

    named_model: str = ""
    answers: dict[str, str] = field(default_factory=dict)
    skipped: tuple[str, ...] = ()
    unsent: dict[str, str] = field(default_factory=dict)
    asked: tuple[AskedFollowUp, ...] = ()
    decided: dict[str, Decided] = field(default_factory=dict)

    @property
    def follow_ups(self) -> list[AskedFollowUp]:
        """All follow-ups that were asked; one is dropped if the answer it follows has changed."""
        return [
            each._replace(dropped=answer_key(self, each.follows) != each.answer_id)
            for each in self.asked
        ]


def steps_of(trial: Trial, content: Content) -> Steps:
    """Return all questions that are asked at this point."""
    return Steps(content.questions, trial.follow_ups, trial.answers, trial.skipped)


def answer_key(trial: Trial, question_id: str) -> str:
    """Return a key for a question and the words of its answer; "" without an answer."""
    text = trial.answers.get(question_id)
    if text is None:
        return ""
    return hashlib.blake2b(f"{question_id}\0{text}".encode(), digest_size=12).hexdigest()


def answer(trial: Trial, step: Step, text: str) -> Trial:
    """Return the trial with this answer to a question."""
    id_ = step.question_id
    return replace(
        trial,
        answers=trial.answers | {id_: text},
        skipped=tuple(each for each in trial.skipped if each != id_),
        unsent=_without(trial.unsent, {id_}),
    )


def skip(trial: Trial, content: Content, step: Step) -> Trial:
    """Return the trial with a question skipped, and the answers to its follow-ups taken back."""
    follow_ups = steps_of(trial, content).asked_after(step.question_id)
    taken = {step.question_id, *(each.id for each in follow_ups)}
    skipped = (*(each for each in trial.skipped if each not in taken), step.question_id)
    return replace(trial, answers=_without(trial.answers, taken), skipped=skipped)


def leave(trial: Trial, step: Step, typed: str) -> Trial:
    """Return the trial with the unsent text of a question, which its page shows again."""
    unsent = _without(trial.unsent, {step.question_id})
    if typed != trial.answers.get(step.question_id, ""):
        unsent[step.question_id] = typed
    return replace(trial, unsent=unsent)


def to_decide(
    trial: Trial, content: Content, step: Step, *, page_language: str
) -> Thread | NoRoom | None:
    """Return the thread to decide about, or why none is considered; None if it was decided."""
    known = decided_after(trial, step)
    if known and known.reason not in set(NoRoom):
        return None
    return _lack_of_room(trial, content, step) or steps_of(trial, content).thread(
        content.follow_up_mode,
        step.place,
        trial.answers,
        language=language_to_ask_in(language_of_content(content), page_language),
    )


def remaining(trial: Trial, content: Content, step: Step) -> int:
    """Return how many follow-ups to the same scripted question may still be asked."""
    cap = form_settings(content).max_followups_per_question
    return cap - len(_asked_because_of(trial, content, step))


def decide(trial: Trial, content: Content, step: Step, came: Decided, made: Decision) -> Trial:
    """Return the trial with the decision about an answer, and the question that it asks."""
    key = answer_key(trial, step.question_id)
    decided = replace(trial, decided=trial.decided | {key: came})
    if not made.technique:
        return decided
    parent = content.questions[step.place.number - 1]
    depth = len(_asked_because_of(trial, content, step)) + 1
    asked = AskedFollowUp(
        f"{parent['id']}\0{depth}",  # no question id contains this character
        parent["id"],
        depth,
        made.question,
        made.technique,
        made.reason,
        came.writer,
        answer_id=key,
        follows=step.question_id,
        dropped=False,
    )
    return replace(decided, asked=(*trial.asked, asked))


def decided_after(trial: Trial, step: Step) -> Decided | None:
    """Return the outcome of the answer to a question; None if there is none."""
    return trial.decided.get(answer_key(trial, step.question_id))


def _asked_because_of(trial: Trial, content: Content, step: Step) -> list[AskedFollowUp]:
    parent = content.questions[step.place.number - 1]
    return [each for each in trial.follow_ups if each.parent_question_id == parent["id"]]


def _lack_of_room(trial: Trial, content: Content, step: Step) -> NoRoom | None:
    of_parent = _asked_because_of(trial, content, step)
    limits = form_settings(content)
    if limits.follow_up_mode is FollowUpMode.NONE:
        return NoRoom.NO_FOLLOW_UPS
    if any(each.id in trial.skipped for each in of_parent):
        return NoRoom.PASSED
    if len(of_parent) >= limits.max_followups_per_question:
        return NoRoom.QUESTION_CAP
    total = len(content.questions) + len(trial.asked) + 1
    most = limits.max_total_questions
    return NoRoom.TOTAL_CAP if most is not None and total > most else None


def _without(texts: Mapping[str, str], ids: set[str]) -> dict[str, str]:
    return {id_: text for id_, text in texts.items() if id_ not in ids}
