"""Publishing: which confirmation it needs, what voids it, and that a draft becomes one form."""

from functools import partial

import pytest

from tests.conftest import Clock
from tests.factories import make_draft
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


@pytest.mark.parametrize("trusted", [None, "grn_1"])
def test_a_change_and_its_undoing_need_a_new_confirmation(
    trusted: str | None, account: Account, clock: Clock
) -> None:
    draft = make_draft(account.id)
    confirm(account, draft, clock)
    for title in ("After", "Rota"):
        changes = parse_draft_input({"title": title})
        editing.update_draft(account.id, draft.id, changes, author="grn_1", now=clock.now)
    draft = drafts.get_draft(account.id, draft.id)

    assert not confirmations.is_current(confirmations.find_confirmation(draft.id), draft)
    publish = partial(publishing.publish_draft, account.id, draft.id, now=clock.now)
    if trusted:
        assert not publish(attested_by=trusted).repeated
        return
    with pytest.raises(StateConflict) as caught:
        publish()
    assert caught.value.code == "confirmation_stale"


@pytest.mark.parametrize(
    ("confirmed", "recorded"),
    [
        (False, (ConfirmationMethod.AGENT_ATTESTED, "grn_1")),
        (True, (ConfirmationMethod.BROWSER, None)),
    ],
)
def test_an_agents_word_is_recorded_as_such_where_it_was_needed(
    confirmed: bool,  # noqa: FBT001
    recorded: tuple[ConfirmationMethod, str | None],
    account: Account,
    clock: Clock,
) -> None:
    draft = make_draft(account.id)
    if confirmed:
        confirm(account, draft, clock)

    publishing.publish_draft(account.id, draft.id, now=clock.now, attested_by="grn_1")

    confirmation = confirmations.find_confirmation(draft.id)
    assert confirmation is not None
    assert (confirmation.method, confirmation.grant_id) == recorded
