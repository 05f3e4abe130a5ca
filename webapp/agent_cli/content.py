"""What is asked: arguments, a JSON file or standard input, as the body of a new draft."""

import json
import sys
from collections.abc import Sequence
from typing import NoReturn

from webapp.agent_cli.exits import Exit, Stopped

BODY_MAX_BYTES = 256 * 1024  # of the API
STDIN = "-"


def read_content(arguments: Sequence[str], file: str | None, *, optional: bool) -> str:
    """A JSON object as text; empty when nothing is given and that is `optional`. Raises Stopped.

    Standard input is read when it is named, or when nothing else is given and it is no terminal.
    """
    if arguments and file:
        raise _wrong("Give either a title and questions, or a file.")
    if arguments:
        return _of_arguments(*arguments)
    if file:
        return _object(_bytes(file), "standard input" if file == STDIN else file)
    if optional:
        return ""
    typed = b"" if sys.stdin.isatty() else _bytes(STDIN)
    if not typed.strip():
        raise _wrong("Give a title and at least one question, or a JSON file with --file.")
    return _object(typed, "standard input")


def _of_arguments(title: str, *questions: str) -> str:
    if not questions:
        raise _wrong("After the title, give at least one question.")
    return json.dumps({"title": title, "questions": questions})


def _bytes(file: str) -> bytes:
    try:
        if file == STDIN:
            return sys.stdin.buffer.read(BODY_MAX_BYTES + 1)
        with open(file, "rb") as opened:
            return opened.read(BODY_MAX_BYTES + 1)
    except OSError as problem:
        raise _wrong(f"{file} cannot be read: {problem.strerror}.") from problem


def _object(text: bytes, name: str) -> str:
    """In one spelling, so that a repetition sends the same bytes."""
    if len(text) > BODY_MAX_BYTES:
        raise _wrong(f"{name} is larger than 256 KiB.")
    try:
        found = json.loads(text.decode("utf-8-sig"), parse_constant=_refuse_constant)
    except (ValueError, RecursionError) as problem:
        raise _wrong(f"{name} is not JSON in UTF-8: {problem}.") from problem
    if not isinstance(found, dict):
        raise _wrong(f"{name} is not one JSON object.")
    return json.dumps(found)


def _refuse_constant(name: str) -> NoReturn:
    raise ValueError(f"{name} is no number of JSON")


def _wrong(message: str) -> Stopped:
    return Stopped(Exit.WRONG_USE, message)
