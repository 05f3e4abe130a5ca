"""The tool that makes a private token for an agent without OAuth."""

from api.agent_tokens import agent_token
from api.mcp.call import Call
from api.mcp.tools.arguments import FormId
from api.mcp.tools.table import tool
from api.rate_limits import limit_agent_tokens
from webapp.domain.forms.agent_token_input import AgentTokenInput
from webapp.domain.shared.vocabulary import Scope
from webapp.wire.extension_types import MadeAgentToken


class AgentTokenArguments(AgentTokenInput):
    """Which form, and what may be said of the token."""

    form_id: FormId


@tool(
    "create_agent_token",
    title="Create an agent token",
    description="""A private token with which a program without OAuth reads the answers of this one
        form at `answersUrl`, as a bearer token, for at most 7 days. It is a secret and is said this
        once: hand it to that program only, and never to respondents.""",
    scope=Scope.RESPONSES_READ,
    takes=AgentTokenArguments,
    answers=MadeAgentToken,
    counted=limit_agent_tokens,
    repeats=False,
)
def create_agent_token(call: Call, given: AgentTokenArguments) -> MadeAgentToken:
    """As `POST /forms/{formId}/agent-tokens`."""
    return agent_token(call.caller, given.form_id, given)
