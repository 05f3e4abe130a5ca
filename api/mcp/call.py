"""One call: who makes it, in which era, and what its client says it can do."""

from collections.abc import Mapping
from dataclasses import dataclass, field

from api.mcp.eras import Era
from webapp.oauth.guard import Caller


@dataclass(frozen=True, slots=True)
class Call:
    """capabilities: those of the client, {} in the legacy era, where requests do not carry them.

    request_state   what a client sends back when it goes on with a call; whatever it sent
    responses       its answers to the requests of an earlier result; whatever it sent
    takes_blocks    whether the version it speaks knows audio and links to resources in results
    """

    caller: Caller
    era: Era
    capabilities: Mapping[str, object] = field(default_factory=dict)
    request_state: object = None
    responses: object = None
    takes_blocks: bool = False
