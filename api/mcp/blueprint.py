"""The blueprint of the MCP endpoint."""

from flask import Blueprint

bp = Blueprint("mcp", __name__, url_prefix="/mcp/app")
