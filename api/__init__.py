"""JSON for agents: under `/api` the contract's operations and routes alongside them, and the
MCP endpoint, which offers the same as tools.
"""

from collections.abc import Callable

from flask import Flask
from werkzeug.exceptions import HTTPException
from werkzeug.wrappers import Response

from api import agents, challenges, drafts, errors, forms, subscriptions
from api.agents import bp as agent_bp
from api.blueprint import bp
from api.mcp import endpoint as mcp_endpoint
from api.mcp import endpoint as mcp_refusals
from api.mcp.protocol import bp as mcp_bp
from api.openapi import document as openapi
from webapp.web import request_kind
from webapp.web.extensions import csrf
from webapp.web.request_kind import RequestKind

__all__ = [  # modules that bring routes, too
    "drafts",
    "forms",
    "init_app",
    "mcp_endpoint",
    "openapi",
    "subscriptions",
]

errors.answer_failures(bp)
errors.answer_failures(agent_bp)


def init_app(app: Flask, elsewhere: Callable[[HTTPException], Response]) -> None:
    """Serve the API; `elsewhere` renders what the router refuses outside of `/api`."""
    # else an empty id in a path would be answered by a redirect to another route
    app.url_map.merge_slashes = False
    errors.init_app(app, mcp_refusals.router_refusal(elsewhere))
    challenges.init_app(app)
    agents.init_app(app)
    kinds = (bp, RequestKind.API), (agent_bp, RequestKind.AGENT), (mcp_bp, RequestKind.MCP)
    for blueprint, kind in kinds:
        csrf.exempt(blueprint)
        request_kind.register(app, blueprint, kind)
