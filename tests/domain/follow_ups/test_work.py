"""Answers that are made to cost much."""

import random

import pytest

from webapp.base.vocabulary import FollowUpMode
from webapp.follow_ups.rules import Exchange, Thread, decide

CHARS = 10_000
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


@pytest.mark.parametrize("part", HOSTILE.values(), ids=HOSTILE)
def test_long_texts_are_decided_about(part: str) -> None:
    """One that takes a square of its length would end by the limit of a test."""
    text = (part * (CHARS // len(part) + 1))[:CHARS]
    for asked, said in ((QUESTION, text), (text, PLAIN)):
        exchange = Exchange(asked, said)
        decide(Thread(FollowUpMode.DEEP_DIVE, (exchange, exchange), (asked,) * 40))
