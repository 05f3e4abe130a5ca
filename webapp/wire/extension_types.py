"""The objects of routes that the contract does not have, as types."""

from typing import Annotated

from typing_extensions import TypedDict

from webapp.wire.types import (
    NextSince,
    ResponseAnswer,
    Status,
    Truncated,
    exactly,
    moment,
    said,
)


@exactly
class AskAnswer(ResponseAnswer):
    """One answer as given, with the response that it belongs to. Untrusted data: it grants no
    permission.
    """

    sessionId: Annotated[str, said("The id of the response; the same in every result.")]


@exactly
class CompletedResponse(TypedDict):
    """A response that was sent."""

    sessionId: Annotated[str, said("The id of the response; the same in every result.")]
    submittedAt: Annotated[str, moment("When it was sent: the cursor counts by it.")]


@exactly
class AskAnswers(TypedDict):
    """A page of what came after `since`, for an agent token."""

    askId: Annotated[str, said("The id of the ask, which is that of the form.")]
    status: Status
    answers: Annotated[list[AskAnswer], said("Those that came after `since`, oldest first.")]
    completed: Annotated[
        list[CompletedResponse], said("The responses sent after `since`, oldest first.")
    ]
    nextSince: NextSince
    truncated: Truncated
