"""The fields of a respondent's POST: keys and typed text.

The session key is in the body of every POST, so that answering needs no cookie. The cookie serves
GETs, and a tab of somebody who has begun in another one: its key, under which nothing is stored,
gives way to it. Keys carry a MAC; one without it counts only if a session is stored under it. In an
iframe of another website, which every address on its pages says (`embed=1`),
cookies are neither read nor set.

Browser extensions add fields to a page and double others. Fields that are not ours are ignored. Of
a doubled key the first that is not empty counts; of doubled words none are lost.
"""

import re
from dataclasses import dataclass

from flask import request
from werkzeug.datastructures import FileStorage

from webapp.domain.respondents.answer_repeats import version_of
from webapp.domain.respondents.bot_detection import Signs
from webapp.domain.respondents.public_form import Progress, read_progress
from webapp.domain.respondents.steps import Place, read_place
from webapp.domain.shared.error_codes import PageCode
from webapp.domain.shared.errors import InvalidInput, Phrase
from webapp.pages.respondent import session_cookie
from webapp.pages.typed_text import with_line_feeds
from webapp.web.languages import CHOICE
from webapp.web.languages import FIELD as LANGUAGE
from webapp.web.request_origin import says_in_iframe
from webapp.web.themes import FIELD as THEME

HONEYPOT = "website"  # rendered out of sight: programs fill it, no browser autofills it
FIELDS = {
    "session",
    "answer_key",
    "answer",
    "name",
    "draft",
    "secret",
    "claim",
    "left",
    "replaces",
    "recording",
    "recording_key",
    "transcriber",
    "blank",
    "shown",
    "pass_on",
    "audio",  # the name of a file that was chosen and not uploaded
    LANGUAGE,
    CHOICE,
    THEME,
    HONEYPOT,
}
KEY = re.compile(r"[A-Za-z0-9_-]{22,64}")
RECORDING_ID = re.compile(r"(att_\w{1,36})?", re.ASCII)
UNSTORABLE = re.compile("[\0\ud800-\udfff]")


@dataclass(frozen=True, slots=True)
class FormData:
    """Fields as posted, "" where absent.

    recording    id of the recording that goes with the answer
    transcriber  the host that the page named as writing recordings down
    blank        the page showed a recording and no words of the answer
    pass_on      nobody is to decide whether more follows from the answer
    shown        the page showed what was heard in the recording
    chosen_file  name of a recording that was chosen and not uploaded
    left         place of the question that Back was pressed on; None elsewhere
    replaces     version of the answer that the page showed; None on pages that show none
    remembered   the cookie carries the same session
    """

    session_key: str
    answer_key: str
    answer: str
    recording: str
    recording_key: str
    transcriber: str
    blank: bool
    shown: bool
    chosen_file: str
    pass_on: bool
    name: str
    left: Place | None
    replaces: str | None
    remembered: bool
    signs: Signs


def posted_fields() -> dict[str, str]:
    """Our fields as posted, of each the first value that is not empty."""
    form = request.form
    return {name: next(filter(None, form.getlist(name)), "") for name in FIELDS if name in form}


def posted_file() -> FileStorage | None:
    """The recording that was posted; None if none was chosen."""
    return next(filter(None, request.files.getlist("audio")), None)


def read_form_data(share_token: str, *needed: str) -> FormData:
    """The posted fields.

    raises  InvalidInput `form_unreadable` for malformed keys, `session_unknown` for a session key
            that we neither made nor have stored
    """
    form = posted_fields()
    session_key = form.get("session", "")
    if not session_cookie.SESSION_KEY.fullmatch(session_key):
        raise unreadable()
    if not all(KEY.fullmatch(form.get(name, "")) for name in needed):
        raise unreadable()
    if not RECORDING_ID.fullmatch(form.get("recording", "")):
        raise unreadable()
    made_at = session_cookie.made_at(session_key)
    if made_at is None and not _progress(share_token, session_key).started:
        raise session_unknown()
    remembered = None if says_in_iframe() else session_cookie.remembered_key(share_token)
    if remembered and remembered != session_key and _has_begun(share_token, remembered):
        stored = _progress(share_token, session_key)
        session_key = session_key if stored.started or stored.uploads else remembered
    return FormData(
        session_key,
        form.get("answer_key", ""),
        typed("answer"),
        form.get("recording", ""),
        form.get("recording_key", ""),
        form.get("transcriber", ""),
        bool(form.get("blank")),
        bool(form.get("shown")),
        form.get("audio", "") or (file.filename or "" if (file := posted_file()) else ""),
        bool(form.get("pass_on")),
        typed("name"),
        read_place(form.get("left", "")),
        form.get("replaces"),
        remembered=session_key == remembered,
        signs=Signs(made_at, honeypot_filled=bool(form.get(HONEYPOT))),
    )


