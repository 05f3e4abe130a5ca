"""The creator's switch between light and dark; respondents have theirs on every slip."""

import re

from flask import Blueprint, Response, request

from webapp import themes
from webapp.pages.fragments import go_to

# a path of ours: no second slash, no backslash and no white space, which browsers drop or turn
OWN_PATH = re.compile(r"/(?:[^/\\\s][!-\[\]-~]*)?", re.ASCII)
HOME = "/drafts"

bp = Blueprint("appearance", __name__)


@bp.post("/appearance")
def choose() -> Response:
    """Keep the theme and go back to the page that the choice was made on."""
    back = request.form.get("back", "")
    response = go_to(back if OWN_PATH.fullmatch(back) else HOME)
    themes.keep(response, request.form.get(themes.FIELD, ""))
    return response
