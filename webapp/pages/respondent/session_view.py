"""The respondent of a request and their progress: by cookie, by posted session, or new."""

import hashlib
from collections.abc import Container
from dataclasses import dataclass
from http import HTTPStatus

from flask import abort

from webapp.answers.answer_writes import version_of
from webapp.answers.public_form import (
    NOTHING_YET,
    Progress,
    RecordingShown,
    RespondentForm,
    get_public_form,
    read_progress,
)
from webapp.answers.steps import (
    START,
    QuestionNumber,
    Step,
    follow_up_step,
    next_open,
    scripted_step,
    steps_of,
)
from webapp.base.config import settings
from webapp.base.vocabulary import FollowUpMode, FormStatus, ResponseLimit, ResponseMode
from webapp.pages.respondent.form_data import FormData, new_session_key, remembered_key
from webapp.records.content.model import about_minutes
from webapp.records.languages import PHRASED, language_of_questions
from webapp.web.request_kind import says_in_iframe
from webapp.web.security_headers import allow_frames, allow_microphone

FRAMES_KNOWN = 10_000  # some megabytes
# by share token, for the page of a storage failure, which may be in an iframe, too
LAST_KNOWN_FRAMES: dict[str, str] = {}


@dataclass(frozen=True, slots=True)
class SessionView:
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
    def steps(self) -> list[Step]:
        """All questions that this respondent is asked, in order."""
        progress = self.progress
        return steps_of(self.form.questions, progress.follow_ups, progress.texts)

    def step(self, place: QuestionNumber) -> Step | None:
        """The question at a place, None if it was never asked; it may be a dropped one."""
        if not 0 < place.number <= len(self.form.questions):
            return None
        question = self.form.questions[place.number - 1]
        if not place.follow_up:
            return scripted_step(place.number, question)
        asked = (each for each in self.progress.follow_ups if each.depth == place.follow_up)
        found = next((each for each in asked if each.parent_question_id == question["id"]), None)
        return follow_up_step(place.number, found) if found else None

    def asked_step(self, place: QuestionNumber) -> Step:
        """The question at a place; aborts with 404 if it was never asked."""
        step = self.step(place)
        if step is None:
            abort(HTTPStatus.NOT_FOUND)
        return step

    def answered_follow_ups(self, step: Step) -> bool:
        """Whether follow-ups to a scripted question have an answer, which goes with its own."""
        return any(
            each.parent_question_id == step.question_id and each.id in self.progress.texts
            for each in self.progress.follow_ups
        )

    @property
    def next_open(self) -> QuestionNumber | None:
        """The first question neither answered nor skipped, None at the end."""
        return self.next_open_after(START)

    def next_open_after(self, place: QuestionNumber) -> QuestionNumber | None:
        """The first open question after a place, then from the beginning; None at the end."""
        step = next_open(self.steps, self.progress.settled, place)
        return step.place if step else None

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

    def text(self, place: QuestionNumber) -> str:
        """The answer to a question; "" if there is none."""
        step = self.step(place)
        return self.progress.texts.get(step.question_id, "") if step else ""

    @property
    def language(self) -> str:
        """The language of the questions, so that long words break in it; "" if it is not known."""
        found = language_of_questions(self.form.questions)
        return found if found in PHRASED else ""

    @property
    def records(self) -> bool:
        """True if questions may be answered by voice."""
        return may_record(self.form)

    @property
    def transcriber(self) -> str:
        """The host that transcribes recordings, "" for none: the one named to the creator."""
        named = self.form.transcriber
        return named if named == settings().transcriber_host else ""

    @property
    def model_host(self) -> str:
        """The host whose model may write follow-ups, "" for none: the one of which the creator was
        told.
        """
        named = self.form.follow_up_writer
        asks = self.form.follow_up_mode is not FollowUpMode.NONE
        return settings().llm_host if asks and named == settings().follow_up_writer else ""

    @property
    def most_questions(self) -> int:
        """How many one respondent can be asked."""
        return self.form.most_questions if self.model_host else self.form.most_without_model

    @property
    def minutes(self) -> int:
        """About how long it takes."""
        return about_minutes(len(self.form.questions), self.most_questions)

    def recording(self, place: QuestionNumber) -> RecordingShown | None:
        """What was recorded for a question; of what no answer has claimed, the newest."""
        step = self.step(place)
        question = step.question_id if step else ""
        return self.progress.uploads.get(question) or self.progress.recordings.get(question)

    def heard(self, place: QuestionNumber) -> str:
        """The words of a recording that no answer has: they fill an empty sheet."""
        recording = self.recording(place)
        return recording.transcript or "" if recording and not recording.claimed else ""

    def version(self, step: Step) -> str:
        """The version of the answer to a question, "" for none."""
        recording = self.progress.recordings.get(step.question_id)
        stored = self.progress.texts.get(step.question_id)
        return version_of(stored, recording.id if recording else None)

    def recording_by_id(self, recording_id: str) -> RecordingShown | None:
        """A recording of this respondent."""
        known = (*self.progress.uploads.values(), *self.progress.recordings.values())
        return next((each for each in known if each.id == recording_id), None)

    def _numbers(self, ids: Container[str]) -> set[int]:
        questions = enumerate(self.form.questions, start=1)
        return {number for number, question in questions if question["id"] in ids}


def view_by_cookie(share_token: str) -> SessionView:
    """The visit of a GET: by its cookie, else a new one that is stored nowhere yet."""
    form = find_form(share_token)
    key = None if _framed(form) else remembered_key(share_token)
    progress = _progress(form, key, may_record=may_record(form)) if key else NOTHING_YET
    if key and (progress.started or progress.uploads):
        return SessionView(form, key, progress, remembered=True)
    return new_view(form)


def new_view(form: RespondentForm) -> SessionView:
    """A visit with a fresh session key, stored with its first answer."""
    return SessionView(form, new_session_key(), NOTHING_YET, framed=_framed(form))


def posted_view(share_token: str, posted: FormData) -> SessionView:
    """The visit of a POST, by the session in its body."""
    return keyed_view(share_token, posted.session_key, remembered=posted.remembered)


def keyed_view(share_token: str, session_key: str, *, remembered: bool = False) -> SessionView:
    """The visit of the session with this key."""
    form = find_form(share_token)
    progress = _progress(form, session_key, may_record=may_record(form))
    return SessionView(form, session_key, progress, remembered, _framed(form))


def find_form(share_token: str) -> RespondentForm:
    """The form behind a public link; the response may be embedded by its origins."""
    form = get_public_form(share_token, form_bytes_max=settings().limit_form_bytes)
    allow_frames(form.frame_origins)
    if may_record(form):
        allow_microphone()
    if form.frame_origins or share_token in LAST_KNOWN_FRAMES:
        if len(LAST_KNOWN_FRAMES) >= FRAMES_KNOWN:
            LAST_KNOWN_FRAMES.clear()
        LAST_KNOWN_FRAMES[share_token] = form.frame_origins
    return form


def may_record(form: RespondentForm) -> bool:
    """True if questions of this form may be answered by voice."""
    return form.records_voice and form.response_mode is not ResponseMode.TEXT_ONLY


def _progress(form: RespondentForm, session_key: str, *, may_record: bool) -> Progress:
    asks = form.follow_up_mode is not FollowUpMode.NONE
    return read_progress(form.share_token, session_key, may_record=may_record, follow_ups=asks)


def _framed(form: RespondentForm) -> bool:
    return bool(form.frame_origins) and says_in_iframe()
