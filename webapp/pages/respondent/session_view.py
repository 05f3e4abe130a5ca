"""The view of a respondent's visit to a form: by cookie, by posted session, or new."""

import hashlib
from dataclasses import dataclass
from http import HTTPStatus

from flask import abort

from webapp.answers import session as sessions
from webapp.answers.session import QuestionNumber, Step, Steps
from webapp.base.config import settings
from webapp.base.vocabulary import FormStatus, ResponseLimit
from webapp.pages.respondent.form_data import FormData, new_session_key, remembered_key
from webapp.records.content.model import about_minutes
from webapp.records.languages import PHRASED, language_of_questions
from webapp.web import request_kind, security_headers

FRAMES_KNOWN = 10_000  # some megabytes
# by share token; lets iframes show the page of a storage failure
LAST_KNOWN_FRAMES: dict[str, str] = {}


@dataclass(frozen=True, slots=True)
class SessionView:
    """A respondent's visit to a form.

    remembered  the cookie carries the session
    framed      the page is in an iframe of another website, where no cookie is read or set
    """

    session: sessions.RespondentSession
    session_key: str
    remembered: bool = False
    framed: bool = False

    @property
    def form(self) -> sessions.RespondentForm:
        """The form of the visit."""
        return self.session.form

    @property
    def steps(self) -> Steps:
        """The questions that the respondent is asked."""
        return self.session.steps

    @property
    def answered(self) -> set[int]:
        """The numbers, from 1, of the scripted questions that have an answer."""
        questions = enumerate(self.form.questions, start=1)
        return {number for number, each in questions if each["id"] in self.session.answered}

    def asked_step(self, place: QuestionNumber) -> Step:
        """Return the question at a place; aborts with 404 if it was never asked."""
        return self.steps.at(place) or abort(HTTPStatus.NOT_FOUND)

    @property
    def draft_key(self) -> str:
        """The name under which browsers keep unsent text; reveals nothing about the session key."""
        if not self.session.started:
            return "new"
        return hashlib.sha256(f"kept:{self.session_key}".encode()).hexdigest()[:16]

    @property
    def may_answer(self) -> bool:
        """True if the form takes answers; a full form takes them from started sessions only."""
        open_ = self.form.status is FormStatus.PUBLISHED
        return open_ and (self.session.started or not self.form.is_full)

    @property
    def may_repeat(self) -> bool:
        """True if the form takes another response from the same respondent."""
        open_ = self.form.status is FormStatus.PUBLISHED and not self.form.is_full
        return open_ and self.form.response_limit is ResponseLimit.MULTIPLE

    def text(self, place: QuestionNumber) -> str:
        """Return the answer to a question; "" if there is none."""
        step = self.steps.at(place)
        return self.session.texts.get(step.question_id, "") if step else ""

    @property
    def language(self) -> str:
        """The language of the questions, for hyphenation; "" if it is unknown."""
        found = language_of_questions(self.form.questions)
        return found if found in PHRASED else ""

    @property
    def transcriber(self) -> str:
        """The host that transcribes recordings; "" unless it is the one shown to the creator."""
        named = self.form.transcriber
        return named if named == settings().transcriber_host else ""

    @property
    def model_host(self) -> str:
        """The host whose model may write follow-ups, if shown to the creator; "" for none."""
        named = self.form.follow_up_writer
        is_asked = self.form.asks_follow_ups and named == settings().follow_up_writer
        return settings().llm_host if is_asked else ""

    @property
    def most_questions(self) -> int:
        """The most questions that one respondent can be asked."""
        return sessions.most_asked_with(self.model_host, self.form)

    @property
    def minutes(self) -> int:
        """The estimated minutes that answering takes."""
        return about_minutes(len(self.form.questions), self.most_questions)

    def recording(self, place: QuestionNumber) -> sessions.RecordingShown | None:
        """Return the newest unclaimed recording for a question, else the one of its answer."""
        step = self.steps.at(place)
        question = step.question_id if step else ""
        return self.session.uploads.get(question) or self.session.recordings.get(question)

    def heard(self, place: QuestionNumber) -> str:
        """Return the transcript of an unclaimed recording, which fills an empty answer field."""
        recording = self.recording(place)
        return recording.transcript or "" if recording and not recording.claimed else ""


def view_by_cookie(share_token: str) -> SessionView:
    """Return the view of a GET, by its cookie; without one, a new view that is not stored."""
    key = remembered_key(share_token)
    if not key:
        return new_view(find_form(share_token))
    view = keyed_view(share_token, key, remembered=True)
    known = not view.framed and (view.session.started or view.session.uploads)
    return view if known else new_view(view.form)


def new_view(form: sessions.RespondentForm) -> SessionView:
    """Return a view with a new session key, which is stored with the first answer."""
    key = new_session_key()
    return SessionView(sessions.new_session(form, key), key, framed=_framed(form))


def posted_view(share_token: str, posted: FormData) -> SessionView:
    """Return the view of a POST, by the session in its body."""
    return keyed_view(share_token, posted.session_key, remembered=posted.remembered)


def keyed_view(share_token: str, session_key: str, *, remembered: bool = False) -> SessionView:
    """Return the view of the session with this key."""
    session = sessions.read_session(share_token, session_key)
    return view_of(session, session_key, remembered=remembered)


def view_of(
    session: sessions.RespondentSession, session_key: str, *, remembered: bool = False
) -> SessionView:
    """Return the view of a session that has been read."""
    _admit(session.form)
    return SessionView(session, session_key, remembered, _framed(session.form))


def find_form(share_token: str) -> sessions.RespondentForm:
    """Return the form behind a public link, and let its origins embed the response."""
    form = sessions.read_form(share_token)
    _admit(form)
    return form


def _admit(form: sessions.RespondentForm) -> None:
    """Let the form's origins embed the response; allow the microphone if the form records."""
    security_headers.allow_frames(form.frame_origins)
    if form.may_record:
        security_headers.allow_microphone()
    if form.frame_origins or form.share_token in LAST_KNOWN_FRAMES:
        if len(LAST_KNOWN_FRAMES) >= FRAMES_KNOWN:
            LAST_KNOWN_FRAMES.clear()
        LAST_KNOWN_FRAMES[form.share_token] = form.frame_origins


def _framed(form: sessions.RespondentForm) -> bool:
    return bool(form.frame_origins) and request_kind.says_in_iframe()
