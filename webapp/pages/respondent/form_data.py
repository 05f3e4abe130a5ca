"""The respondent's cookie, and the fields of each POST."""

import re
import secrets
from contextlib import suppress
from dataclasses import dataclass
from datetime import datetime

from flask import request
from itsdangerous import BadSignature, TimestampSigner
from werkzeug.datastructures import FileStorage
from werkzeug.wrappers import Response

from webapp.answers.answering import Signs
from webapp.answers.session import QuestionNumber, read_place, read_session, version_of
from webapp.base.config import settings
from webapp.base.errors import InvalidInput, PageCode, Phrase
from webapp.pages.fragments import with_line_feeds
from webapp.records.responses.models import RECORDING_MAX_SECONDS
from webapp.voice.uploads import RECORDING_MAX_BYTES
from webapp.web import languages, themes
from webapp.web.browser_cookies import BrowserCookie
from webapp.web.request_kind import says_in_iframe

COOKIE_DAYS = 30
SESSION_KEY = re.compile(r"[A-Za-z0-9_.-]{22,100}")


def new_session_key() -> str:
    """Return a new random key, with its time of creation and a MAC over both."""
    return _signer().sign(secrets.token_urlsafe(24)).decode()


def remembered_key(share_token: str) -> str | None:
    """Return the session key in the cookie of this form; None if absent or malformed."""
    key = _cookie(share_token).read()
    return key if SESSION_KEY.fullmatch(key) else None


def remember(response: Response, share_token: str, session_key: str) -> None:
    """Set the cookie of this form, except in an iframe."""
    if not says_in_iframe():
        _cookie(share_token).keep(response, session_key)


def forget(response: Response, share_token: str) -> None:
    """Delete the cookie of this form."""
    if not says_in_iframe():
        _cookie(share_token).delete(response)


def _signer() -> TimestampSigner:
    return TimestampSigner(settings().secret_key, salt="respondent")


def _cookie(share_token: str) -> BrowserCookie:
    return BrowserCookie("askback_r", COOKIE_DAYS * 24 * 3600, path=f"/r/{share_token}")


HONEYPOT = "website"  # rendered out of sight: bots fill it, browsers do not autofill it
KEY = re.compile(r"[A-Za-z0-9_-]{22,64}")
RECORDING_ID = re.compile(r"(att_\w{1,36})?", re.ASCII)
UNSTORABLE = re.compile("[\0\ud800-\udfff]")


@dataclass(frozen=True, slots=True)
class FormData:
    """The session of a POST, and the fields that several pages send.

    remembered  the cookie carries the same session
    left        place of the question on which Back was pressed; None elsewhere
    replaces    version of the answer that the page showed; None on pages that show none
    recording   id of the recording that goes with the answer, "" for none
    """

    session_key: str
    remembered: bool
    signs: Signs
    answer: str
    left: QuestionNumber | None
    replaces: str | None
    recording: str


def posted_field(name: str) -> str:
    """Return the first value of a posted field that is not empty; "" without one."""
    return next(filter(None, request.form.getlist(name)), "")


def posted_file() -> FileStorage | None:
    """Return the posted recording; None if no file was chosen."""
    return next(filter(None, request.files.getlist("audio")), None)


def read_form_data(share_token: str, *needed: str) -> FormData:
    """Return the posted fields.

    raises  InvalidInput `form_unreadable` for malformed keys, `session_unknown` for a session key
            that this server neither made nor has stored
    """
    session_key = posted_field("session")
    well_formed = (
        SESSION_KEY.fullmatch(session_key)
        and all(KEY.fullmatch(posted_field(name)) for name in needed)
        and RECORDING_ID.fullmatch(posted_field("recording"))
    )
    if not well_formed:
        raise refusal(PageCode.FORM_UNREADABLE)
    made_at: datetime | None = None
    with suppress(BadSignature):
        made_at = _signer().unsign(session_key, return_timestamp=True)[1]
    if made_at is None and not read_session(share_token, session_key).started:
        raise refusal(PageCode.SESSION_UNKNOWN)
    remembered = None if says_in_iframe() else remembered_key(share_token)
    if remembered and remembered != session_key:
        begun = read_session(share_token, remembered)
        if begun.started and begun.completed_stamp is None:
            stored = read_session(share_token, session_key)
            session_key = session_key if stored.started or stored.uploads else remembered
    return FormData(
        session_key,
        session_key == remembered,
        Signs(made_at, honeypot_filled=bool(posted_field(HONEYPOT))),
        typed("answer"),
        read_place(posted_field("left")),
        posted_field("replaces") if "replaces" in request.form else None,
        posted_field("recording"),
    )


