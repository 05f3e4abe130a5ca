"""What a respondent's form posted: the keys it carries and the words typed into it.

The session travels in the body of every POST, so that answering needs no cookie. The cookie only
lets a GET find the way back, and no POST trusts it. In a frame of another website, which every
address on its pages says (`embed=1`), cookies are neither read nor set.
"""

import re
from dataclasses import dataclass

from flask import request
from werkzeug.wrappers import Response

from webapp.config import settings
from webapp.domain.errors import InvalidInput, Phrase
from webapp.framing import says_framed
from webapp.languages import FIELD as LANGUAGE

COOKIE_DAYS = 30
BODY_MAX_BYTES = 1024 * 1024  # our choice: three times the longest answer, percent-encoded
FIELDS = {"session", "answer_key", "answer", "name", LANGUAGE}
KEY = re.compile(r"[A-Za-z0-9_-]{22,64}")
UNSTORABLE = re.compile("[\0\ud800-\udfff]")


@dataclass(frozen=True, slots=True)
class Posted:
    """Fields as posted, "" where absent; `remembered` when the cookie carries the same session."""

    session_key: str
    answer_key: str
    answer: str
    name: str
    remembered: bool


def read_posted(share_token: str, *needed: str) -> Posted:
    """The posted fields; raises InvalidInput for unknown or repeated ones and malformed keys."""
    form = request.form
    if request.files or not form.keys() <= FIELDS or any(map(_repeated, form)):
        raise _unreadable()
    for name in ("session", *needed):
        if not KEY.fullmatch(form.get(name, "")):
            raise _unreadable()
    session_key = form["session"]
    return Posted(
        session_key,
        form.get("answer_key", ""),
        typed("answer"),
        typed("name"),
        remembered=not says_framed() and session_key == remembered_key(share_token),
    )


def typed(name: str) -> str:
    """Words typed into a field, with line feeds as the only line ends.

    Characters that no database stores (U+0000, lone surrogates) become U+FFFD: the answer is kept.
    """
    text = request.form.get(name, "").replace("\r\n", "\n").replace("\r", "\n")
    return UNSTORABLE.sub("\ufffd", text)


def remembered_key(share_token: str) -> str | None:
    """The session key in the cookie of this form, None when there is none that could be one."""
    key = request.cookies.get(_cookie_name(), "")
    return key if KEY.fullmatch(key) else None


def remember(response: Response, share_token: str, session_key: str) -> None:
    """Let later GETs from this browser find the session; nothing is left behind in a frame."""
    if says_framed():
        return
    response.set_cookie(
        _cookie_name(),
        session_key,
        max_age=COOKIE_DAYS * 24 * 3600,
        path=f"/r/{share_token}",
        secure=settings().secure,
        httponly=True,
        samesite="Lax",
    )


def forget(response: Response, share_token: str) -> None:
    """Take the cookie of this form back, where there can be one."""
    if says_framed():
        return
    response.delete_cookie(
        _cookie_name(),
        path=f"/r/{share_token}",
        secure=settings().secure,
        httponly=True,
        samesite="Lax",
    )


def _cookie_name() -> str:
    return "__Secure-askback_r" if settings().secure else "askback_r"


def _repeated(name: str) -> bool:
    return len(request.form.getlist(name)) > 1


def _unreadable() -> InvalidInput:
    return InvalidInput(
        "form_unreadable",
        Phrase("This page was not sent as it was made."),
        Phrase("Nothing was stored. Open the link once more and answer there."),
    )
