"""Cross-site POSTs to respondent pages are refused: nothing changes, no cookie is set.

Respondent POSTs carry the session in their body, so SameSite cookies do not protect them. Without
this, another site could post a session of its own, which the browser would go on with, or end the
one under way.
"""

from flask import Flask, Response, request

from webapp.base.limits import ANSWER_MAX_CHARS
from webapp.pages.respondent.form_data import typed_anywhere
from webapp.pages.respondent.rendering import render_cross_site_post
from webapp.web.request_kind import RequestKind, is_from_another_site, request_kind


def init_app(app: Flask) -> None:
    """Answer such POSTs before anything else reads them.

    Call it before the rate limits, whose page would offer to send the same form again.
    """
    app.before_request(_stop)
    app.after_request(_set_no_cookie)


def _stop() -> Response | None:
    # an address without a route is answered like any other unknown one
    if request.url_rule is None or not _is_foreign():
        return None
    share_token = (request.view_args or {})["share_token"]
    return render_cross_site_post(share_token, typed_anywhere()[:ANSWER_MAX_CHARS])


def _set_no_cookie(response: Response) -> Response:
    """Removes the cookies of all handlers, language and theme included."""
    if _is_foreign():
        del response.headers["Set-Cookie"]
    return response


def _is_foreign() -> bool:
    posted = request.method == "POST" and request_kind() is RequestKind.RESPONDENT_PAGE
    return posted and is_from_another_site()
