"""What agents do with drafts, whether by a route or by a tool: the use cases with their wake-ups
and what they count for the limits.
"""

from collections.abc import Callable
from typing import NamedTuple

from api.rate_limits import count_nothing
from webapp.config import settings
from webapp.database import release_connections, utc_now
from webapp.domain.content.model import DraftUpdate
from webapp.domain.drafts import confirmations, editing, publishing
from webapp.domain.drafts import models as drafts
from webapp.domain.drafts.idempotency import Repeatable
from webapp.domain.drafts.models import Draft
from webapp.domain.drafts.publishing import Published
from webapp.domain.forms.models import FormLink
from webapp.domain.forms.terms import offered_voice
from webapp.domain.shared.vocabulary import DraftStatus
from webapp.oauth.guard import Caller, acting_agent
from webapp.web.wakeups import NoSlot, client_gone, wakeups
from webapp.wire.extension_types import Confirmation


class DraftState(NamedTuple):
    """A draft and its form; the confirmation is `stale` when the draft changed since."""

    draft: Draft
    form: FormLink | None
    confirmation: Confirmation

    @property
    def is_settled(self) -> bool:
        """True when nothing is left to wait for."""
        return self.form is not None or self.confirmation == "current"

    def differs(self, before: "DraftState") -> bool:
        """True when it was confirmed, changed or published meanwhile."""
        return self._seen() != before._seen()

    def _seen(self) -> tuple[int, bool, str]:
        return self.draft.revision, self.form is not None, self.confirmation


class Waited(NamedTuple):
    """timed_out: nothing has happened; no_slot: because all slots for waiting were taken."""

    state: DraftState
    timed_out: bool = False
    no_slot: bool = False


def create_draft(
    caller: Caller,
    changes: DraftUpdate,
    repeatable: Repeatable | None = None,
    agent_note: str | None = None,
) -> Draft:
    """As `editing.create_draft`."""
    draft = editing.create_draft(
        caller.account_id,
        changes,
        author=caller.grant_id,
        now=utc_now(),
        repeatable=repeatable,
        agent_note=agent_note,
    )
    if draft.repeated:
        count_nothing()
    return draft


def update_draft(
    caller: Caller,
    draft_id: str,
    changes: DraftUpdate,
    expected_revision: int | None = None,
    agent_note: str | None = None,
) -> Draft:
    """As `editing.update_draft`."""
    draft = editing.update_draft(
        caller.account_id,
        draft_id,
        changes,
        author=caller.grant_id,
        now=utc_now(),
        expected_revision=expected_revision,
        agent_note=agent_note,
    )
    wakeups().notify(draft_id)
    return draft


def publish_draft(caller: Caller, draft_id: str) -> Published:
    """As `publishing.publish_draft`; the operator or the creator may let agents confirm."""
    agent_decides = caller.attests_publish or settings().publish_confirmation == "agent"
    published = publishing.publish_draft(
        caller.account_id,
        draft_id,
        now=utc_now(),
        attested_by=caller.grant_id if agent_decides else None,
        offered=offered_voice(settings().transcriber_host),
        by=acting_agent(),
    )
    if published.repeated:
        count_nothing()
    wakeups().notify(draft_id)
    return published


def wait_for_draft(
    account_id: str, draft_id: str, seconds: int, require_access: Callable[[], object]
) -> Waited:
    """The draft, if it is not settled as soon as it is confirmed, changed or published.

    require_access  asked with each look; raises when the token was revoked or has expired
    """
    before = _state(account_id, draft_id)
    if not seconds or before.is_settled:
        return Waited(before)

    def look() -> DraftState | None:
        require_access()
        state = _state(account_id, draft_id)
        return state if state.differs(before) else None

    try:
        found = wakeups().wait_until(
            draft_id, look, seconds, account_id=account_id, gone=client_gone()
        )
    except NoSlot:
        return Waited(before, timed_out=True, no_slot=True)
    return Waited(found or before, timed_out=found is None)


def _state(account_id: str, draft_id: str) -> DraftState:
    """The draft at this moment; holds no database connection afterwards."""
    draft = drafts.get_draft(account_id, draft_id)
    form = (
        publishing.find_published_form(draft_id) if draft.status is DraftStatus.PUBLISHED else None
    )
    found = confirmations.find_confirmation(draft_id)
    known: Confirmation = "current" if confirmations.is_current(found, draft) else "stale"
    release_connections()
    return DraftState(draft, form, known if found else "none")
