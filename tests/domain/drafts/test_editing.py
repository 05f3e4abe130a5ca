"""Drafts: creating, changing, history and repeats."""

import pytest

from tests.factories import make_draft
from webapp.drafts import editing
from webapp.records.accounts.models import Account
from webapp.records.content.draft_input import parse_draft_input
from webapp.records.drafts import Draft

pytestmark = pytest.mark.usefixtures("app_context")


def change(account: Account, draft: Draft, **fields: object) -> Draft:
    return editing.update_draft(
        account.id, draft.id, parse_draft_input(fields), author="grn_1", now=draft.updated_at
    )


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
