"""What agents do with drafts, whether by a route or by a tool: the use cases with their wake-ups
and what they count for the limits.
"""

from collections.abc import Callable
from dataclasses import dataclass
from functools import partial
from typing import NamedTuple

from api.rate_limits import count_nothing
from webapp.config import settings
from webapp.database import release_connections, utc_now
from webapp.domain.content.model import DraftUpdate
from webapp.domain.drafts import confirmations, editing, publishing, reviews
from webapp.domain.drafts import models as drafts
from webapp.domain.drafts.idempotency import Repeatable
from webapp.domain.drafts.models import Draft
from webapp.domain.drafts.publishing import Published
from webapp.domain.forms.models import FormLink
from webapp.domain.forms.terms import offered_voice
from webapp.domain.shared.vocabulary import DraftStatus, ReviewState
from webapp.oauth.guard import Caller, acting_agent
from webapp.web.wakeups import NoSlot, wakeups
from webapp.wire.review_types import Confirmation

CONFIRMATIONS: dict[ReviewState, Confirmation] = {
    ReviewState.WAITING: "none",
    ReviewState.STALE: "stale",
    ReviewState.RETURNED: "returned",
}


@dataclass(frozen=True, slots=True)
class DraftState:
    """A draft, its form, and how far its review has come."""

    draft: Draft
    form: FormLink | None
    state: ReviewState

    @property
    def confirmation(self) -> Confirmation:
        """`stale` when the draft changed since it was confirmed."""
        return CONFIRMATIONS.get(self.state, "current")

    @property
    def is_settled(self) -> bool:
        """True when nothing is left to wait for."""
        return self.state in {ReviewState.CONFIRMED, ReviewState.PUBLISHED}

    def differs(self, before: "DraftState") -> bool:
        """True when it was confirmed, sent back, changed or published meanwhile."""
        seen = self.draft.revision, self.state
        return seen != (before.draft.revision, before.state)


class ReviewedState(DraftState):
    """The same for a wait for the review alone: a sent back or discarded draft is settled, too."""

    __slots__ = ()

    @property
    def is_settled(self) -> bool:
        return self.state not in {ReviewState.WAITING, ReviewState.STALE}

    def differs(self, before: DraftState) -> bool:
        return self.state != before.state


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
    """The draft, if it is not settled as soon as it is confirmed, sent back, changed or published.

    require_access  asked with each look; raises when the token was revoked or has expired
    """
    read = partial(_state, DraftState, drafts.get_draft, account_id, draft_id)
    return _wait(read, account_id, draft_id, seconds, require_access)


def wait_for_review(
    account_id: str, draft_id: str, seconds: int, require_access: Callable[[], object]
) -> Waited:
    """As `wait_for_draft`, until the review comes to another state; also of a discarded draft."""
    read = partial(_state, ReviewedState, reviews.get_reviewed, account_id, draft_id)
    return _wait(read, account_id, draft_id, seconds, require_access)


def _wait(
    read: Callable[[], DraftState],
    account_id: str,
    draft_id: str,
    seconds: int,
    require_access: Callable[[], object],
) -> Waited:
    before = read()
    if not seconds or before.is_settled:
        return Waited(before)

    def look() -> DraftState | None:
        try:
            state = read()
        finally:
            require_access()  # after the read: what is newer than the end of the token stays unsaid
        release_connections()
        return state if state.differs(before) else None

    try:
        found = wakeups().wait_until(draft_id, look, seconds, account_id=account_id)
    except NoSlot:
        return Waited(before, timed_out=True, no_slot=True)
    return Waited(found or before, timed_out=found is None)


def _state(
    kind: type[DraftState], get: Callable[[str, str], Draft], account_id: str, draft_id: str
) -> DraftState:
    """The draft at this moment; holds no database connection afterwards."""
    draft = get(account_id, draft_id)
    form = (
        publishing.find_published_form(draft_id) if draft.status is DraftStatus.PUBLISHED else None
    )
    state = reviews.review_state(draft, confirmations.find_confirmation(draft_id))
    release_connections()
    return kind(draft, form, state)
