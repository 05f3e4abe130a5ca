"""A call of a tool: its result, or its refusal, which uses no quota."""

from flask_limiter import RateLimitExceeded

from api.errors import error_fields, rate_limited
from api.mcp.call import Call
from api.mcp.messages import Json
from api.mcp.tools.results import InputRequired, refusal, success
from api.mcp.tools.table import Tool
from api.rate_limits import count_nothing
from webapp.database.failures import may_run_again
from webapp.domain.shared.error_codes import ErrorCode
from webapp.domain.shared.errors import Outcome
from webapp.domain.shared.limits import WAIT_MAX_SECONDS
from webapp.oauth.guard import Unauthenticated


def invoke(tool: Tool, call: Call, arguments: Json) -> Json:
    """The result. raises Unauthenticated, and whatever the caller cannot mend"""
    try:
        return success(tool.use(call, arguments), quotes=tool.quotes)
    except Exception as failure:
        if not may_run_again(failure):
            count_nothing()
        return _result_of(failure)


def _result_of(failure: Exception) -> Json:
    if isinstance(failure, InputRequired):
        return failure.result
    if isinstance(failure, RateLimitExceeded):
        failure = rate_limited(failure)
    if not isinstance(failure, Outcome) or isinstance(failure, Unauthenticated):
        raise failure
    if not isinstance(failure.code, ErrorCode):  # of pages
        raise failure
    return refusal(error_fields(failure, _wait_by_tool))


def _wait_by_tool(_draft_id: str) -> str:
    return f"get_form_draft with its draftId and timeoutSeconds {WAIT_MAX_SECONDS}"
