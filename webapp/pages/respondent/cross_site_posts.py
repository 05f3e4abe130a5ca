"""Cross-site POSTs to respondent pages are refused: nothing changes, no cookie is set.

Respondent POSTs carry the session in their body, so SameSite cookies do not protect them. Without
this, another site could post a session of its own, which the browser would go on with, or end the
one under way.
"""

from http import HTTPStatus

from flask import Flask, Response, current_app, request, url_for

from webapp.base.limits import ANSWER_MAX_CHARS
from webapp.pages.respondent.form_data import typed_anywhere
from webapp.pages.respondent.rendering import layout_of
from webapp.web.request_kind import RequestKind, is_from_another_site, request_kind, says_in_iframe


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
    return _refusal(share_token, typed_anywhere()[:ANSWER_MAX_CHARS])


def _refusal(share_token: str, text: str) -> Response:
    """A link to our own page, and the text that was posted: nothing else of that POST.

    Rendered without the database.
    """
    template = current_app.jinja_env.get_template("respondent/cross_site_post.html")
    here = url_for("respond.start", share_token=share_token)
    body = template.render(**layout_of(framed=says_in_iframe()), here=here, text=text)
    return Response(body, HTTPStatus.FORBIDDEN)


def _set_no_cookie(response: Response) -> Response:
    """Removes the cookies of all handlers, language and theme included."""
    if _is_foreign():
        del response.headers["Set-Cookie"]
    return response


def _is_foreign() -> bool:
    posted = request.method == "POST" and request_kind() is RequestKind.RESPONDENT_PAGE
    return posted and is_from_another_site()
