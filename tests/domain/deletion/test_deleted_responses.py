"""A response that its creator deletes: hidden at once, restorable for 30 s, then gone for good."""

from datetime import timedelta
from typing import Any

import pytest
from sqlalchemy import func, select, update

from tests.databases import both_databases
from tests.event_factories import make_subscription
from tests.factories import (
    make_account,
    make_answer,
    make_follow_up,
    make_follow_up_answer,
    make_form,
    make_response,
)
from tests.voice.factories import make_recording, make_spoken_answer, make_voice_form
from webapp.answers import results, trash as deletions
from webapp.answers.answering import complete_response
from webapp.answers.batches import read_answers, read_people
from webapp.answers.reading import get_response
from webapp.answers.results import Filters, find_answers, find_people
from webapp.base.database import db, utc_now
from webapp.base.errors import NotFound
from webapp.base.text import token_hash
from webapp.base.vocabulary import DeliveryState
from webapp.records.events import EventDelivery
from webapp.records.forms import get_form
from webapp.records.responses.completed import get_completed_response
from webapp.records.responses.counters import QuestionCounts, read_days, read_questions
from webapp.records.responses.cursor import read_responses
from webapp.records.responses.models import ResponseSession
from webapp.records.responses.recordings import ObjectDeletion, find_attachment

pytestmark = [both_databases, pytest.mark.usefixtures("app_context")]
UNDO = timedelta(seconds=30)
KEY = "k" * 32


@pytest.fixture
def form() -> Any:
    return make_form(make_account().id)


def session_of(session_key: str) -> str:
    query = select(ResponseSession.id).where(ResponseSession.key_hash == token_hash(session_key))
    return db.session.scalars(query).one()


def fresh(form: Any) -> Any:
    db.session.rollback()
    return get_form(form.account_id, form.id)


def schedule(form: Any, session_key: str = KEY, **given: Any) -> str:
    """Delete a response; the id of its deletion."""
    at = {"now": utc_now()} | given
    deletions.delete_response(form.account_id, form.id, session_of(session_key), **at)
    return deletions.list_deletions(form.id)[0].id


def undo(form: Any, deletion_id: str) -> Any:
    return deletions.undo_deletion(form.account_id, form.id, deletion_id, now=utc_now())


def purge(after: timedelta = UNDO) -> list[int]:
    db.session.rollback()
    return list(deletions.purge_deleted_responses(utc_now() + after))


def flag(*session_keys: str) -> None:
    hashes = [token_hash(key) for key in session_keys]
    which = ResponseSession.key_hash.in_(hashes)
    db.session.execute(update(ResponseSession).where(which).values(suspect=True))
    db.session.commit()


def rows_by_table() -> dict[str, int]:
    db.session.rollback()
    return {
        table.name: db.session.scalar(select(func.count()).select_from(table)) or 0
        for table in db.metadata.sorted_tables
        if table.name not in {"audit_events", "question_counts", "day_counts"}
    }


def polled(form: Any, since: int | None = None) -> list[str]:
    """The ids of the responses that an agent reads."""
    return [each.session.id for each in read_responses(fresh(form), since).sessions]


def shown(form: Any) -> list[set[str]]:
    """The ids of the responses that each view and file of the creator holds."""
    db.session.rollback()
    pages = results.newest_answers(fresh(form)).values()
    found = [
        {answer.session_id for page in pages for answer in page.answers},
        {each.session_id for each in find_answers(form.id, Filters("Me"), before=None).answers},
        {each.session.id for each in find_people(form.id, Filters(), before=None).people},
        {each.session_id for batch in read_answers(form.id) for each in batch.answers},
        {each.session.id for batch in read_people(form.id) for each in batch},
    ]
    db.session.rollback()
    return found


class TestHiding:
    def test_views_and_files_leave_it_out_at_once_and_agents_go_on_reading_it(
        self, form: Any
    ) -> None:
        kept, deleted = (session_of(make_response(form)) for _ in range(2))
        deletions.delete_response(form.account_id, form.id, deleted, now=utc_now())

        assert shown(form) == [{kept}] * 5
        with pytest.raises(NotFound):
            get_response(form, deleted)
        assert purge(UNDO - timedelta(seconds=5)) == []
        assert polled(form) == [kept, deleted]
        assert get_completed_response(form.id, deleted).answers
        assert fresh(form).response_count == 2

    def test_its_recording_is_heard_by_agents_alone(self) -> None:
        form = make_voice_form()
        recording_id = make_spoken_answer(form, KEY).id
        find_attachment(form.id, recording_id, shown_only=True)
        schedule(form)

        with pytest.raises(NotFound):
            find_attachment(form.id, recording_id, shown_only=True)
        assert find_attachment(form.id, recording_id).id == recording_id

    def test_only_a_response_of_the_form_and_account_is_deleted(self, form: Any) -> None:
        session_id = session_of(make_response(form))
        other = make_form(form.account_id)
        stranger = make_account().id
        for account_id, form_id, response in (
            (stranger, form.id, session_id),
            (form.account_id, other.id, session_id),
            (form.account_id, form.id, "ses_unknown"),
        ):
            with pytest.raises(NotFound):
                deletions.delete_response(account_id, form_id, response, now=utc_now())
        with pytest.raises(NotFound):
            deletions.delete_automated(stranger, form.id, now=utc_now())

        assert rows_by_table()["response_deletions"] == 0


