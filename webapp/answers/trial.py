"""A creator answers their draft as respondents will. Nothing is stored: it travels in the page.

What holds for respondents holds here: the order of the steps, both caps, one decision for each
answer, and what becomes of follow-ups when an answer is changed or taken back.
"""

import hashlib
from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from enum import StrEnum
from typing import NamedTuple

from webapp.answers.steps import Step, Steps
from webapp.base.vocabulary import FollowUpMode
from webapp.follow_ups.rules import Decision, Thread
from webapp.records.content.model import AnyContent, form_settings
from webapp.records.follow_ups import AskedFollowUp
from webapp.records.languages import language_of_content, language_to_ask_in


class NoRoom(StrEnum):
    """Why nothing is even considered after an answer."""

    NO_FOLLOW_UPS = "no_follow_ups"  # the form asks none
    QUESTION_CAP = "question_cap"  # of follow-ups to this question
    TOTAL_CAP = "total_cap"  # of questions in all
    PASSED = "passed"  # a follow-up to this question was skipped


class Decided(NamedTuple):
    """What came of one answer.

    reason   a `Reason` or a `NoRoom`
    asked    whether a question
    writer   as `AskedFollowUp`
    unheard  a model was to decide, and the rules did: it gave nothing of use
    """

    reason: str
    asked: bool = False
    writer: str = ""
    unheard: bool = False


@dataclass(frozen=True, slots=True)
class Trial:
    """How far the creator is.

    named_model  the model and host on the page before the first answer, "" for the rules
    answers      by question id
    unsent       what was typed and not sent when a question was left, by question id
    asked        all follow-ups; whether one is `dropped` is in `follow_ups`
    decided      by what `answer_key` says
    """

    named_model: str = ""
    answers: dict[str, str] = field(default_factory=dict)
    skipped: tuple[str, ...] = ()
    unsent: dict[str, str] = field(default_factory=dict)
    asked: tuple[AskedFollowUp, ...] = ()
    decided: dict[str, Decided] = field(default_factory=dict)

    @property
    def follow_ups(self) -> list[AskedFollowUp]:
        """All that were asked; those are dropped whose answer before them is another now."""
        return [
            each._replace(dropped=answer_key(self, each.follows) != each.answer_id)
            for each in self.asked
        ]


def steps_of(trial: Trial, content: AnyContent) -> Steps:
    """All questions that are asked at this point."""
    return Steps(content.questions, trial.follow_ups, trial.answers, trial.skipped)


def answer_key(trial: Trial, question_id: str) -> str:
    """The same for the same words in answer to the same question, "" without an answer."""
    text = trial.answers.get(question_id)
    if text is None:
        return ""
    return hashlib.blake2b(f"{question_id}\0{text}".encode(), digest_size=12).hexdigest()


def answer(trial: Trial, step: Step, text: str) -> Trial:
    """With this answer to a question."""
    id_ = step.question_id
    return replace(
        trial,
        answers=trial.answers | {id_: text},
        skipped=tuple(each for each in trial.skipped if each != id_),
        unsent=_without(trial.unsent, {id_}),
    )


def skip(trial: Trial, content: AnyContent, step: Step) -> Trial:
    """Without an answer to a question; those to the follow-ups of a scripted one go with it."""
    taken = {step.question_id}
    if not step.asked:
        taken |= {each.id for each in _asked_because_of(trial, content, step)}
    skipped = (*(each for each in trial.skipped if each not in taken), step.question_id)
    return replace(trial, answers=_without(trial.answers, taken), skipped=skipped)


def leave(trial: Trial, step: Step, typed: str) -> Trial:
    """With what was typed to a question and not sent; it is there again when the page is."""
    unsent = _without(trial.unsent, {step.question_id})
    if typed != trial.answers.get(step.question_id, ""):
        unsent[step.question_id] = typed
    return replace(trial, unsent=unsent)


def to_decide(
    trial: Trial, content: AnyContent, step: Step, *, page_language: str
) -> Thread | NoRoom | None:
    """What there is to decide about the answer that a question has; None if that was done."""
    known = decided_after(trial, step)
    if known and known.reason not in set(NoRoom):
        return None
    return _lack_of_room(trial, content, step) or steps_of(trial, content).thread(
        content.follow_up_mode,
        step.place,
        trial.answers,
        language=language_to_ask_in(language_of_content(content), page_language),
    )


def remaining(trial: Trial, content: AnyContent, step: Step) -> int:
    """How many follow-ups to the same scripted question may still be asked."""
    cap = form_settings(content).max_followups_per_question
    return cap - len(_asked_because_of(trial, content, step))


def decide(trial: Trial, content: AnyContent, step: Step, came: Decided, made: Decision) -> Trial:
    """With what was decided about the answer to a question, and the question that it asks."""
    key = answer_key(trial, step.question_id)
    decided = replace(trial, decided=trial.decided | {key: came})
    if not made.technique:
        return decided
    parent = content.questions[step.place.number - 1]
    depth = len(_asked_because_of(trial, content, step)) + 1
    asked = AskedFollowUp(
        f"{parent['id']}\0{depth}",  # no id of a question has this character
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
    """What came of the answer that a question has; None without one."""
    return trial.decided.get(answer_key(trial, step.question_id))


def _asked_because_of(trial: Trial, content: AnyContent, step: Step) -> list[AskedFollowUp]:
    """The follow-ups to the scripted question of a step."""
    parent = content.questions[step.place.number - 1]
    return [each for each in trial.follow_ups if each.parent_question_id == parent["id"]]


def _lack_of_room(trial: Trial, content: AnyContent, step: Step) -> NoRoom | None:
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
