"""The blueprint of the MCP endpoint."""

from flask import Blueprint

from webapp.oauth.resources import MCP_BLUEPRINT

bp = Blueprint(MCP_BLUEPRINT, __name__, url_prefix="/mcp/app")