def typed(name: str) -> str:
    """Return the text typed into a field, with line feeds as the only line ends.

    Different texts of a repeated field are joined. Characters that no database stores (U+0000, lone
    surrogates) become U+FFFD, so that the answer is kept.
    """
    sent = map(with_line_feeds, request.form.getlist(name))
    texts = dict.fromkeys(UNSTORABLE.sub("\ufffd", text) for text in sent)
    if len(texts) < 2:
        return next(iter(texts), "")
    # one copy of the field still holds the stored answer that the page began with
    shown = posted_field("replaces") if name == "answer" else None
    heard = posted_field("recording")
    written = [text for text in texts if text.strip() and version_of(text, heard) != shown]
    return "\n\n".join(written) or min(texts, key=len)


def typed_anywhere() -> str:
    """Return the text typed into a page's one text field, or handed to the page as `draft`."""
    return typed("answer") or typed("name") or typed("draft")


def typed_along(field: str) -> str | None:
    """Return text to show on the next page without saving it; None if there is none.

    Another page hands it back (`draft`), or it was in `field` when a language or colour scheme was
    chosen.
    """
    chosen = languages.CHOICE in request.form or themes.FIELD in request.form
    return (typed(field) if chosen else "") or typed("draft") or None


STILL_TYPED = Phrase("Your words are still in the box.")
CHOOSE_ANOTHER = Phrase("Nothing you typed is lost. Choose another recording, or type your answer.")
REFUSALS = {
    PageCode.ANSWER_UNSENT: (
        STILL_TYPED,
        Phrase("Continue sends them. To skip the question, empty the box first."),
        "answer",
    ),
    # on a page with a button that leaves without the text
    PageCode.UNSAVED_TEXT: (
        STILL_TYPED,
        Phrase("Continue sends them, or go back without them."),
        "answer",
    ),
    PageCode.RECORDING_UNSENT: (
        Phrase("The recording you chose is not added yet."),
        Phrase("Choose it once more and press “Add this recording”, or continue without it."),
        "audio",
    ),
    PageCode.RECORDING_UNCLAIMED: (
        Phrase("Your recording is not part of an answer yet."),
        Phrase("Continue sends it. To skip the question, leave it out first."),
        "recording",
    ),
    # for an unknown session key: the page continues with a new one
    PageCode.SESSION_UNKNOWN: (
        Phrase("This page was open for too long."),
        Phrase("Nothing you wrote is lost. Continue once more."),
        "session",
    ),
    # for a body that no page of this server sends
    PageCode.FORM_UNREADABLE: (
        Phrase("This page was not sent as it was made."),
        Phrase("Nothing was stored. Open the link once more and answer there."),
        "",
    ),
    PageCode.RECORDING_MISSING: (Phrase("There is no recording yet."), CHOOSE_ANOTHER, "audio"),
    PageCode.RECORDING_TOO_LARGE: (
        Phrase("The recording is larger than %(limit)s MiB.", limit=RECORDING_MAX_BYTES // 1024**2),
        CHOOSE_ANOTHER,
        "audio",
    ),
    PageCode.RECORDING_TOO_LONG: (
        Phrase(
            "The recording is longer than %(limit)s minutes.", limit=RECORDING_MAX_SECONDS // 60
        ),
        CHOOSE_ANOTHER,
        "audio",
    ),
    PageCode.RECORDING_NOT_AUDIO: (
        Phrase("This file is no recording that can be used here."),
        Phrase(
            "Nothing you typed is lost. Choose a recording in one of these formats (M4A, MP4, 3GP, "
            "AAC, MP3, WAV, OGG, WebM, CAF, AMR, FLAC, AIFF), or type your answer."
        ),
        "audio",
    ),
    PageCode.RECORDING_NO_ROOM: (
        Phrase("This server has no room for recordings just now."),
        Phrase("Nothing you typed is lost. Type your answer instead."),
        "audio",
    ),
    PageCode.RECORDING_NOT_KEPT: (
        Phrase("Your recording could not be kept here just now."),
        Phrase("Nothing you typed is lost. Type your answer, or choose the recording once more."),
        "audio",
    ),
}


def refusal(code: PageCode) -> InvalidInput:
    """Return the error for what a page posted, by its code."""
    message, resolution, field = REFUSALS[code]
    return InvalidInput(code, message, resolution, field=field)
