"""Pages of fragments: nothing is lost, repeated or cut inside a code point."""

import random
from collections import defaultdict

import orjson
import pytest

from webapp.records.responses import completed
from webapp.records.responses.models import AnswerRow


def answer(number: int, question: str, text: str, given: str = "text") -> AnswerRow:
    return AnswerRow(
        f"ans_{number}", "ses_1", f"q_{number}", question, text, given, "scripted", None, number
    )


def pages(answers: list[AnswerRow], most: int = 1000) -> list[list[completed.Fragment]]:
    found, position = [], completed.START
    while position is not None:
        fragments, following = completed.cut_page(answers, position, most)
        found.append(fragments)
        assert following is None or following > position
        position = following  # type: ignore[assignment]
    return found


def rebuilt(found: list[list[completed.Fragment]]) -> list[tuple[str, str, str]]:
    questions, texts = defaultdict(list), defaultdict(list)
    for fragment in (each for page in found for each in page):
        questions[fragment.answer.id].append((fragment.question_offset, fragment.question_text))
        texts[fragment.answer.id].append((fragment.answer_offset, fragment.answer_text))
    return [
        (key, *("".join(part for _, part in sorted(of[key])) for of in (questions, texts)))
        for key in questions
    ]


def test_many_answers_of_any_length_are_rebuilt_exactly() -> None:
    chance = random.Random(7)  # noqa: S311
    alphabet = "aé€𝔸\u0301\u200d👩"
    lengths = [0, 1, 3, 900, 900, 9_000]
    answers = [
        answer(n, *("".join(chance.choices(alphabet, k=chance.choice(lengths))) for _ in "qa"))
        for n in range(300)
    ]
    answers.append(answer(300, "x" * 100_000, "𝔸" * 100_000))

    found = pages(answers)

    assert rebuilt(found) == [(row.id, row.question_text, row.answer_text) for row in answers]
    firsts = [each.answer.id for page in found for each in page if each.is_first]
    assert firsts == [row.id for row in answers]
    sizes = [
        sum(len(orjson.dumps(each.question_text + each.answer_text)) for each in page)
        for page in found
    ]
    assert max(sizes) <= completed.PAGE_BYTES
    assert max(map(len, found)) <= completed.PAGE_BYTES // completed.EXCHANGE_BYTES + 1


@pytest.mark.parametrize("left", range(completed.CODE_POINT_BYTES + 1))
def test_an_answer_begins_where_a_code_point_has_room(left: int) -> None:
    filling = "x" * (completed.PAGE_BYTES - 2 * completed.EXCHANGE_BYTES - len("q_1q_2") - left)

    found = pages([answer(1, "", filling), answer(2, "", "\x01")])

    texts = [[each.answer_text for each in page] for page in found]
    assert texts == (
        [[filling, "\x01"]] if left == completed.CODE_POINT_BYTES else [[filling], ["\x01"]]
    )
