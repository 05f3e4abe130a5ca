"""The blueprint of all routes for agent tokens."""

from flask import Blueprint

bp = Blueprint("agent", __name__, url_prefix="/api/agent")
