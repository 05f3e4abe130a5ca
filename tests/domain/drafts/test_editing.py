"""Drafts: creating, changing, history and repeats."""

from datetime import timedelta

import pytest

from tests.conftest import Clock
from tests.factories import make_account, make_draft, make_form
from webapp.answers import trash
from webapp.base.database import db
from webapp.base.errors import InvalidInput, NotFound, StateConflict
from webapp.base.vocabulary import DraftStatus, FollowUpMode
from webapp.drafts import editing, revisions
from webapp.drafts.editing import Repeatable
from webapp.records import drafts
from webapp.records.accounts.models import Account
from webapp.records.content.draft_input import parse_draft_input
from webapp.records.content.model import DraftUpdate
from webapp.records.drafts import Draft

pytestmark = pytest.mark.usefixtures("app_context")


def change(account: Account, draft: Draft, **fields: object) -> Draft:
    return editing.update_draft(
        account.id, draft.id, parse_draft_input(fields), author="grn_1", now=draft.updated_at
    )


def test_an_empty_draft_has_blank_title_and_no_questions(account: Account, clock: Clock) -> None:
    draft = editing.create_draft(account.id, DraftUpdate(), author=None, now=clock.now)

    assert (draft.title, draft.questions, draft.revision) == ("", [], 1)
    assert draft.status is DraftStatus.DRAFT


def test_questions_keep_their_id_or_get_one(account: Account) -> None:
    draft = make_draft(account.id, questions=["A?", {"id": "mine", "text": "B?"}])

    assert draft.questions[1]["id"] == "mine"
    assert draft.questions[0]["id"].startswith("q_")


def test_a_change_raises_the_revision_and_stores_the_previous_content(account: Account) -> None:
    draft = make_draft(account.id, title="Before")

    changed = change(account, draft, title="After")

    before = revisions.find_revision(changed, 1)
    assert (changed.revision, changed.title) == (2, "After")
    assert before is not None
    assert before.title == "Before"


def test_a_change_keeps_the_fields_that_were_not_sent(account: Account) -> None:
    draft = make_draft(account.id, goal="Learn")

    assert change(account, draft, title="After").goal == "Learn"


@pytest.mark.parametrize("fields", [{}, {"title": "Rota"}, {"questions": ["A?", "B?"]}])
def test_a_change_that_changes_nothing_keeps_the_revision(
    account: Account, fields: dict[str, object]
) -> None:
    draft = make_draft(account.id, questions=["A?", "B?"])

    changed = change(account, draft, **fields)

    assert (changed.revision, changed.content_hash) == (1, draft.content_hash)


def test_moving_a_question_keeps_its_id(account: Account) -> None:
    draft = make_draft(account.id, questions=["A?", "B?"])
    first, second = (question["id"] for question in draft.questions)

    changed = change(account, draft, questions=["B?", "A?"])

    assert [question["id"] for question in changed.questions] == [second, first]


def test_two_questions_with_the_same_words_keep_two_ids(account: Account) -> None:
    draft = make_draft(account.id, questions=["A?", "A?"])

    changed = change(account, draft, questions=["A?", "A?", "A?"])

    ids = [question["id"] for question in changed.questions]
    assert ids[:2] == [question["id"] for question in draft.questions]
    assert len(set(ids)) == 3


def test_questions_with_the_same_words_sent_again_change_nothing(account: Account) -> None:
    questions = ["A?", "B?", "A?", "A?"]
    draft = make_draft(account.id, questions=questions)

    changed = change(account, draft, questions=questions)

    assert (changed.revision, changed.questions) == (1, draft.questions)


def test_smart_follow_ups_need_a_context_on_the_merged_draft(account: Account) -> None:
    draft = make_draft(account.id, followUpMode="smart", context="We lost two cafes")

    with pytest.raises(InvalidInput) as caught:
        change(account, draft, context=" ")

    assert caught.value.code == "context_required"


def test_a_refused_change_leaves_the_draft_as_it_was(account: Account) -> None:
    draft = make_draft(account.id)

    with pytest.raises(InvalidInput):
        change(account, draft, title="After", followUpMode="smart")
    db.session.rollback()

    kept = drafts.get_draft(account.id, draft.id)
    assert (kept.title, kept.revision) == ("Rota", 1)


def test_deep_dive_works_without_a_context(account: Account) -> None:
    draft = make_draft(account.id, followUpMode="deep_dive")

    assert draft.follow_up_mode is FollowUpMode.DEEP_DIVE


def test_another_revision_than_expected_is_a_conflict(account: Account, clock: Clock) -> None:
    draft = make_draft(account.id)

    with pytest.raises(StateConflict) as caught:
        editing.update_draft(
            account.id, draft.id, {}, author=None, now=clock.now, expected_revision=7
        )

    assert caught.value.code == "revision_conflict"


def test_a_published_draft_cannot_change(account: Account) -> None:
    form = make_form(account.id)

    with pytest.raises(StateConflict) as caught:
        change(account, drafts.get_draft(account.id, form.draft_id), title="After")

    assert caught.value.code == "draft_already_published"


def test_the_draft_of_another_account_is_not_found(account: Account) -> None:
    draft = make_draft(make_account().id)

    with pytest.raises(NotFound) as caught:
        drafts.get_draft(account.id, draft.id)

    assert caught.value.code == "draft_not_found"


def test_a_discarded_draft_is_not_found(account: Account) -> None:
    draft = make_draft(account.id)
    change(account, draft, title="After")

    trash.discard_draft(account.id, draft.id, now=draft.updated_at)

    assert drafts.list_drafts(account.id) == []


def repeat(account: Account, clock: Clock, body_hash: str = "h", **fields: object) -> Draft:
    return editing.create_draft(
        account.id,
        parse_draft_input(fields),
        author=None,
        now=clock.now,
        repeatable=Repeatable("client", "key", body_hash),
    )


def test_a_repeated_create_returns_the_draft_as_it_was_created(
    account: Account, clock: Clock
) -> None:
    created = repeat(account, clock, title="Before")
    change(account, created, title="After")

    again = repeat(account, clock, title="Before")

    assert (again.id, again.title, again.revision) == (created.id, "Before", 1)


def test_a_key_with_another_body_is_refused(account: Account, clock: Clock) -> None:
    repeat(account, clock)

    with pytest.raises(InvalidInput) as caught:
        repeat(account, clock, body_hash="other")

    assert caught.value.code == "idempotency_key_reused"


def test_an_idempotency_key_is_valid_for_a_day(account: Account, clock: Clock) -> None:
    created = repeat(account, clock)
    clock.forward(hours=23.99)

    assert repeat(account, clock).id == created.id


def test_an_idempotency_key_can_be_used_again_after_a_day(account: Account, clock: Clock) -> None:
    created = repeat(account, clock)
    clock.now += timedelta(hours=24)

    assert repeat(account, clock).id != created.id


def test_the_last_view_is_stored(account: Account, clock: Clock) -> None:
    draft = make_draft(account.id)

    revisions.mark_seen(account.id, draft.id, draft.revision, now=clock.now)

    assert revisions.list_views(account.id) == {draft.id: 1}
