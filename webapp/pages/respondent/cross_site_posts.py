"""POSTs that pages of other websites send to a respondent page: nothing changes, no cookie is set.

No cookie guards these posts, which carry the session themselves. Without this, another site could
post a session of its own, which the browser would then go on with, or end the one under way.
"""

from flask import Flask, Response, request

from webapp.domain.shared.limits import ANSWER_MAX_CHARS
from webapp.pages.respondent import rendering
from webapp.pages.respondent.form_data import typed
from webapp.web import security_headers


def init_app(app: Flask) -> None:
    """Answer such posts before anything else looks into them.

    Call it before the limits, which would offer to send the same form again.
    """
    app.before_request(_stop)
    app.after_request(_set_no_cookie)


def _stop() -> Response | None:
    # an address that none of our routes has is answered like any other unknown one
    if request.url_rule is None or not _is_foreign():
        return None
    share_token = (request.view_args or {})["share_token"]
    return rendering.from_another_site(share_token, _words()[:ANSWER_MAX_CHARS])


def _set_no_cookie(response: Response) -> Response:
    """Whoever drew it, a choice of language or colours included."""
    if _is_foreign():
        del response.headers["Set-Cookie"]
    return response


def _is_foreign() -> bool:
    posted = request.method == "POST" and request.path.startswith("/r/")
    return posted and security_headers.is_from_another_site()


def _words() -> str:
    return typed("answer") or typed("name") or typed("draft")
