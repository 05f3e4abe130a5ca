"""The text of an agent token.

`askag_`, 256 random bits as 43 characters of base 62, and the CRC-32 of both as 6 more, by which a
mistyped token is refused without a query.
"""

import re
import secrets
import string
import zlib

PREFIX = "askag_"
RANDOM_BYTES = 32
RANDOM_CHARS = 43  # of base 62
SUM_CHARS = 6  # of base 62
DIGITS = string.digits + string.ascii_uppercase + string.ascii_lowercase
SHAPE = re.compile(f"{PREFIX}[0-9A-Za-z]{{{RANDOM_CHARS + SUM_CHARS}}}")
HINT_START, HINT_END = 9, 4  # characters


def new_token() -> str:
    """A new random token; the prefix tells secret scanners what it is."""
    number = int.from_bytes(secrets.token_bytes(RANDOM_BYTES))
    text = PREFIX + _base_62(number, RANDOM_CHARS)
    return text + _sum_of(text)


def is_well_formed(token: str) -> bool:
    """Whether it has the shape of a token and its sum is right."""
    known = SHAPE.fullmatch(token)
    return bool(known) and token[-SUM_CHARS:] == _sum_of(token[:-SUM_CHARS])


def hint_of(token: str) -> str:
    """What lists show of a token."""
    return f"{token[:HINT_START]}…{token[-HINT_END:]}"


def _sum_of(text: str) -> str:
    return _base_62(zlib.crc32(text.encode()), SUM_CHARS)


def _base_62(number: int, width: int) -> str:
    digits = ""
    for _ in range(width):
        number, digit = divmod(number, len(DIGITS))
        digits = DIGITS[digit] + digits
    return digits
