"""What deciding costs, on answers made to cost much."""

import random
import time

import pytest

from webapp.base.vocabulary import FollowUpMode
from webapp.follow_ups.rules import Exchange, Thread, decide

CHARS = 10_000
SECONDS = 0.1  # of processor time: four times the goal, because machines differ
QUESTION = "What made you switch?"
PLAIN = "I like the colors and the layout of the page very much"
RANDOM = random.Random(12)  # noqa: S311
HOSTILE = {
    "one letter": "a",
    "blanks": " ",
    "separators": ";,\n",
    "one-letter words": "a ",
    "combining marks": "\u0301\u0323",
    "marks out of order": "a" + "\u0323\u0301" * 400,
    "characters that become eighteen": "\ufdfa",
    "Han": "慢",
    "different Han": "".join(chr(0x4E00 + i) for i in range(CHARS)),
    "different words": " ".join(f"w{i}" for i in range(2000)),
    "hyphens": "a-",
    "apostrophes": "a'",
    "beginnings of phrases": "lost my ",
    "non-answers": "nothing at all ",
    "refusals": "i do not want ",
    "emoji": "😀",
    "nothing visible": "\u200b",
    "Arabic": "لا ",
    "digits": "1",
    "capitals that grow": "İ",
    "any letters": "".join(chr(RANDOM.randrange(0x20, 0xD7FF)) for _ in range(CHARS)),
    "any letters beyond": "".join(chr(RANDOM.randrange(0x10000, 0x10FFFF)) for _ in range(CHARS)),
}


def seconds_of(question: str, answer: str) -> float:
    """Processor time of the fastest of three decisions."""
    thread = Thread(
        FollowUpMode.DEEP_DIVE,
        (Exchange(question, answer), Exchange(question, answer)),
        (question,) * 40,
    )
    taken = []
    for _ in range(3):
        began = time.thread_time()
        decide(thread)
        taken.append(time.thread_time() - began)
    return min(taken)


@pytest.mark.parametrize("part", HOSTILE.values(), ids=HOSTILE)
def test_a_long_answer_costs_little(part: str) -> None:
    answer = (part * (CHARS // len(part) + 1))[:CHARS]

    assert seconds_of(QUESTION, answer) < SECONDS


@pytest.mark.parametrize("part", HOSTILE.values(), ids=HOSTILE)
def test_a_long_question_costs_little(part: str) -> None:
    question = (part * (CHARS // len(part) + 1))[:CHARS]

    assert seconds_of(question, PLAIN) < SECONDS
