"""How the objects that agents read are described: mypy checks them, the document shows them.

Names and spelling are the contract's.
"""

from typing import Annotated, NotRequired

from pydantic import ConfigDict, Field, with_config
from pydantic.config import JsonValue
from pydantic.fields import FieldInfo
from typing_extensions import TypedDict

from webapp.base.errors import OF_REST


def said(description: str, **schema: JsonValue) -> FieldInfo:
    """What the document says of a property; `schema` are further keywords."""
    said: FieldInfo = Field(description=description, json_schema_extra=schema or None)
    return said


def moment(description: str) -> FieldInfo:
    """`said` of a date-time."""
    return said(description, format="date-time")


@with_config(ConfigDict(extra="forbid"))
class Body(TypedDict):
    """An object without further fields."""


class CutPage(Body):
    """What may be too long for the result of a tool."""

    textsCut: NotRequired[
        Annotated[bool, said("True where the longest texts are cut, so that the result fits.")]
    ]


class ItemPage(CutPage):
    """What holds a list that may go on."""

    nextCursor: NotRequired[
        Annotated[str, said("Only where there is more: send it as `cursor` for the next page.")]
    ]


class Error(Body):
    """Every refusal and every failure, of every operation."""

    error: Annotated[str, said("The same as `message`, for older clients.")]
    code: Annotated[
        str,
        said(
            "A stable word for programs. There may be new ones: treat a code that you do not know "
            "by its status. Known are " + ", ".join(f"`{known}`" for known in OF_REST) + ".",
        ),
    ]
    message: Annotated[
        str, said("What happened, for people; begins with the path of the wrong field.")
    ]
    resolution: Annotated[str, said("What to do about it.")]
