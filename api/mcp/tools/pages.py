"""The bound of every result: a page has as many whole items as fit. If one item alone is too long,
its longest texts are cut.
"""

from bisect import bisect_right
from itertools import accumulate
from typing import Annotated, TypeVar, cast

import orjson
from pydantic import Field, StrictStr

from api.mcp.messages import Json
from webapp.domain.content.draft_fields import whole_number
from webapp.domain.shared.error_codes import ErrorCode
from webapp.domain.shared.errors import InvalidInput
from webapp.domain.shared.input_model import InputModel

RESULT_BYTES = 48 * 1024  # of the text of a result, our choice
TEXT_BYTES = RESULT_BYTES - 512  # of it, for the JSON; the rest is for the marks around it
PAGE_BYTES = TEXT_BYTES - 1024  # of that, for a page; the rest is for a cursor or a wait
LIMIT_MAX = 1000  # more than fit on a page
TEXTS = {"title", "goal", "text", "context", "note", "before", "after"}  # by the names of fields
TEXTS |= {"questionText", "answerText"}

D = TypeVar("D")

Cursor = Annotated[
    StrictStr,
    Field(description="The `nextCursor` of the page before, unchanged; none for the first page."),
]
Limit = Annotated[
    int,
    Field(
        ge=1,
        le=LIMIT_MAX,
        description="How many items a page holds at most; fewer where they are long.",
    ),
    whole_number(LIMIT_MAX, 1),
]


class PageArguments(InputModel):
    """Which page, and how long."""

    cursor: Cursor | None = None
    limit: Limit = LIMIT_MAX


def page_of(found: D, items: str, key: str, asked: PageArguments | None = None) -> D:
    """The object with one page of its list `items`, and `nextCursor` where there is more.

    key  the field with the id of an item; the cursor of a page is the id of its first item
    raises  InvalidInput `invalid_cursor`
    """
    asked, whole = asked or PageArguments(), cast(dict[str, list[Json]], found)
    ids = [item[key] for item in whole[items]]
    if asked.cursor is not None and asked.cursor not in ids:
        raise InvalidInput(
            ErrorCode.INVALID_CURSOR,
            "cursor: is not one of this list as it is now.",
            "Send the call without cursor to begin again, and drop the pages read so far.",
            field="cursor",
        )
    start = ids.index(asked.cursor) if asked.cursor is not None else 0
    rest = whole[items][start:]
    sizes = accumulate((size(item) + 1 for item in rest), initial=size(whole | {items: []}))
    fitting = bisect_right(list(sizes)[1:], PAGE_BYTES)
    kept = max(1, min(fitting, asked.limit))
    following = {"nextCursor": ids[start + kept]} if kept < len(rest) else {}
    return cast(D, whole | {items: rest[:kept]} | following)


def cut_to_fit(found: Json) -> Json:
    """The object; if it is too large, all texts are cut to one length that fits."""
    if size(found) <= TEXT_BYTES:
        return found
    lengths = range(1, size(found))
    chars = bisect_right(lengths, TEXT_BYTES, key=lambda chars: size(_cut(found, chars)))
    return {**cast(Json, _cut(found, chars)), "textsCut": True}


def _cut(value: object, chars: int) -> object:
    if isinstance(value, list):
        return [_cut(each, chars) for each in value]
    if not isinstance(value, dict):
        return value
    cut = {
        name: each[:chars] if name in TEXTS and isinstance(each, str) else _cut(each, chars)
        for name, each in value.items()
    }
    if len(value.get("answerText", "")) > chars and "answerTruncated" in value:
        cut["answerTruncated"] = True
    return cut


def size(value: object) -> int:
    """In bytes of JSON."""
    return len(orjson.dumps(value))
