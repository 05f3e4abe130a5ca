"""The terms that a creator sees before publishing, and that the published form keeps: whether
people may speak and who transcribes, who writes follow-up questions, and who asks.

When the operator changes the settings, a form follows only after its creator agrees. A form that
was confirmed without recordings stays typed; one that was confirmed without a model keeps the
built-in rules.
"""

from datetime import datetime
from typing import NamedTuple

from sqlalchemy import or_, update

from webapp.base import database, errors, vocabulary
from webapp.records.accounts.models import Account
from webapp.records.audit import SYSTEM, Actor, AuditKind, add_event
from webapp.records.content.model import Content, asks_follow_ups
from webapp.records.forms import Form, FormRow, get_form, owned_form


class VoiceAgreement(NamedTuple):
    """Whether people may speak, and the host that transcribes the recordings ("" for none)."""

    records_voice: bool = False
    transcriber: str = ""

    @property
    def stays_here(self) -> bool:
        return self.transcriber == vocabulary.ON_THIS_SERVER


class WriterAgreement(NamedTuple):
    """The writer of follow-up questions: a model and its host, or "" for the built-in rules."""

    follow_up_writer: str = ""

    @property
    def host(self) -> str:
        return self.follow_up_writer.rpartition(" at ")[2]


class AskerAgreement(NamedTuple):
    """What respondents see of the account besides its name; `asker_picture` is a digest."""

    asker_organisation: str = ""
    asker_accent: str = ""
    asker_picture: str = ""


TYPED = VoiceAgreement()
BY_RULES = WriterAgreement()


class Agreement(NamedTuple):
    """All terms of one form."""

    voice: VoiceAgreement = TYPED
    writer: WriterAgreement = BY_RULES
    asker: AskerAgreement = AskerAgreement()

    def used_by(self, content: Content) -> "Agreement":
        is_typed = content.response_mode is vocabulary.ResponseMode.TEXT_ONLY
        writer = self.writer if asks_follow_ups(content) else BY_RULES
        return Agreement(TYPED if is_typed else self.voice, writer, self.asker)

    def columns(self) -> dict[str, object]:
        return self.voice._asdict() | self.writer._asdict() | self.asker._asdict()


class Shown(NamedTuple):
    """The terms that a page showed the creator, and those that this server offers now."""

    on_page: Agreement = Agreement()
    offered: Agreement = Agreement()

    def confirmed(self, content: Content) -> Agreement:
        """Return the terms of a form with this content; it has no recordings, or no model, if the
        page named none.

        raises  StateConflict `confirmation_stale` if the page showed something else
        """
        voice = TYPED if self.on_page.voice == TYPED else self.offered.voice
        writer = BY_RULES if self.on_page.writer == BY_RULES else self.offered.writer
        agreed = Agreement(voice, writer, self.offered.asker).used_by(content)
        if self.on_page.used_by(content) != agreed:
            raise _stale()
        return agreed


NOTHING_SHOWN = Shown()


def _stale() -> errors.StateConflict:
    return errors.StateConflict(
        errors.ErrorCode.CONFIRMATION_STALE,
        "What this server does with answers changed while you were reading.",
        "Read what is so today, then decide again.",
    )


def asker_of(account: Account) -> AskerAgreement:
    """Return what respondents see of the account now, besides its name."""
    return AskerAgreement(account.organisation, account.accent, account.picture)


def agreement_of(form: FormRow) -> Agreement:
    """Return the terms that the form's creator has agreed to."""
    return Agreement(
        VoiceAgreement(form.records_voice, form.transcriber),
        WriterAgreement(form.follow_up_writer),
        AskerAgreement(form.asker_organisation, form.asker_accent, form.asker_picture),
    )


def agree(
    account_id: str, form_id: str, part: str, shown: Shown, *, now: datetime, by: Actor = SYSTEM
) -> None:
    """Store the agreement to one part; raises NotFound, StateConflict `confirmation_stale`."""
    form = get_form(account_id, form_id)
    agreed = getattr(shown.offered.used_by(form), part)
    if getattr(shown.on_page.used_by(form), part) != agreed:
        raise _stale()
    values = agreed._asdict()
    differs = or_(*(getattr(Form, name) != value for name, value in values.items()))
    with database.write_transaction():
        changed = database.execute(
            update(Form).where(owned_form(account_id, form_id), differs).values(values)
        )
        if changed.rowcount:
            add_event(AuditKind(f"{part}_agreed"), account_id, by=by, now=now, subject=form_id)
