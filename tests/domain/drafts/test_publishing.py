"""Publishing: which confirmation it needs, what voids it, and that a draft becomes one form."""

import pytest

from tests.conftest import Clock
from tests.factories import make_draft
from webapp.base.database import db
from webapp.base.errors import StateConflict
from webapp.base.vocabulary import ConfirmationMethod
from webapp.drafts import confirmations, editing, publishing
from webapp.records import drafts
from webapp.records.accounts.models import Account
from webapp.records.content.draft_input import parse_draft_input
from webapp.records.drafts import Draft

pytestmark = pytest.mark.usefixtures("app_context")


def confirm(account: Account, draft: Draft, clock: Clock) -> None:
    confirmations.confirm_draft(
        account.id,
        draft.id,
        revision=draft.revision,
        shown_hash=draft.content_hash,
        now=clock.now,
    )


def refusal(account: Account, draft: Draft, clock: Clock) -> str:
    with pytest.raises(StateConflict) as caught:
        publishing.publish_draft(account.id, draft.id, now=clock.now)
    db.session.rollback()
    return caught.value.code


def test_a_change_and_its_undoing_need_a_new_confirmation(account: Account, clock: Clock) -> None:
    draft = make_draft(account.id)
    confirm(account, draft, clock)
    for title in ("After", "Rota"):
        changes = parse_draft_input({"title": title})
        editing.update_draft(account.id, draft.id, changes, author="grn_1", now=clock.now)

    assert refusal(account, draft, clock) == "confirmation_stale"
    draft = drafts.get_draft(account.id, draft.id)
    assert not confirmations.is_current(confirmations.find_confirmation(draft.id), draft)


def test_a_trusted_agent_publishes_after_a_change_and_its_undoing(
    account: Account, clock: Clock
) -> None:
    draft = make_draft(account.id)
    confirm(account, draft, clock)
    for title in ("After", "Rota"):
        changes = parse_draft_input({"title": title})
        editing.update_draft(account.id, draft.id, changes, author="grn_1", now=clock.now)

    published = publishing.publish_draft(account.id, draft.id, now=clock.now, attested_by="grn_1")

    assert not published.repeated


def test_an_attestation_is_recorded_as_agent_attested(account: Account, clock: Clock) -> None:
    draft = make_draft(account.id)

    publishing.publish_draft(account.id, draft.id, now=clock.now, attested_by="grn_1")

    confirmation = confirmations.find_confirmation(draft.id)
    assert confirmation is not None
    assert confirmation.method is ConfirmationMethod.AGENT_ATTESTED
    assert confirmation.grant_id == "grn_1"


def test_an_existing_confirmation_is_kept_over_an_attestation(
    account: Account, clock: Clock
) -> None:
    draft = make_draft(account.id)
    confirm(account, draft, clock)

    publishing.publish_draft(account.id, draft.id, now=clock.now, attested_by="grn_1")

    confirmation = confirmations.find_confirmation(draft.id)
    assert confirmation is not None
    assert confirmation.method is ConfirmationMethod.BROWSER
