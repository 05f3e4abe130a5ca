"""The respondent of a request and their progress: by cookie, by posted session, or new."""

import hashlib
from collections.abc import Container
from dataclasses import dataclass

from webapp.config import settings
from webapp.domain.respondents.public_form import (
    NOTHING_YET,
    Progress,
    RespondentForm,
    get_public_form,
    next_open,
    read_progress,
)
from webapp.domain.shared.vocabulary import FormStatus, ResponseLimit
from webapp.pages.respondent.form_data import FormData
from webapp.pages.respondent.session_cookie import new_session_key, remembered_key
from webapp.web.request_origin import says_in_iframe
from webapp.web.security_headers import allow_frames

FRAMES_KNOWN = 10_000  # our choice: some megabytes
# by share token, for the page of a storage failure, which may be in an iframe, too
LAST_KNOWN_FRAMES: dict[str, str] = {}


@dataclass(frozen=True, slots=True)
class Visit:
    """A respondent at a form.

    remembered  their cookie carries the session
    framed      they are in an iframe of another website, where no cookie is read or set
    """

    form: RespondentForm
    session_key: str
    progress: Progress
    remembered: bool = False
    framed: bool = False

    @property
    def answered(self) -> set[int]:
        """Numbers, from 1, of the questions that have an answer."""
        return self._numbers(self.progress.texts)

    @property
    def skipped(self) -> set[int]:
        """Numbers, from 1, of the questions that were skipped."""
        return self._numbers(self.progress.skipped)

    @property
    def next_open(self) -> int | None:
        """0-based position of the first question neither answered nor skipped, None at the end."""
        return next_open(self.form.questions, self.progress.settled)

    @property
    def draft_key(self) -> str:
        """The name that browsers keep unsent text under; reveals nothing about the key."""
        if not self.progress.started:
            return "new"
        return hashlib.sha256(f"kept:{self.session_key}".encode()).hexdigest()[:16]

    @property
    def may_answer(self) -> bool:
        """True if the form takes answers; a full one takes those of started sessions."""
        open_ = self.form.status is FormStatus.PUBLISHED
        return open_ and (self.progress.started or not self.form.is_full)

    @property
    def may_repeat(self) -> bool:
        """True if the link takes another response from the same respondent."""
        open_ = self.form.status is FormStatus.PUBLISHED and not self.form.is_full
        return open_ and self.form.response_limit is ResponseLimit.MULTIPLE

    def text(self, number: int) -> str:
        """The answer to a question by its number, from 1; "" if there is none."""
        asked = self.form.questions[number - 1 : number]
        return self.progress.texts.get(asked[0]["id"], "") if asked else ""

    def _numbers(self, ids: Container[str]) -> set[int]:
        questions = enumerate(self.form.questions, start=1)
        return {number for number, question in questions if question["id"] in ids}


def visit_by_cookie(share_token: str) -> Visit:
    """The visit of a GET: by its cookie, else a new one that is stored nowhere yet."""
    form = find_form(share_token)
    key = None if _framed(form) else remembered_key(share_token)
    progress = read_progress(share_token, key) if key else NOTHING_YET
    if key and progress.started:
        return Visit(form, key, progress, remembered=True)
    return new_visit(form)


def new_visit(form: RespondentForm) -> Visit:
    """A visit with a fresh session key, stored with its first answer."""
    return Visit(form, new_session_key(), NOTHING_YET, framed=_framed(form))


def posted_visit(share_token: str, posted: FormData) -> Visit:
    """The visit of a POST, by the session in its body."""
    return keyed_visit(share_token, posted.session_key, remembered=posted.remembered)


def keyed_visit(share_token: str, session_key: str, *, remembered: bool = False) -> Visit:
    """The visit of the session with this key."""
    progress = read_progress(share_token, session_key)
    form = find_form(share_token)
    return Visit(form, session_key, progress, remembered, _framed(form))


def find_form(share_token: str) -> RespondentForm:
    """The form behind a public link; the response may be embedded by its origins."""
    form = get_public_form(share_token, form_bytes_max=settings().limit_form_bytes)
    allow_frames(form.frame_origins)
    if form.frame_origins or share_token in LAST_KNOWN_FRAMES:
        if len(LAST_KNOWN_FRAMES) >= FRAMES_KNOWN:
            LAST_KNOWN_FRAMES.clear()
        LAST_KNOWN_FRAMES[share_token] = form.frame_origins
    return form


def _framed(form: RespondentForm) -> bool:
    return bool(form.frame_origins) and says_in_iframe()
