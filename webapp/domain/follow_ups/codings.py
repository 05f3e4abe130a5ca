"""Undoes simple ciphers and codings that may hide a word in a question.

Not undone are ciphers with a key, codes that two people agreed on, and what is spread over several
questions.
"""

import base64
import re
from binascii import Error
from collections.abc import Callable, Iterator

from webapp.domain.follow_ups.text_folding import folded

LETTERS = "abcdefghijklmnopqrstuvwxyz"
SHIFTS = [
    str.maketrans(LETTERS, alphabet)
    for alphabet in (LETTERS[::-1], *(LETTERS[by:] + LETTERS[:by] for by in range(1, 26)))
]
VOWELS = re.compile("[aeiou]")
SUFFIX = re.compile("(?:way|yay|ay)$")  # of Pig Latin
CODED = re.compile("[A-Za-z0-9+/=]{6,}")
# dots and lines in groups, as Morse writes letters
MORSE = re.compile(r"(?:(?:^|[\s/|])[.·•‧\-‐-―−]{1,6}(?=[\s/|]|$)){3,}")  # noqa: RUF001


def shifted(word: str) -> Iterator[str]:
    """Caesar ciphers by each number of letters, and Atbash."""
    return (word.translate(shift) for shift in SHIFTS)


def letters_of(word: str) -> set[str]:
    """Its letters in alphabetical order, with and without what Pig Latin adds."""
    return {"".join(sorted(each)) for each in (word, SUFFIX.sub("", word))}


def without_vowels(word: str) -> str:
    """Its consonants."""
    return VOWELS.sub("", word)


def decoded(text: str) -> Iterator[str]:
    """The folded texts of words in hexadecimal digits, Base32 and Base64."""
    for found in CODED.findall(text):
        for decode in _DECODERS:
            try:
                yield folded(decode(found).decode())
            except (ValueError, Error):
                continue


_DECODERS: tuple[Callable[[str], bytes], ...] = (
    bytes.fromhex,
    lambda word: base64.b32decode(word.rstrip("=").upper() + "=" * (-len(word.rstrip("=")) % 8)),
    lambda word: base64.b64decode(word.rstrip("=") + "=" * (-len(word.rstrip("=")) % 4)),
)


def read_across(text: str, tokens: list[str]) -> Iterator[str]:
    """The first letters of all words, the last ones, and the capitals."""
    yield "".join(token[0] for token in tokens)
    yield "".join(token[-1] for token in tokens)
    yield folded("".join(char for char in text if char.isupper()))
