"""Names of people and programs, in any script."""

import re

JOINERS = "\u200c\u200d"  # Persian and Indic spelling has them, and many emoji
# control characters, direction overrides, and halves of pairs, which no database stores
_DROPPED = re.compile("[\x00-\x1f\x7f-\x9f\u202a-\u202e\u2066-\u2069\ud800-\udfff]")


def in_one_line(name: str) -> str:
    """The name in one line, without control characters and overrides; "" if nothing is visible.

    Joiners and other formatting characters belong to the spelling of many scripts.
    """
    name = " ".join(_DROPPED.sub("", " ".join(name.split())).split())
    return name if any(char.isprintable() and char != " " for char in name) else ""
