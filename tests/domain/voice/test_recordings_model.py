"""A stateful model of recordings: whatever people do, each object is referenced or to be erased."""

import secrets
from datetime import timedelta
from typing import Any

import pytest
from hypothesis import strategies as st
from hypothesis.stateful import RuleBasedStateMachine, invariant, rule
from sqlalchemy import select

from tests.databases import both_databases
from tests.domain.responses.test_cursor_model import explore
from tests.voice.factories import make_voice_form
from webapp.answers.answering import (
    answer_question,
    complete_response,
    skip_question,
    withdraw_response,
)
from webapp.answers.session import read_session
from webapp.answers.steps import QuestionNumber
from webapp.base.database import db, utc_now
from webapp.base.errors import Outcome
from webapp.records.forms import Form
from webapp.records.responses.models import Answer, count_bytes
from webapp.records.responses.recordings import ObjectDeletion, Recording
from webapp.voice.uploads import RECORDING_COUNTED_BYTES, Bounds, Upload, add_recording

QUESTIONS = 2
PEOPLE = 2
ROOM = 3 * RECORDING_COUNTED_BYTES  # for uploads, of all people together
KINDS = ("", "newest", "own", "stale", "of another")

people = st.integers(0, PEOPLE - 1)
positions = st.integers(0, QUESTIONS - 1)
kinds = st.sampled_from(KINDS)
texts = st.sampled_from("ab")
Place = tuple[int, int]


