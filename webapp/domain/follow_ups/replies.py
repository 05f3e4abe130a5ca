"""Replies of models, read without trust."""

import json
from typing import NamedTuple

from webapp.domain.follow_ups.messages import ASK, REPLY_FIELDS, STOP, TECHNIQUES
from webapp.domain.follow_ups.thread import Technique

REPLY_MAX_CHARS = 4096  # our choice: a question with its technique takes some 300


class Reply(NamedTuple):
    """A question with its technique; `technique` is None and `question` is "" for a stop."""

    technique: Technique | None = None
    question: str = ""


def parse_reply(text: str) -> Reply | None:
    """The reply; None for one that is too long, no JSON, or not of the schema.

    A stop is a stop, whatever stands beside it.
    """
    fields = _json_object(text) if len(text) <= REPLY_MAX_CHARS else {}
    if fields.keys() - REPLY_FIELDS.keys():
        return None
    if fields.get("action") == STOP:
        return Reply()
    technique, question = fields.get("technique"), fields.get("question")
    if fields.get("action") != ASK or not isinstance(technique, str):
        return None
    if technique not in _TECHNIQUES or not isinstance(question, str):
        return None
    return Reply(Technique(technique), question.strip())


_TECHNIQUES = frozenset(each.value for each in TECHNIQUES)


def _json_object(text: str) -> dict[str, object]:
    """The object that the text is; an empty one if it is none, or names a member twice."""
    try:
        found = json.loads(text, object_pairs_hook=_members, parse_constant=_refuse)
    except (ValueError, RecursionError):
        return {}
    return found if isinstance(found, dict) else {}


def _members(pairs: list[tuple[str, object]]) -> dict[str, object]:
    members = dict(pairs)
    if len(members) != len(pairs):
        raise ValueError("a member twice")
    return members


def _refuse(constant: str) -> None:
    raise ValueError("NaN and infinities are no JSON")
