"""The hot queries go through their index, however many rows there are."""

from collections.abc import Callable
from dataclasses import dataclass
from functools import partial
from types import SimpleNamespace
from typing import Any

import pytest
from sqlalchemy import insert, update

from tests.bulk import analyze, copy_forms, copy_rows, store_answers
from tests.databases import both_databases
from tests.factories import make_account, make_draft, make_form
from tests.query_plans import plan_of, statements_of
from tests.voice.factories import make_recording
from webapp.database import db, utc_now
from webapp.domain.content.model import snapshot
from webapp.domain.deletion.deleted_responses import has_automated
from webapp.domain.drafts.confirmations import find_confirmation
from webapp.domain.drafts.models import Draft, DraftRevision, get_draft
from webapp.domain.drafts.reviews import creator_changes, get_reviewed
from webapp.domain.follow_ups.asked import how_asked
from webapp.domain.forms.agent_tokens import AgentToken, find_agent_token, make_agent_token
from webapp.domain.forms.models import get_form, list_forms
from webapp.domain.respondents.public_form import get_public_form, read_progress
from webapp.domain.responses.completed import get_completed_response
from webapp.domain.responses.cursor import has_answer_after, read_responses
from webapp.domain.responses.recordings import Recording, attachments_of, find_attachment
from webapp.domain.results.by_question import newer_answers, newest_answers, usual_words
from webapp.domain.results.export import read_answers
from webapp.domain.results.recordings import recordings_of
from webapp.domain.results.search import Filters, find_answers, find_people
from webapp.domain.results.threads import (
    first_answers,
    follow_ups_of,
    newer_in_threads,
    threads_of,
)
from webapp.domain.shared.vocabulary import Scope
from webapp.oauth.models import OAuthToken
from webapp.oauth.tokens import find_access_token, issue_token

ROWS = 3000
EDITS = 50


@dataclass(frozen=True)
class Stored:
    """A database with many rows, and what the hot queries ask for in it."""

    account_id: str
    form: Any
    token: str
    token_id: str
    agent_token: str