class Speakers(RuleBasedStateMachine):
    """Two people and two questions. `answers` holds text and recording of each current answer."""

    def __init__(self) -> None:
        super().__init__()
        self.form = make_voice_form(questions=["Who?", "What?"])
        self.keys = [secrets.token_urlsafe(24) for _ in range(PEOPLE)]
        self.answers: dict[Place, tuple[str, str]] = {}
        self.uploads: dict[Place, list[str]] = {}
        self.waiting: dict[str, int] = {}  # bytes of the uploads, as they count, the oldest first
        self.now, self.address = utc_now(), secrets.token_hex(32)
        self.gone: list[str] = ["att_unknown"]
        self.objects: dict[str, str] = {}  # by id of the recording
        self.sent: set[int] = set()

    @rule(person=people, position=positions, size=st.sampled_from([4000, 90_000]))
    def upload(self, person: int, position: int, size: int) -> None:
        name = f"{self.form.id}/{secrets.token_hex(8)}.webm"
        stored = self.does(
            add_recording,
            person,
            allowed=person not in self.sent,
            at=QuestionNumber(position + 1),
            upload=Upload(secrets.token_urlsafe(16), name, "audio/webm", size, 1200, self.address),
            named_host="",
            bounds=Bounds(address=ROOM),
        )
        if stored:
            self.make_room(max(size, RECORDING_COUNTED_BYTES))
            self.waiting[stored.id] = max(size, RECORDING_COUNTED_BYTES)
            self.objects[stored.id] = name
            self.uploads.setdefault((person, position), []).append(stored.id)

    @rule(person=people, position=positions, kind=kinds, text=texts)
    def answer(self, person: int, position: int, kind: str, text: str) -> None:
        place = (person, position)
        recording = self.recording(place, kind)
        claimable = [*self.uploads.get(place, []), self.answers.get(place, ("", ""))[1]]
        allowed = person not in self.sent and (not recording or recording in claimable)
        given = (text, recording)
        done = self.does(
            answer_question,
            person,
            allowed=allowed,
            position=position,
            answer_text=text,
            answer_key=secrets.token_urlsafe(16),
            recording_id=recording,
        )
        if done is not False and self.answers.get(place) != given:
            self.forget(place, but=recording)
            self.answers[place] = given

    @rule(person=people, position=positions)
    def skip(self, person: int, position: int) -> None:
        allowed = person not in self.sent
        if self.does(skip_question, person, allowed=allowed, position=position) is not False:
            self.forget((person, position))

    @rule(person=people)
    def complete(self, person: int) -> None:
        answered = person in self.sent or any(place[0] == person for place in self.answers)
        self.does(complete_response, person, allowed=answered, responder_name="")
        if answered:
            self.sent.add(person)

    @rule(person=people)
    def withdraw(self, person: int) -> None:
        """Without a session nothing is there to withdraw, and uploads wait for their end."""
        if not read_session(self.form.share_token, self.keys[person]).started:
            return
        self.does(withdraw_response, person, allowed=True)
        self.sent.discard(person)
        for position in range(QUESTIONS):
            self.forget((person, position))

    @invariant()
    def each_object_is_referenced_or_noted(self) -> None:
        """Only the oldest uploads go for others, and no more of them than have to."""
        referenced = set(db.session.scalars(select(Recording.object_key)))
        noted = set(db.session.scalars(select(ObjectDeletion.object_key)))
        db.session.rollback()
        assert not referenced & noted
        mine = set(self.objects.values())
        assert (referenced | noted) & mine == mine
        assert noted & mine == {self.objects[each] for each in self.gone if each in self.objects}

    @invariant()
    def each_answer_has_its_recording(self) -> None:
        rows = db.session.execute(
            select(Recording.id, Answer.answer_text, Answer.superseded, Answer.response_type)
            .join(Answer, Answer.id == Recording.answer_id)
            .where(Recording.form_id == self.form.id)
        ).all()
        db.session.rollback()
        expected = sorted((each[1], each[0]) for each in self.answers.values() if each[1])
        assert sorted((row.id, row.answer_text) for row in rows) == expected
        assert all(not row.superseded and row.response_type == "voice" for row in rows)

    @invariant()
    def the_form_counts_what_its_answers_keep(self) -> None:
        words = select(Answer.question_text, Answer.answer_text).where(
            Answer.form_id == self.form.id
        )
        sizes = select(Recording.size).where(
            Recording.form_id == self.form.id, Recording.answer_id.is_not(None)
        )
        kept = sum(count_bytes(*row) for row in db.session.execute(words))
        kept += sum(db.session.scalars(sizes))
        counted = db.session.scalar(select(Form.answer_bytes).where(Form.id == self.form.id))
        db.session.rollback()
        assert counted == kept

    def make_room(self, size: int) -> None:
        """The oldest uploads that are in the way of one more are gone."""
        while sum(self.waiting.values()) + size > ROOM:
            oldest = next(iter(self.waiting))
            for place, there in self.uploads.items():
                if oldest in there:
                    self.uploads[place] = [each for each in there if each != oldest]
            self.leave(oldest)

    def leave(self, recording: str) -> None:
        self.waiting.pop(recording, None)
        self.gone.append(recording)

    def recording(self, place: Place, kind: str) -> str:
        """The id that an answer names."""
        person, position = place
        elsewhere = (person, 1 - position), (1 - person, position)
        candidates = {
            "newest": self.uploads.get(place, [])[-1:],
            "own": [self.answers.get(place, ("", ""))[1]],
            "stale": self.gone[-1:],
            "of another": [each for at in elsewhere for each in self.uploads.get(at, [])],
        }
        return next(iter(candidates.get(kind, [])), "")

    def forget(self, place: Place, but: str = "") -> None:
        """The recordings of a question go, but one."""
        there = [*self.uploads.pop(place, []), self.answers.pop(place, ("", ""))[1]]
        for each in filter(None, there):
            if each != but:
                self.leave(each)
        self.waiting.pop(but, None)

    def does(self, use_case: Any, person: int, *, allowed: bool, **sent: Any) -> Any:
        """What the use case returns; False when it is refused, which it must be unless allowed."""
        try:
            self.now += timedelta(seconds=1)
            done = use_case(self.form.share_token, self.keys[person], now=self.now, **sent)
        except Outcome:
            db.session.rollback()
            assert not allowed
            return False
        assert allowed
        return done


@both_databases
@pytest.mark.usefixtures("app_context")
def test_each_object_is_referenced_or_to_be_erased() -> None:
    explore(Speakers, runs=10)


@pytest.mark.prove
@both_databases
@pytest.mark.usefixtures("app_context")
def test_each_object_is_referenced_or_to_be_erased_300_times() -> None:
    explore(Speakers, runs=300)
