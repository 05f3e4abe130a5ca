"""What a creator is shown before a form goes out, and what the published form keeps of it: whether
people may speak and who writes it down, who writes follow-up questions, and who asks.

A change of the operator's settings reaches a form only when its creator agrees to that. One that
was confirmed without recordings stays typed, one that was confirmed without a model keeps the
rules.
"""

from dataclasses import dataclass
from datetime import datetime
from typing import Generic, NamedTuple, TypeVar

from sqlalchemy import or_, update

from webapp.base.database import execute, write_transaction
from webapp.base.errors import ErrorCode, StateConflict
from webapp.base.vocabulary import ON_THIS_SERVER, ResponseMode
from webapp.records.accounts.models import Account
from webapp.records.audit import SYSTEM, Actor, AuditKind, add_event
from webapp.records.content.model import AnyContent, asks_follow_ups
from webapp.records.forms import Form, FormRow, get_form, owned_form


class VoiceTerms(NamedTuple):
    """Whether people may speak, and the host that writes it down: "" for none."""

    records_voice: bool = False
    transcriber: str = ""

    @property
    def stays_here(self) -> bool:
        """True if this server itself writes it down."""
        return self.transcriber == ON_THIS_SERVER

    def used_by(self, content: AnyContent) -> "VoiceTerms":
        """What of it a form of this content uses."""
        return TYPED if content.response_mode is ResponseMode.TEXT_ONLY else self


class WriterTerms(NamedTuple):
    """Who writes follow-up questions: a model and its host, "" for the built-in rules."""

    follow_up_writer: str = ""

    @property
    def host(self) -> str:
        """The host of the model."""
        return self.follow_up_writer.rpartition(" at ")[2]

    def used_by(self, content: AnyContent) -> "WriterTerms":
        """What of it a form of this content uses."""
        return self if asks_follow_ups(content) else BY_RULES


class AskerTerms(NamedTuple):
    """Who asks, besides the name of the account: an organisation, a colour and the digest of a
    picture, "" for none.
    """

    asker_organisation: str = ""
    asker_accent: str = ""
    asker_picture: str = ""


TYPED = VoiceTerms()
BY_RULES = WriterTerms()
UNNAMED = AskerTerms()


class FormTerms(NamedTuple):
    """All that a form keeps."""

    voice: VoiceTerms = TYPED
    writer: WriterTerms = BY_RULES
    asker: AskerTerms = UNNAMED

    def used_by(self, content: AnyContent) -> "FormTerms":
        """What of it a form of this content uses."""
        return FormTerms(self.voice.used_by(content), self.writer.used_by(content), self.asker)

    def columns(self) -> dict[str, object]:
        """The values of the columns that a form and a confirmation keep it in."""
        return self.voice._asdict() | self.writer._asdict() | self.asker._asdict()


Terms = TypeVar("Terms", VoiceTerms, WriterTerms, FormTerms)
TermsOfPage = TypeVar("TermsOfPage", VoiceTerms, WriterTerms)
AGREED = {VoiceTerms: AuditKind.VOICE_AGREED, WriterTerms: AuditKind.WRITER_AGREED}


@dataclass(frozen=True, slots=True)
class Shown(Generic[Terms]):
    """What a page showed its creator, and what is so on this server at this moment."""

    on_page: Terms
    offered: Terms

    def is_current(self, content: AnyContent) -> bool:
        """True if what was shown is so for a form of this content."""
        return self.on_page.used_by(content) == self.offered.used_by(content)

    def agreed(self, content: AnyContent) -> Terms:
        """What a form of this content keeps; raises StateConflict `confirmation_stale` if the page
        showed something else.
        """
        if not self.is_current(content):
            raise StateConflict(
                ErrorCode.CONFIRMATION_STALE,
                "What this server does with answers changed while you were reading.",
                "Read what is so today, then decide again.",
            )
        return self.offered.used_by(content)


NOTHING_SHOWN = Shown(FormTerms(), FormTerms())


def confirmed_terms(shown: Shown[FormTerms], content: AnyContent) -> FormTerms:
    """As `agreed`; a page that named no recordings, or no model, makes a form without."""
    on_page, offered = shown.on_page, shown.offered
    possible = FormTerms(
        TYPED if on_page.voice == TYPED else offered.voice,
        BY_RULES if on_page.writer == BY_RULES else offered.writer,
        offered.asker,
    )
    return Shown(on_page, possible).agreed(content)


def asker_of(account: Account) -> AskerTerms:
    """What respondents see of the account today, besides its name."""
    return AskerTerms(account.organisation, account.accent, account.picture)


def offered_voice(transcriber: str) -> VoiceTerms:
    """What this server does with spoken answers; `transcriber` is the host of its settings."""
    return VoiceTerms(records_voice=True, transcriber=transcriber)


def terms_of(form: FormRow) -> FormTerms:
    """What the form's creator has agreed to."""
    return FormTerms(
        VoiceTerms(form.records_voice, form.transcriber),
        WriterTerms(form.follow_up_writer),
        AskerTerms(form.asker_organisation, form.asker_accent, form.asker_picture),
    )


def agree_to_terms(
    account_id: str, form_id: str, shown: Shown[TermsOfPage], *, now: datetime, by: Actor = SYSTEM
) -> None:
    """Let the form do what the page said, whatever its status; idempotent.

    raises  NotFound; StateConflict `confirmation_stale`
    """
    agreed = shown.agreed(get_form(account_id, form_id))
    values = agreed._asdict()
    differs = or_(*(getattr(Form, name) != value for name, value in values.items()))
    with write_transaction():
        changed = execute(
            update(Form).where(owned_form(account_id, form_id), differs).values(values)
        )
        if changed.rowcount:
            add_event(AGREED[type(agreed)], account_id, by=by, now=now, subject=form_id)
