"""What was asked and answered because of one scripted question."""

from collections.abc import Mapping, Sequence

from webapp.domain.content.model import PreparedFollowUp, QuestionRow
from webapp.domain.follow_ups.asked import AskedFollowUp
from webapp.domain.follow_ups.languages import language_of_form
from webapp.domain.follow_ups.thread import Exchange, Technique, Thread
from webapp.domain.respondents.steps import Place
from webapp.domain.shared.vocabulary import FollowUpMode


def thread_of(
    mode: FollowUpMode,
    questions: Sequence[QuestionRow],
    asked: Sequence[AskedFollowUp],
    place: Place,
    texts: Mapping[str, str],
    *,
    seed: str,
) -> Thread:
    """The thread up to the answer that the question at a place has.

    asked  all follow-ups to any question, dropped ones included
    texts  answers by question id, at least those of this thread
    """
    parent = questions[place.number - 1]
    of_parent = [each for each in asked if each.parent_question_id == parent["id"]]
    steps: list[tuple[str, str, Technique | None]] = [(parent["id"], parent["text"], None)]
    steps += [
        (each.id, each.question_text, Technique(each.technique))
        for each in of_parent
        if each.depth <= place.follow_up
    ]
    return Thread(
        mode,
        tuple(Exchange(text, texts[id_], how) for id_, text, how in steps if id_ in texts),
        questions=(
            *(question["text"] for question in questions),
            *(each.question_text for each in asked),
        ),
        written=tuple(each.question_text for each in asked if each.writer),
        hints=tuple(question.get("context", "") for question in questions),
        corrected=any(each.dropped for each in of_parent),
        prepared=_not_asked(parent, of_parent),
        depth=len(of_parent),
        used=frozenset(Technique(each.technique) for each in of_parent),
        language=language_of_form(*(question["text"] for question in questions)),
        seed=f"{seed}:{parent['id']}",
    )


def _not_asked(parent: QuestionRow, asked: Sequence[AskedFollowUp]) -> tuple[PreparedFollowUp, ...]:
    texts = {each.question_text for each in asked}
    return tuple(each for each in parent.get("follow_ups", ()) if each["text"] not in texts)
