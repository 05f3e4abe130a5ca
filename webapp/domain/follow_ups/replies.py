"""Replies of models, read without trust and without pedantry."""

import json
import re
from collections.abc import Iterator
from itertools import islice
from typing import NamedTuple

from webapp.domain.follow_ups.messages import TECHNIQUES
from webapp.domain.follow_ups.thread import Technique

REPLY_MAX_CHARS = 64 * 1024  # with what a model thinks aloud
OBJECTS_TRIED = 40  # our choice: bounds the time, as each may reach to the end of the text
STOPS = frozenset({"stop", "none", "nothing", "silence", "skip", "end", "no"})
NUMBER = re.compile("[0-9]{1,3}")


class Reply(NamedTuple):
    """The number of a prepared question or 0, and what the model wrote; neither for a stop."""

    technique: Technique | None = None
    question: str = ""
    prepared: int = 0


def parse_reply(text: str) -> Reply | None:
    """The reply in a text, whatever is around it: a code fence, prose, thoughts before `</think>`.

    None where there is none, or where there are two that differ.
    """
    if len(text) > REPLY_MAX_CHARS:
        return None
    for part in (_THOUGHT_END.split(text)[-1], text):
        if found := set(_replies(part)):
            return found.pop() if len(found) == 1 else None
    return None


_THOUGHT_END = re.compile("</(?:think|thinking|thought|reasoning)>", re.IGNORECASE)
_OBJECT = re.compile(r'\{\s*"')
_TECHNIQUES = {each.value: each for each in TECHNIQUES}


def _replies(text: str) -> Iterator[Reply]:
    end = 0
    for start in islice((found.start() for found in _OBJECT.finditer(text)), OBJECTS_TRIED):
        if start >= end:
            try:
                fields, after = _DECODER.raw_decode(text, start)
            except (ValueError, RecursionError):
                continue
            if reply := _reply(fields):
                end = after
                yield reply


def _reply(fields: dict[str, object]) -> Reply | None:
    """A stop is a stop, whatever stands beside it."""
    action = str(fields.get("action") or "").strip().casefold()
    question, technique = fields.get("question"), fields.get("technique")
    is_silent = not action and "question" in fields and question in (None, "")
    number = NUMBER.fullmatch(str(fields.get("prepared")).strip())
    prepared = int(number[0]) if number else 0
    if action in STOPS or (is_silent and not prepared):
        return Reply()
    written = question.strip() if isinstance(question, str) else ""
    if not (written or prepared):
        return None
    return Reply(_TECHNIQUES.get(str(technique), Technique.ELABORATE), written, prepared)


def _members(pairs: list[tuple[str, object]]) -> dict[str, object]:
    members = dict(pairs)
    if len(members) != len(pairs):
        raise ValueError("a member twice")
    return members


_DECODER = json.JSONDecoder(object_pairs_hook=_members)
