"""The blueprint that every JSON route of the contract's `{base_url}` belongs to."""

from flask import Blueprint

bp = Blueprint("api", "api", url_prefix="/api")
