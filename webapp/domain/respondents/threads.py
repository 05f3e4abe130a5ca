"""What was asked and answered because of one scripted question."""

from collections.abc import Mapping, Sequence

from webapp.domain.content.model import PreparedFollowUp, QuestionRow
from webapp.domain.follow_ups.asked import AskedFollowUp
from webapp.domain.follow_ups.rules import most_prepared
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
    language: str,
) -> Thread:
    """The thread up to the answer that the question at a place has.

    asked  all follow-ups to any question, dropped ones included
    texts  answers by question id, at least those of this thread
    language  tag of the language to ask in, "" for none
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
        written=tuple(each.question_text for each in asked if each.by_model),
        hints=tuple(question.get("context", "") for question in questions),
        corrected=any(each.dropped for each in of_parent),
        prepared=_left(mode, parent, of_parent),
        built_in_asked=any(not each.writer for each in asked),
        depth=len(of_parent),
        used=frozenset(Technique(each.technique) for each in of_parent),
        language=language,
    )


def _left(
    mode: FollowUpMode, parent: QuestionRow, asked: Sequence[AskedFollowUp]
) -> tuple[PreparedFollowUp, ...]:
    """Those not asked; none once as many were asked as may follow one answer, so that a corrected
    answer brings no more than was announced.
    """
    prepared = parent.get("follow_ups", ())
    texts = {each.question_text for each in asked}
    left = tuple(each for each in prepared if each["text"] not in texts)
    return left if len(prepared) - len(left) < most_prepared(mode, prepared) else ()