@pytest.fixture
def stored(app_context: None) -> Stored:
    account_id = make_account().id
    questions = [{"id": f"q_{number}", "text": f"Question {number}?"} for number in range(1, 11)]
    form = make_form(account_id, questions=questions, followUpMode="deep_dive")
    token = issue_token(account_id, [Scope.FORMS_READ], "http://127.0.0.1/api", now=utc_now())
    token_id = db.session.scalars(db.select(OAuthToken.id)).one()
    # so many that finding one's own by reading all would show
    copy_forms(make_form(account_id), ROWS // 100)
    copy_forms(make_form(make_account().id), ROWS)
    copy_rows(OAuthToken.__table__, token_id, ROWS, id="tok_{}".format, token_hash="hash-{}".format)
    now = utc_now()
    made = make_agent_token(account_id, form.id, label="", expires_at=now, now=now)
    new = {"id": "agt_{}".format, "token_hash": "hash-{}".format}
    copy_rows(AgentToken.__table__, made.id, ROWS, **new)
    store_answers(form.id, 10 * ROWS, follow_ups=2)
    recording = make_recording(form, "k" * 32).id
    new = {"answer_id": f"{form.id}-a-{{}}-1".format, "upload_key": "key-{}".format}
    new |= {"id": "att_{}".format, "object_key": "object-{}".format}
    copy_rows(Recording.__table__, recording, ROWS, **new)
    analyze()
    return Stored(account_id, get_form(account_id, form.id), token, token_id, made.token)


def some_new(stored: Stored) -> Callable[[], Any]:
    return partial(read_responses, stored.form, stored.form.last_stamp - 10)


def first_page(stored: Stored) -> Callable[[], Any]:
    return partial(read_responses, stored.form, None)


def one_form(stored: Stored) -> Callable[[], Any]:
    return partial(get_form, stored.account_id, stored.form.id)


def all_forms(stored: Stored) -> Callable[[], Any]:
    return partial(list_forms, stored.account_id)


def public_form(stored: Stored) -> Callable[[], Any]:
    return partial(get_public_form, stored.form.share_token)


def progress(stored: Stored) -> Callable[[], Any]:
    return partial(read_progress, stored.form.share_token, "a-session-key")


def access_token(stored: Stored) -> Callable[[], Any]:
    return partial(find_access_token, stored.token)


def agent_token(stored: Stored) -> Callable[[], Any]:
    return partial(find_agent_token, stored.agent_token)


def by_question(stored: Stored) -> Callable[[], Any]:
    return partial(newest_answers, stored.form)


def usual_length(stored: Stored) -> Callable[[], Any]:
    return partial(usual_words, stored.form)


def by_person(stored: Stored) -> Callable[[], Any]:
    return partial(find_people, stored.form.id, Filters(), before=None)


def searched(stored: Stored) -> Callable[[], Any]:
    return partial(find_answers, stored.form.id, Filters("nowhere"), before=None)


def threads_by_question(stored: Stored) -> Callable[[], Any]:
    shown = [answer for page in newest_answers(stored.form).values() for answer in page.answers]
    return partial(follow_ups_of, stored.form, shown)


def threads_by_person(stored: Stored) -> Callable[[], Any]:
    people = find_people(stored.form.id, Filters(), before=None).people
    return partial(threads_of, stored.form, people)


def threads_found(stored: Stored) -> Callable[[], Any]:
    later = [
        SimpleNamespace(
            id=f"{stored.form.id}-a-{number}-1-2", session_id="", parent_question_id="q"
        )
        for number in range(50)
    ]
    return partial(first_answers, later)


def threads_found_before(stored: Stored) -> Callable[[], Any]:
    found = [SimpleNamespace(id=f"{stored.form.id}-a-{number}-1-2") for number in range(50)]
    return partial(newer_in_threads, found, 0, stored.form.last_stamp)


def with_follow_ups(stored: Stored) -> Callable[[], Any]:
    return partial(find_answers, stored.form.id, Filters(follow_ups=True), before=None)


def people_with_follow_ups(stored: Stored) -> Callable[[], Any]:
    return partial(find_people, stored.form.id, Filters(follow_ups=True), before=None)


def how_they_came_about(stored: Stored) -> Callable[[], Any]:
    return partial(how_asked, [f"{stored.form.id}-q-{number}-1" for number in range(9)])


def next_answer(stored: Stored) -> Callable[[], Any]:
    return partial(has_answer_after, stored.form, stored.form.last_stamp - 10)


def one_response(stored: Stored) -> Callable[[], Any]:
    return partial(get_completed_response, stored.form.id, f"{stored.form.id}-s-7")


def listed_recordings(stored: Stored) -> Callable[[], Any]:
    return partial(attachments_of, [spoken(stored)])


def heard_recordings(stored: Stored) -> Callable[[], Any]:
    return partial(recordings_of, [spoken(stored)])


def spoken(stored: Stored) -> Any:
    return SimpleNamespace(id=f"{stored.form.id}-a-7-1", response_type="voice")


def one_recording(stored: Stored) -> Callable[[], Any]:
    return partial(find_attachment, stored.form.id, "att_7")


def what_is_new(stored: Stored) -> Callable[[], Any]:
    return partial(newer_answers, stored.form, stored.form.last_stamp - 10, 31)


def looks_automated(stored: Stored) -> Callable[[], Any]:
    return partial(has_automated, stored.form.id)


HOT = {
    looks_automated: ("ix_response_sessions_suspect", "INDEX ix_response_sessions_suspect"),
    some_new: ("uq_answers_form_id_stamp", "answers USING INDEX", "(form_id=? AND stamp>?"),
    first_page: ("uq_answers_form_id_stamp", "answers USING INDEX", "(form_id=? AND stamp>?"),
    next_answer: ("uq_answers_form_id_stamp", "answers USING INDEX", "(form_id=? AND stamp>?"),
    one_response: ("uq_answers_session_id_answer_key", "answers USING INDEX", "(session_id=?)"),
    one_form: ("pk_forms", "forms USING INDEX", "(id=?)"),
    all_forms: ("ix_forms_listed", "forms USING INDEX ix_forms_listed", "(account_id=?)"),
    public_form: ("uq_forms_share_token", "forms USING INDEX", "(share_token=?)"),
    progress: ("uq_response_sessions_key_hash", "sessions USING INDEX", "(key_hash=?)"),
    by_question: ("ix_answers_of_question", "answers USING INDEX ix_answers_of_question"),
    usual_length: ("ix_answers_of_question", "USING COVERING INDEX ix_answers_of_question"),
    by_person: ("ix_response_sessions_listed", "INDEX ix_response_sessions_listed", "(form_id=?"),
    searched: ("uq_answers_form_id_stamp", "answers USING INDEX", "(form_id=? AND stamp<?"),
    listed_recordings: ("ix_recordings_claimed", "INDEX ix_recordings_claimed", "(answer_id=?)"),
    heard_recordings: ("ix_recordings_claimed", "INDEX ix_recordings_claimed", "(answer_id=?)"),
    one_recording: ("pk_recordings", "recordings USING INDEX", "(id=?)"),
    what_is_new: ("uq_answers_form_id_stamp", "answers USING INDEX", "(form_id=? AND stamp>?"),
    agent_token: ("uq_agent_tokens_token_hash", "tokens USING INDEX", "(token_hash=?)"),
    access_token: ("uq_oauth_tokens_token_hash", "tokens USING INDEX", "(token_hash=?)"),
}
THREAD = ("uq_follow_ups_session_id_parent_question_id_depth", "follow_ups USING")
THREADS = {
    threads_by_question: (*THREAD, "(session_id=? AND parent_question_id=?)"),
    threads_by_person: (*THREAD, "(session_id=?"),
    threads_found: ("uq_answers_session_id_answer_key", "USING INDEX", "(session_id=?)"),
    threads_found_before: ("uq_answers_session_id_answer_key", "USING INDEX", "(session_id=?)"),
    with_follow_ups: (*THREAD, "(session_id=? AND parent_question_id=?)"),
    people_with_follow_ups: (*THREAD, "(session_id=?"),
    how_they_came_about: ("pk_follow_ups", "follow_ups USING INDEX", "(id=?)"),
}
BIG = (
    "answers",
    "response_sessions",
    "forms",
    "oauth_tokens",
    "agent_tokens",
    "drafts",
    "draft_revisions",
    "recordings",
    "follow_ups",
)


@both_databases
def test_hot_queries_read_through_their_index(stored: Stored) -> None:
    plans = {query.__name__: plan_of(query(stored)) for query in HOT}

    unused = [query for query in HOT if not uses_index(plans[query.__name__], *HOT[query])]
    assert unused == [], plans
    read_whole = {name: [step for step in plan if reads_all(step)] for name, plan in plans.items()}
    assert {name: steps for name, steps in read_whole.items() if steps} == {}, plans
    assert [step for step in plans["first_page"] + plans["some_new"] if sorts(step)] == []


@both_databases
def test_threads_are_found_through_their_index(stored: Stored) -> None:
    plans = {query.__name__: plan_of(query(stored)) for query in THREADS}

    unused = [query for query in THREADS if not uses_index(plans[query.__name__], *THREADS[query])]
    assert unused == [], plans
    # the few sessions of a page may be found by reading a table as small as this one
    read_whole = [step for plan in plans.values() for step in plan if reads_all(step)]
    assert [step for step in read_whole if "response_sessions" not in step] == []


def uses_index(plan: list[str], *parts: str) -> bool:
    return any(matches(step, *parts) for step in plan)


def matches(step: str, postgresql_index: str, *sqlite_parts: str) -> bool:
    return postgresql_index in step or all(part in step for part in sqlite_parts)


def reads_all(step: str) -> bool:
    """A scan of a big table; small tables are rightly read whole."""
    return step.startswith(("SCAN", "Seq Scan")) and step.strip().endswith(BIG)


def sorts(step: str) -> bool:
    return step.startswith(("Sort", "USE TEMP B-TREE"))


@pytest.fixture
def edited(app_context: None) -> Draft:
    """A draft that its creator changed often, beside very many others."""
    account_id = make_account().id
    draft, other = make_draft(account_id), make_draft(account_id)
    kept = {"content": snapshot(draft), "author": None, "created_at": utc_now()}
    revisions = [
        kept | {"draft_id": each.id, "revision": number}
        for each, often in ((draft, EDITS), (other, ROWS))
        for number in range(1, often + 1)
    ]
    revisions[1]["author"] = "grn_1"
    copy_rows(Draft.__table__, other.id, ROWS, id="drf_{}".format)
    db.session.execute(insert(DraftRevision), revisions)
    db.session.execute(update(Draft).where(Draft.id == draft.id).values(revision=EDITS + 1))
    db.session.commit()
    analyze()
    return get_draft(account_id, draft.id)


@both_databases
def test_a_review_is_read_through_its_indexes(edited: Draft) -> None:
    looks = {
        partial(get_reviewed, edited.account_id, edited.id): ("pk_drafts", "drafts USING INDEX"),
        partial(find_confirmation, edited.id): ("pk_drafts", "drafts USING INDEX"),
        partial(creator_changes, edited): (
            "pk_draft_revisions",
            "draft_revisions USING INDEX",
            "(draft_id=? AND revision<?)",
        ),
    }
    plans = {look: plan_of(look) for look in looks}

    assert [plans[look] for look, used in looks.items() if not uses_index(plans[look], *used)] == []
    assert [step for plan in plans.values() for step in plan if reads_all(step)] == []
    assert [step for step in plan_of(partial(creator_changes, edited)) if sorts(step)] == []


@both_databases
def test_listing_forms_is_one_statement(stored: Stored) -> None:
    assert len(statements_of(all_forms(stored))) == 1


@both_databases
def test_a_poll_without_news_reads_no_answers(stored: Stored) -> None:
    assert statements_of(partial(read_responses, stored.form, stored.form.last_stamp)) == []


@both_databases
def test_an_export_continues_through_the_index_of_stamps(stored: Stored) -> None:
    plan = plan_of(lambda: next(read_answers(stored.form.id)))

    # the few sessions of a batch may be found by reading a table as small as this one
    index = ("uq_answers_form_id_stamp", "answers USING INDEX", "(form_id=? AND stamp>?")
    by_id = ("response_sessions", "response_sessions USING INDEX", "(id=?)")
    assert uses_index(plan, *by_id), plan
    assert uses_index(plan, *index), plan
    assert [step for step in plan if reads_all(step) and "answers" in step] == []
    assert [step for step in plan if sorts(step)] == []
