"""JSON for agents: the contract's account operations under `/api`."""

from collections.abc import Callable

from flask import Flask
from werkzeug.exceptions import HTTPException
from werkzeug.wrappers import Response

from api import drafts, errors, forms, responses
from api.blueprint import bp
from api.openapi import document as openapi
from webapp.web import request_kind
from webapp.web.extensions import csrf
from webapp.web.request_kind import RequestKind

__all__ = ["drafts", "forms", "init_app", "openapi", "responses"]


def init_app(app: Flask, elsewhere: Callable[[HTTPException], Response]) -> None:
    """Serve the API; `elsewhere` renders what the router refuses outside of `/api`."""
    # else an empty id in a path would be answered by a redirect to another route
    app.url_map.merge_slashes = False
    csrf.exempt(bp)
    errors.init_app(app, elsewhere)
    request_kind.register(app, bp, RequestKind.API)
