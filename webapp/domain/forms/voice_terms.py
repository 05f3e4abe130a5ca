"""What a creator is told of spoken answers and agrees to: whether people may speak, and who
writes it down.

A form keeps what its creator was told. A change of the operator's settings reaches it only when
its creator agrees to that; one that was confirmed while nothing was recorded stays typed.
"""

from datetime import datetime
from typing import NamedTuple

from sqlalchemy import or_, update

from webapp.database import execute, write_transaction
from webapp.domain.audit.trail import SYSTEM, Actor, AuditKind, add_event
from webapp.domain.forms.models import Form, FormRow, get_form, owned_form
from webapp.domain.shared.error_codes import ErrorCode
from webapp.domain.shared.errors import StateConflict
from webapp.domain.shared.vocabulary import ON_THIS_SERVER, ResponseMode


class VoiceTerms(NamedTuple):
    """Whether people may speak, and the host that writes it down: "" for none."""

    records_voice: bool = False
    transcriber: str = ""

    @property
    def stays_here(self) -> bool:
        """True if this server itself writes it down."""
        return self.transcriber == ON_THIS_SERVER


TYPED = VoiceTerms()


class ShownTerms(NamedTuple):
    """What a page told its creator, and what is so on this server at this moment."""

    told: VoiceTerms = TYPED
    offered: VoiceTerms = TYPED

    def is_current(self, mode: ResponseMode) -> bool:
        """True if what was told is so for a form of this mode."""
        return terms_for(mode, self.told) == terms_for(mode, self.offered)

    def agreed(self, mode: ResponseMode) -> VoiceTerms:
        """The terms of a form of this mode; raises StateConflict `confirmation_stale` if the page
        told other ones.
        """
        if not self.is_current(mode):
            raise StateConflict(
                ErrorCode.CONFIRMATION_STALE,
                "What this server does with spoken answers changed while you were reading.",
                "Read what is so today, then decide again.",
            )
        return terms_for(mode, self.offered)

    def confirmed(self, mode: ResponseMode) -> VoiceTerms:
        """As `agreed`; of a page that told of no recordings comes a typed form in any case."""
        return TYPED if self.told == TYPED else self.agreed(mode)


def offered_terms(transcriber: str) -> VoiceTerms:
    """What this server does with spoken answers; `transcriber` is the host of its settings."""
    return VoiceTerms(records_voice=True, transcriber=transcriber)


def terms_for(mode: ResponseMode, offered: VoiceTerms) -> VoiceTerms:
    """Of what is offered, what a form of this mode uses."""
    return TYPED if mode is ResponseMode.TEXT_ONLY else offered


def terms_of(form: FormRow) -> VoiceTerms:
    """What the form's creator has agreed to."""
    return VoiceTerms(form.records_voice, form.transcriber)


def agree_to_terms(
    account_id: str, form_id: str, shown: ShownTerms, *, now: datetime, by: Actor = SYSTEM
) -> None:
    """Let the form do what the page told, whatever its status; idempotent.

    raises  NotFound; StateConflict `confirmation_stale`
    """
    form = get_form(account_id, form_id)
    agreed = shown.agreed(form.response_mode)
    differs = or_(
        Form.records_voice.is_not(agreed.records_voice), Form.transcriber != agreed.transcriber
    )
    with write_transaction():
        changed = execute(
            update(Form).where(owned_form(account_id, form_id), differs).values(agreed._asdict())
        )
        if changed.rowcount:
            add_event(AuditKind.VOICE_AGREED, account_id, by=by, now=now, subject=form_id)
