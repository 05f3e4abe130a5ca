"""JSON for agents: the contract's operations and further routes under `/api`, and the MCP
endpoint, which offers them as tools.
"""

from flask import Flask

from api import agents, drafts, errors, forms, subscriptions
from api.mcp import endpoint, protocol
from api.openapi import document
from webapp.web.extensions import csrf
from webapp.web.request_kind import RequestKind, register

__all__ = ["document", "drafts", "forms", "init_app"]  # imported for routes

errors.answer_failures(errors.bp)
errors.answer_failures(agents.bp)


ROUTER_REFUSALS = {
    RequestKind.API: errors.http_problem,
    RequestKind.AGENT: errors.http_problem,
    RequestKind.MCP: endpoint.router_refusal,
}


def init_app(app: Flask) -> None:
    """Serve the API."""
    # otherwise a path with an empty id would redirect to another route
    app.url_map.merge_slashes = False
    subscriptions.init_app(app)
    kinds = {errors.bp: RequestKind.API, agents.bp: RequestKind.AGENT, protocol.bp: RequestKind.MCP}
    for blueprint, kind in kinds.items():
        csrf.exempt(blueprint)
        register(app, blueprint, kind)
