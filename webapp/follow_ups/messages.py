"""The messages to a model, and the parsing of its reply."""

import json
import re
from collections.abc import Iterator
from itertools import islice
from typing import NamedTuple

from webapp.follow_ups.lexicon import load
from webapp.follow_ups.rules import Exchange, Technique, Thread, holding

SEEN_MAX_CHARS = 6000  # of each text, in code points
FOLLOW_UPS_SEEN = 8  # bounds the reading time of a long thread
QUESTION_MAX_CHARS = 200
PROMPT = load("prompt")
# Without limits of length: some services that follow schemas do not support them.
REPLY_SCHEMA: dict[str, object] = PROMPT["reply"]


class Brief(NamedTuple):
    """The texts that the creator of a draft or form wrote for the model or the rules."""

    title: str
    goal: str | None
    private_context: str | None


class ModelMessages(NamedTuple):
    """The two messages to a model."""

    system: str  # its role and rules, with the texts of the creator
    user: str  # the texts of the respondent, as JSON


def messages_for(thread: Thread, brief: Brief, *, remaining: int) -> ModelMessages:
    """Return the messages that ask about the last answer of the thread.

    They tell the model to keep the private context secret; the guard checks that it did.
    remaining  the number of follow-ups that may still be asked, including this one
    """
    *earlier, last = seen(thread)
    conversation = {
        "question": last.question,
        "answer": last.answer,
        "thread": [{"question": each.question, "answer": each.answer} for each in earlier],
        "remaining": remaining,
        "language": thread.language,
    }
    system = PROMPT["system"].format(
        aim=PROMPT["modes"][thread.mode],
        prepared="\n".join(_prepared(thread)) or "- none",
        techniques="\n".join(f"- {name}: {meant}" for name, meant in PROMPT["techniques"].items()),
        form=_json({"title": _cut(brief.title), "goal": _cut(brief.goal or "")}),
        background=_json(_cut(brief.private_context or "")),
    )
    return ModelMessages(system=system, user=_json(conversation))


def seen(thread: Thread) -> tuple[Exchange, ...]:
    """Return what the model sees of a thread: its beginning and its latest follow-ups, cut."""
    first, *others = thread.exchanges
    latest = others[-FOLLOW_UPS_SEEN:]
    return tuple(Exchange(_cut(each.question), _cut(each.answer)) for each in (first, *latest))


def _prepared(thread: Thread) -> Iterator[str]:
    """Yield the numbered prepared questions, each with whether its condition holds."""
    held = [*holding(thread)]
    for number, each in enumerate(thread.prepared, 1):
        condition = PROMPT["conditions"][each["condition"]]
        fits = "which this is" if each in held else "which this is not"
        yield f"{number}. {_json(each['text'])} – for {condition}, {fits}"


def _cut(text: str) -> str:
    return text[:SEEN_MAX_CHARS]


def _json(value: object) -> str:
    return json.dumps(value, ensure_ascii=False)


REPLY_MAX_CHARS = 64 * 1024  # including thoughts of the model
OBJECTS_TRIED = 40  # bounds the time: each object may reach to the end of the text
STOPS = frozenset({"stop", "none", "nothing", "silence", "skip", "end", "no"})
NUMBER = re.compile("[0-9]{1,3}")


class Reply(NamedTuple):
    """The number of a prepared question or 0, and the text of the model; neither for a stop."""

    technique: Technique | None = None
    question: str = ""
    prepared: int = 0


def parse_reply(text: str) -> Reply | None:
    """Find the reply in a text, among code fences, prose, or thoughts before `</think>`.

    None if there is no reply, or if there are two that differ.
    """
    if len(text) > REPLY_MAX_CHARS:
        return None
    for part in (_THOUGHT_END.split(text)[-1], text):
        if found := set(_replies(part)):
            return found.pop() if len(found) == 1 else None
    return None


_THOUGHT_END = re.compile("</(?:think|thinking|thought|reasoning)>", re.IGNORECASE)
_OBJECT = re.compile(r'\{\s*"')


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
    """Return the reply in the fields; a stop wins over any other field."""
    action = str(fields.get("action") or "").strip().casefold()
    question, technique = fields.get("question"), str(fields.get("technique"))
    is_silent = not action and "question" in fields and question in (None, "")
    number = NUMBER.fullmatch(str(fields.get("prepared")).strip())
    prepared = int(number[0]) if number else 0
    if action in STOPS or (is_silent and not prepared):
        return Reply()
    written = question.strip() if isinstance(question, str) else ""
    if not (written or prepared):
        return None
    known = Technique(technique) if technique in PROMPT["techniques"] else Technique.ELABORATE
    return Reply(known, written, prepared)


def _members(pairs: list[tuple[str, object]]) -> dict[str, object]:
    members = dict(pairs)
    if len(members) != len(pairs):
        raise ValueError("a member twice")
    return members


_DECODER = json.JSONDecoder(object_pairs_hook=_members)
