"""Publishing: which confirmation it needs, and what a draft that is sent back lacks."""

from typing import Any

import pytest

from tests.conftest import Clock
from tests.databases import both_databases
from webapp.base.database import db
from webapp.base.errors import NotConfirmed
from webapp.base.vocabulary import ConfirmationMethod
from webapp.drafts import confirmations, editing, publishing, reviews
from webapp.oauth.connections import count_waiting
from webapp.records import drafts
from webapp.records.accounts.models import Account
from webapp.records.content.draft_input import parse_draft_input
from webapp.records.drafts import Draft

pytestmark = pytest.mark.usefixtures("app_context")

NOTE = "Shorter, please"
CLAUDE = "grn_1"


@pytest.fixture
def draft(account: Account, clock: Clock) -> Draft:
    """By an agent."""
    changes = parse_draft_input({"title": "Rota", "questions": ["Who?"]})
    return editing.create_draft(account.id, changes, author=CLAUDE, now=clock.now)


def send_back(draft: Draft, clock: Clock, note: str | None = NOTE, revision: int = 0) -> None:
    shown = revision or draft.revision
    reviews.return_draft(draft.account_id, draft.id, revision=shown, note=note, now=clock.now)


def change(draft: Draft, clock: Clock, author: str | None, **fields: Any) -> Draft:
    given = parse_draft_input(fields)
    return editing.update_draft(draft.account_id, draft.id, given, author=author, now=clock.now)


def confirm(draft: Draft, clock: Clock) -> None:
    shown = {"revision": draft.revision, "shown_hash": draft.content_hash}
    confirmations.confirm_draft(draft.account_id, draft.id, **shown, now=clock.now)


def stored(draft: Draft) -> Draft:
    db.session.expire_all()
    return drafts.get_draft(draft.account_id, draft.id)


def standing(draft: Draft) -> tuple[object, ...]:
    found = stored(draft)
    return found.returned_at, found.returned_revision, found.return_note


def publish(draft: Draft, clock: Clock, by: str | None = None) -> publishing.Published:
    return publishing.publish_draft(draft.account_id, draft.id, now=clock.now, attested_by=by)


@both_databases
@pytest.mark.parametrize(
    ("by", "note", "said"),
    [
        (None, NOTE, f", with the note “{NOTE}”."),
        (CLAUDE, NOTE, f", with the note “{NOTE}”."),
        (None, None, "."),
    ],
)
def test_a_confirmed_draft_that_is_sent_back_is_not_published(
    draft: Draft, clock: Clock, by: str | None, note: str | None, said: str
) -> None:
    confirm(draft, clock)
    send_back(draft, clock, note)

    with pytest.raises(NotConfirmed) as refused:
        publish(draft, clock, by)

    assert refused.value.code == "draft_not_confirmed"
    assert refused.value.message == f"Its creator sent this draft back{said}"
    assert confirmations.list_confirmed(draft.account_id) == set()


@both_databases
@pytest.mark.parametrize(
    ("author", "fields"),
    [
        (None, {"title": "Mine"}),
        (CLAUDE, {"title": "Rota"}),
    ],
    ids=["an edit of the creator", "a change that changes nothing"],
)
def test_what_is_no_new_revision_of_an_agent_leaves_it(
    draft: Draft, clock: Clock, author: str | None, fields: dict[str, Any]
) -> None:
    send_back(draft, clock)

    given = change(draft, clock, author, **fields)

    assert standing(draft) == (clock.now, 1, NOTE)
    assert given.return_note == NOTE


@both_databases
@pytest.mark.parametrize("is_kept", [True, False])
def test_an_older_confirmation_does_not_come_back(
    draft: Draft,
    clock: Clock,
    is_kept: bool,  # noqa: FBT001
) -> None:
    """Neither where the creator keeps the draft nor after the answer of an agent."""
    confirm(draft, clock)
    send_back(draft, clock)
    if is_kept:
        reviews.keep_draft(draft.account_id, draft.id, now=clock.now)
    else:
        change(draft, clock, CLAUDE, title="Shorter")

    with pytest.raises(NotConfirmed) as refused:
        publish(draft, clock)

    assert refused.value.code == "draft_not_confirmed"
    assert count_waiting(draft.account_id, now=clock.now) == 1


@pytest.mark.parametrize("trusted", [None, CLAUDE])
def test_a_change_and_its_undoing_need_a_new_confirmation(
    draft: Draft, clock: Clock, trusted: str | None
) -> None:
    confirm(draft, clock)
    for title in ("After", "Rota"):
        draft = change(draft, clock, CLAUDE, title=title)

    assert not confirmations.is_current(confirmations.find_confirmation(draft.id), draft)
    if trusted:
        assert not publish(draft, clock, trusted).repeated
        return
    with pytest.raises(NotConfirmed) as refused:
        publish(draft, clock)
    assert refused.value.code == "confirmation_stale"


@pytest.mark.parametrize(
    ("confirmed", "recorded"),
    [
        (False, (ConfirmationMethod.AGENT_ATTESTED, CLAUDE)),
        (True, (ConfirmationMethod.BROWSER, None)),
    ],
)
def test_an_agents_word_is_recorded_as_such_where_it_was_needed(
    draft: Draft,
    clock: Clock,
    confirmed: bool,  # noqa: FBT001
    recorded: tuple[ConfirmationMethod, str | None],
) -> None:
    if confirmed:
        confirm(draft, clock)

    publish(draft, clock, CLAUDE)

    confirmation = confirmations.find_confirmation(draft.id)
    assert confirmation is not None
    assert (confirmation.method, confirmation.grant_id) == recorded
