"""Uploads: rows of recordings before an answer claims them, and the room for them."""

import secrets
from datetime import timedelta
from typing import Any

import pytest
from sqlalchemy import func, select, update

from tests.databases import both_databases
from tests.factories import make_answer
from tests.voice.factories import make_recording, make_spoken_answer, make_voice_form, upload
from webapp.answers.answering import answer_question
from webapp.answers.session import QuestionNumber
from webapp.answers.trash import delete_form
from webapp.base.database import db, utc_now
from webapp.base.errors import InvalidInput, Outcome
from webapp.records.forms import Form, close_form
from webapp.records.responses.recordings import ObjectDeletion, Recording
from webapp.voice.transcripts import claim, settle_written
from webapp.voice.uploads import RECORDING_COUNTED_BYTES, RECORDINGS_MAX_BYTES, Bounds, check_upload

KEY, OTHER = "a" * 32, "b" * 32
MIB = 1024**2
HERE, THERE = "1" * 64, "2" * 64
FORM_BYTES = 80 * MIB  # takes 20 MiB of unclaimed recordings
BOUNDS = Bounds(FORM_BYTES, 12 * MIB)
pytestmark = [both_databases, pytest.mark.usefixtures("app_context")]


@pytest.fixture
def form(app_context: None) -> Any:
    return make_voice_form()


def refused(call: Any, *arguments: Any, **given: Any) -> str:
    """The code of the refusal, which stored nothing."""
    before = count()
    with pytest.raises(Outcome) as caught:
        call(*arguments, **given)
    db.session.rollback()
    assert count() == before
    return caught.value.code


def count() -> int:
    return db.session.scalar(select(func.count()).select_from(Recording)) or 0


def row() -> Recording:
    return db.session.scalars(select(Recording).execution_options(populate_existing=True)).one()


def test_the_hash_of_an_address_is_erased_once_an_answer_has_its_words(form: Any) -> None:
    added = upload(form, KEY, address_hash="e" * 64)
    assert row().address_hash == "e" * 64

    values = {"position": 0, "answer_text": "", "answer_key": secrets.token_urlsafe(16)}
    answer_question(form.share_token, KEY, recording_id=added.id, now=utc_now(), **values)
    held = claim(now=utc_now())
    assert held
    assert row().address_hash == "e" * 64
    settle_written(held, "Ben did.", now=utc_now())

    assert (row().answer_id is None, row().address_hash) == (False, None)


def test_an_upload_key_is_of_one_session_and_one_question(form: Any) -> None:
    for key in (KEY, OTHER):
        upload(form, key, upload_key="recorder-1")
    assert count() == 2

    second = QuestionNumber(2)
    assert refused(upload, form, KEY, upload_key="recorder-1", at=second) == "form_unreadable"


@pytest.mark.parametrize("begun", [False, True])
def test_an_upload_is_refused_as_words_are(form: Any, *, begun: bool) -> None:
    if begun:
        make_answer(form, KEY)
    check = (form.share_token, KEY, QuestionNumber(1))
    assert refused(check_upload, form.share_token, KEY, QuestionNumber(3)) == "not_found"
    assert refused(check_upload, "no-such-form", KEY, QuestionNumber(1)) == "not_found"
    close_form(form.account_id, form.id, now=utc_now())
    assert refused(check_upload, *check) == refused(upload, form, KEY) == "form_closed"
    delete_form(form.account_id, form.id, now=utc_now())
    assert refused(check_upload, *check) == refused(upload, form, KEY) == "not_found"


def waiting(form: Any, minutes: int, mib: int, source: str | None = HERE, **given: Any) -> str:
    """An unclaimed recording of that age and size, by id."""
    made = make_recording(
        form,
        given.pop("key", secrets.token_urlsafe(24)),
        size=mib * MIB,
        address_hash=source,
        created_at=utc_now() - timedelta(minutes=minutes),
        **given,
    )
    db.session.commit()
    return made.id


def add(form: Any, mib: int, source: str = HERE, *, key: str = KEY, size: int = 0) -> str:
    """Upload one more."""
    return upload(form, key, size=size or mib * MIB, address_hash=source, bounds=BOUNDS).id


def fill(form: Any, size: int) -> None:
    db.session.execute(update(Form).where(Form.id == form.id).values(answer_bytes=size))
    db.session.commit()


def kept() -> set[str]:
    return set(db.session.scalars(select(Recording.id)))


def is_refused(form: Any, mib: int, **given: Any) -> bool:
    """Whether it is refused for want of room; then nothing has gone."""
    before = kept()
    with pytest.raises(InvalidInput) as caught:
        add(form, mib, **given)
    db.session.rollback()
    assert kept() == before
    return caught.value.code == "recordings_full"


def test_the_oldest_of_the_same_address_go(form: Any) -> None:
    elsewhere = make_voice_form()
    old, middle = waiting(elsewhere, 30, 3), waiting(form, 20, 4)
    young, other = waiting(form, 10, 5), waiting(form, 50, 1, THERE)

    added = add(form, 3)

    assert kept() == {middle, young, other, added}
    assert old not in kept()
    assert len(set(db.session.scalars(select(ObjectDeletion.object_key)))) == 1


@pytest.mark.parametrize(
    ("there", "size", "gone"),
    [  # minutes, MiB and address of each
        ([(20, 5, HERE), (10, 5, HERE), (50, 1, THERE), (40, 9, "3" * 64)], 4, 0),
        ([(10, 5, "1"), (40, 5, "2"), (30, 5, "3"), (20, 5, "4")], 5, 1),
    ],
    ids=["of the address with most", "the oldest of equal shares"],
)
def test_of_a_full_form_one_goes(form: Any, there: list[Any], size: int, gone: int) -> None:
    made = [waiting(form, *each) for each in there]

    added = add(form, size, "4" * 64)

    assert kept() == {*made, added} - {made[gone]}


def test_however_short_each_counts_for_a_certain_size(form: Any) -> None:
    most = BOUNDS.address // RECORDING_COUNTED_BYTES
    made = [waiting(form, 39 if number else 40, 0) for number in range(most)]

    added = add(form, 0, size=1)

    assert len(kept()) == most
    assert kept() < {*made, added}
    assert made[0] not in kept()


def test_claimed_recordings_never_go(form: Any) -> None:
    claimed = make_spoken_answer(form, OTHER, size=60 * MIB).id
    unclaimed = waiting(form, 30, 4)

    assert is_refused(form, 5)
    assert add(form, 3)
    assert claimed in kept()
    assert unclaimed not in kept()


def test_recordings_leave_the_rest_of_the_form_to_words(form: Any) -> None:
    fill(form, 60 * MIB)

    assert is_refused(form, 5)
    assert add(form, 3)


def test_one_session_keeps_so_much_and_its_unclaimed_ones_go_first(form: Any) -> None:
    make_spoken_answer(form, KEY, size=RECORDINGS_MAX_BYTES - 4 * MIB)
    fill(form, 0)
    old, young = waiting(form, 30, 2, key=KEY), waiting(form, 20, 2, key=KEY)

    assert is_refused(form, 5)
    added = add(form, 2)

    assert {old, young, added} & kept() == {young, added}
