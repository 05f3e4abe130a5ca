"""The blueprint of all JSON routes under the contract's `{base_url}`."""

from flask import Blueprint

bp = Blueprint("api", "api", url_prefix="/api")