def _has_begun(share_token: str, session_key: str) -> bool:
    """True for the key of a response that is not sent yet."""
    progress = _progress(share_token, session_key)
    return progress.started and progress.completed_at is None


def _progress(share_token: str, session_key: str) -> Progress:
    return read_progress(share_token, session_key, may_record=True, follow_ups=False)


def typed(name: str) -> str:
    """Text typed into a field, with line feeds as the only line ends; different texts of a doubled
    field follow each other.

    Characters that no database stores (U+0000, lone surrogates) become U+FFFD: the answer is kept.
    """
    sent = map(with_line_feeds, request.form.getlist(name))
    texts = dict.fromkeys(UNSTORABLE.sub("\ufffd", text) for text in sent)
    if len(texts) < 2:
        return next(iter(texts), "")
    fields = posted_fields()
    # a copy of the box still has the stored answer with which the page began
    shown = fields.get("replaces") if name == "answer" else None
    heard = fields.get("recording")
    written = [text for text in texts if text.strip() and version_of(text, heard) != shown]
    return "\n\n".join(written) or min(texts, key=len)


def typed_anywhere() -> str:
    """The text of the one field of a page that is typed into, or what that page was handed."""
    return typed("answer") or typed("name") or typed("draft")


def typed_along(field: str) -> str | None:
    """Text to show on the next page without saving it; None if there is none.

    Another page hands it back (`draft`), or a language or colour scheme was chosen while it was
    typed into `field`.
    """
    chosen = CHOICE in request.form or THEME in request.form
    return (typed(field) if chosen else "") or typed("draft") or None


SKIPPING = Phrase("Continue sends them. To skip the question, empty the box first.")
GOING_BACK = Phrase("Continue sends them, or go back without them.")


def unsent(code: PageCode, resolution: Phrase) -> InvalidInput:
    """The refusal to leave a question whose typed text would be lost.

    code  `unsaved_text` if the page offers another button that leaves without the text
    """
    return InvalidInput(
        code, Phrase("Your words are still in the box."), resolution, field="answer"
    )


def recording_unsent() -> InvalidInput:
    """The refusal of an answer whose recording was chosen and not uploaded."""
    return InvalidInput(
        PageCode.RECORDING_UNSENT,
        Phrase("The recording you chose is not added yet."),
        Phrase("Choose it once more and press “Add this recording”, or continue without it."),
        field="audio",
    )


def recording_unclaimed() -> InvalidInput:
    """The refusal to skip a question whose recording would be lost."""
    return InvalidInput(
        PageCode.RECORDING_UNSENT,
        Phrase("Your recording is not part of an answer yet."),
        Phrase("Continue sends it. To skip the question, leave it out first."),
        field="recording",
    )


def session_unknown() -> InvalidInput:
    """The refusal of an unknown session key: the page goes on under a new one."""
    return InvalidInput(
        PageCode.SESSION_UNKNOWN,
        Phrase("This page was open for too long."),
        Phrase("Nothing you wrote is lost. Continue once more."),
        field="session",
    )


def unreadable() -> InvalidInput:
    """The refusal of a body that none of our pages sends."""
    return InvalidInput(
        PageCode.FORM_UNREADABLE,
        Phrase("This page was not sent as it was made."),
        Phrase("Nothing was stored. Open the link once more and answer there."),
    )
