"""The operations of the API, and what follows from their paths, parameters and bodies."""

import re
import tomllib
from functools import cached_property
from http import HTTPMethod, HTTPStatus
from pathlib import Path
from pkgutil import resolve_name
from typing import Any

import orjson
from pydantic.dataclasses import dataclass

from webapp.base.errors import OF_REST, ErrorCode
from webapp.base.vocabulary import Scope

Json = dict[str, Any]

JSON = "application/json"
EVENT_STREAM = "text/event-stream"
AUDIO = "audio/*"
EVENTS_TAG = "Events"
PATH_ID = re.compile(r"{(\w+)}")
CODES = ", ".join(f"`{code}`" for code in OF_REST)


@dataclass(frozen=True, kw_only=True)
class Operation:
    """One route.

    path     below `/api`
    scope    None if the call needs an agent token
    takes    the type name of the request body; `sent` is an example
    answers  the type name of the response body; None for no body or if `media` is not JSON
    others   parameters that are not in the path
    refuses  error codes that do not follow from the rest
    """

    id: str
    tag: str
    method: HTTPMethod
    path: str
    summary: str
    description: str
    scope: Scope | None = None
    answers: str | None = None
    status: HTTPStatus = HTTPStatus.OK
    takes: str | None = None
    sent: Json | None = None
    others: tuple[str, ...] = ()
    refuses: tuple[ErrorCode, ...] = ()
    headers: tuple[str, ...] = ()
    media: str = JSON

    @property
    def parameters(self) -> tuple[str, ...]:
        return *PATH_ID.findall(self.path), *self.others

    @cached_property
    def codes(self) -> dict[HTTPStatus, tuple[ErrorCode, ...]]:
        of = DESCRIBED["codes"]
        causes = (*self.others, *PATH_ID.findall(self.path), self.method, "always")
        named = [*(of["body"] if self.takes else ()), *self.refuses]
        named += [code for cause in causes for code in of.get(cause, ())]
        found = [ErrorCode(code) for code in named]
        return {
            status: tuple(code for code in found if code.status is status)
            for status in sorted({code.status for code in found})
        }

    def error_headers(self, status: HTTPStatus) -> dict[str, str]:
        """Return the headers of refusals with this status, and the names of their descriptions."""
        if status is HTTPStatus.UNAUTHORIZED:
            return {"WWW-Authenticate": "WWW-Authenticate" if self.scope else "AgentChallenge"}
        if status is HTTPStatus.CONFLICT:
            return {"Link": "Link"} if "{draftId}" in self.path else {}
        name = {416: "Content-Range", 429: "Retry-After"}.get(status)
        return {name: name} if name else {}


def _read(name: str) -> str:
    return (Path(__file__).parent / name).read_text("utf-8")


def _filled(name: str) -> Json:
    """Return the data of a file, each `<<module:CONSTANT>>` replaced; a comma groups thousands."""
    constant = re.compile(r"<<([\w.:]+)(,?)>>")
    text = constant.sub(lambda found: format(resolve_name(found[1]), found[2]), _read(name))
    return tomllib.loads(text)


DESCRIBED = _filled("operations.toml")
FIELDS: dict[str, dict[str, str]] = _filled("fields.toml")
EXAMPLES: Json = orjson.loads(_read("examples.json"))  # {origin} is the public address


def _operations(group: str) -> tuple[Operation, ...]:
    sent = EXAMPLES["requests"]
    of_group = DESCRIBED[group].items()
    return tuple(Operation(id=name, sent=sent.get(name), **each) for name, each in of_group)


OPERATIONS = _operations("contract")
EXTENSIONS = _operations("extensions")
