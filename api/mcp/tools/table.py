"""What a tool is, and the table of all of them."""

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any, TypeVar

from api.mcp.call import Call
from api.mcp.tools.schemas import input_schema, output_schema
from webapp.domain.shared.input_model import InputModel
from webapp.domain.shared.vocabulary import Scope

I = TypeVar("I", bound=InputModel)  # noqa: E741
Use = Callable[[Call, Any], object]


@dataclass(frozen=True, slots=True, kw_only=True)
class Tool:
    """One tool.

    takes     the model of its arguments
    answers   the type of its structured content
    use       carries it out; raises Outcome for what the caller can mend
    reads     it changes nothing
    repeats   a second call with the same arguments changes nothing more
    quotes    its result may hold words of respondents
    """

    name: str
    title: str
    description: str
    scope: Scope
    takes: type[InputModel]
    answers: type
    use: Use
    reads: bool = False
    repeats: bool = True
    quotes: bool = False

    def listed(self) -> dict[str, object]:
        """The tool as `tools/list` shows it."""
        return {
            "name": self.name,
            "title": self.title,
            "description": self.description,
            "inputSchema": input_schema(self.takes),
            "outputSchema": output_schema(self.answers),
            "annotations": {
                "readOnlyHint": self.reads,
                "destructiveHint": False,
                "idempotentHint": self.repeats,
                "openWorldHint": False,
            },
            "_meta": {"securitySchemes": [{"type": "oauth2", "scopes": [self.scope]}]},
        }


TOOLS: dict[str, Tool] = {}


def tool(
    name: str,
    *,
    title: str,
    description: str,
    scope: Scope,
    takes: type[I],
    answers: type,
    **hints: bool,
) -> Callable[[Callable[[Call, I], object]], Callable[[Call, I], object]]:
    """Put a function into the table as a tool; `hints` are `reads`, `repeats` and `quotes`."""

    def register(use: Callable[[Call, I], object]) -> Callable[[Call, I], object]:
        TOOLS[name] = Tool(
            name=name,
            title=title,
            description=" ".join(description.split()),
            scope=scope,
            takes=takes,
            answers=answers,
            use=use,
            **hints,
        )
        return use

    return register