class TestUndoing:
    def test_it_keeps_its_place_for_creator_and_agent(self, form: Any) -> None:
        make_response(form, KEY)
        before, page = fresh(form), read_responses(fresh(form), None)
        deletion_id = schedule(form)

        undone = undo(form, deletion_id)

        assert undone is not None
        assert undone.session_id == session_of(KEY)
        assert purge() == []
        assert (fresh(form), read_responses(fresh(form), None)) == (before, page)
        assert shown(form) == [{session_of(KEY)}] * 5

    def test_nobody_else_undoes_it(self, form: Any) -> None:
        make_response(form, KEY)
        deletion_id, other = schedule(form), make_form(form.account_id)

        assert undo(other, deletion_id) is None
        with pytest.raises(NotFound):
            deletions.undo_deletion(make_account().id, form.id, deletion_id, now=utc_now())
        assert len(deletions.list_deletions(form.id)) == 1


class TestAfterwards:
    def test_nothing_of_it_is_left(self) -> None:
        form = make_voice_form(followUpMode="deep_dive")
        make_response(form)
        before, rows = fresh(form), rows_by_table()
        counts = read_questions(form.id)
        make_spoken_answer(form, KEY, text="typed first")
        make_recording(form, KEY, 1)
        db.session.commit()
        make_answer(form, KEY, 1)
        asked = make_follow_up(form, KEY, 1)
        make_follow_up_answer(form, KEY, asked)
        complete_response(form.share_token, KEY, responder_name="Sam", now=utc_now())
        schedule(form)

        assert purge() == [1]

        after = fresh(form)
        assert after._replace(last_stamp=before.last_stamp) == before
        assert after.last_stamp > before.last_stamp
        assert rows_by_table() == rows | {"object_deletions": 2}
        assert {**read_questions(form.id), form.questions[1]["id"]: QuestionCounts()} == {
            **counts,
            form.questions[1]["id"]: QuestionCounts(),
        }
        assert sum(day.completed for day in read_days(form.id, utc_now(), days=2)) == 1
        assert len(db.session.scalars(select(ObjectDeletion)).all()) == 2

    def test_the_cursor_of_an_agent_goes_on(self, form: Any) -> None:
        make_response(form, KEY)
        since = read_responses(fresh(form), None).next_since
        schedule(form)
        purge()

        assert polled(form, since) == []
        newer = session_of(make_response(form))
        assert polled(form, since) == polled(form) == [newer]

    def test_what_was_not_sent_of_its_event_is_cancelled(self, form: Any) -> None:
        make_subscription(form)
        make_response(form, KEY)
        schedule(form)
        states = select(EventDelivery.state)
        assert list(db.session.scalars(states)) == [DeliveryState.PENDING]

        purge()

        assert list(db.session.scalars(states)) == [DeliveryState.CANCELLED]


class TestAutomated:
    def test_all_that_look_so_go_in_batches_and_the_others_stay(
        self, form: Any, monkeypatch: pytest.MonkeyPatch
    ) -> None:
        kept = session_of(make_response(form))
        flag(*(make_response(form) for _ in range(3)))
        make_answer(form, KEY)
        flag(KEY)
        assert (deletions.has_automated(form.id), deletions.count_automated(form.id)) == (True, 4)

        assert deletions.delete_automated(form.account_id, form.id, now=utc_now()) == 4

        assert shown(form) == [{kept}] * 5
        assert (deletions.has_automated(form.id), deletions.count_automated(form.id)) == (False, 0)
        assert results.read_hidden(form.id).started == 4
        monkeypatch.setattr(deletions, "BATCH_SESSIONS", 3)
        assert purge() == [3, 1]
        after = fresh(form)
        assert (after.response_count, after.answered_count, after.started_count) == (1, 1, 1)
        assert polled(form) == [kept]

    def test_one_that_changes_or_comes_meanwhile_stays(self, form: Any) -> None:
        make_answer(form, KEY)
        flag(KEY, make_response(form))
        long_ago = utc_now() - timedelta(seconds=1)
        db.session.execute(update(ResponseSession).values(last_active_at=long_ago))
        db.session.commit()
        now = utc_now()
        deletions.delete_automated(form.account_id, form.id, now=now - timedelta(milliseconds=5))
        make_answer(form, KEY, 1)
        flag(newer := make_response(form))

        assert purge() == [1]

        assert set(polled(form)) == {session_of(KEY), session_of(newer)}

    def test_another_form_is_left_alone(self, form: Any) -> None:
        other = make_form(form.account_id)
        flag(make_response(form), make_response(other))
        deletions.delete_automated(form.account_id, form.id, now=utc_now())

        assert purge() == [1]
        assert fresh(other).response_count == 1
