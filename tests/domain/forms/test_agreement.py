"""What a form keeps of what its creator was shown, and how that changes: who writes spoken answers
down, and who writes follow-up questions.
"""

from typing import Any

import pytest
from sqlalchemy import select

from tests.conftest import Clock
from tests.databases import both_databases
from tests.factories import make_draft, make_form
from webapp.base.database import db
from webapp.drafts import confirmations, publishing
from webapp.drafts.agreement import (
    BY_RULES,
    TYPED,
    Agreement,
    Shown,
    VoiceAgreement,
    WriterAgreement,
    agree as agree_to,
    agreement_of,
)
from webapp.records import forms
from webapp.records.accounts.models import Account
from webapp.records.audit import AuditEvent, AuditKind
from webapp.records.drafts import Draft

pytestmark = pytest.mark.usefixtures("app_context")

SPOKEN = VoiceAgreement(records_voice=True)
WRITTEN_DOWN = VoiceAgreement(records_voice=True, transcriber="speech.example.org")
BY_ANOTHER = VoiceAgreement(records_voice=True, transcriber="other.example.org")
SMALL = WriterAgreement("small at models.example.org")
LARGE = WriterAgreement("large at models.example.org")
SMART = {"followUpMode": "smart", "context": "Two cafés close."}
Part = VoiceAgreement | WriterAgreement


def whole(part: Part) -> Agreement:
    return Agreement(SPOKEN, part) if isinstance(part, WriterAgreement) else Agreement(part)


def shown(on_page: Agreement | Part, offered: Agreement | Part | None = None) -> Shown:
    """A page that said the first, while the second is so."""
    both = (on_page, on_page if offered is None else offered)
    return Shown(*(each if isinstance(each, Agreement) else whole(each) for each in both))


def confirm(draft: Draft, clock: Clock, terms: Shown) -> None:
    exactly = {"revision": draft.revision, "shown_hash": draft.content_hash}
    confirmations.confirm_draft(draft.account_id, draft.id, **exactly, shown=terms, now=clock.now)


def publish(draft: Draft, clock: Clock, **more: Any) -> Any:
    return publishing.publish_draft(draft.account_id, draft.id, now=clock.now, **more).form


def agree(form: Any, clock: Clock, part: Part) -> None:
    name = "voice" if isinstance(part, VoiceAgreement) else "writer"
    agree_to(form.account_id, form.id, name, shown(part), now=clock.now)


def kept(form: Any) -> Agreement:
    return agreement_of(forms.get_form(form.account_id, form.id))


@both_databases
def test_the_newest_confirmation_counts(account: Account, clock: Clock) -> None:
    draft = make_draft(account.id)
    for terms in (TYPED, WRITTEN_DOWN, BY_ANOTHER):
        confirm(draft, clock, shown(terms))
        clock.forward(milliseconds=1)

    assert kept(publish(draft, clock)).voice == BY_ANOTHER


@both_databases
def test_an_agents_word_takes_what_is_so_here_and_no_model(account: Account, clock: Clock) -> None:
    form = publish(
        make_draft(account.id, **SMART), clock, attested_by="grn_1", offered=WRITTEN_DOWN
    )

    assert kept(form) == Agreement(WRITTEN_DOWN, BY_RULES)


@pytest.mark.parametrize(
    ("chosen", "told", "offered", "writer"),
    [
        ({}, SMALL, LARGE, BY_RULES),
        (SMART | {"maxTotalQuestions": 2}, SMALL, LARGE, BY_RULES),
        (SMART | {"maxTotalQuestions": 3}, SMALL, SMALL, SMALL),
    ],
)
def test_a_form_has_a_model_if_there_is_room_for_a_follow_up(
    chosen: dict[str, Any],
    told: WriterAgreement,
    offered: WriterAgreement,
    writer: WriterAgreement,
    account: Account,
    clock: Clock,
) -> None:
    draft = make_draft(account.id, **chosen)
    confirm(draft, clock, shown(told, offered))
    form = publish(draft, clock)
    agree(form, clock, told)

    assert kept(form).writer == writer


@both_databases
def test_a_yes_to_one_thing_leaves_the_other_as_it_is(account: Account, clock: Clock) -> None:
    form = make_form(account.id, **SMART)
    agree(form, clock, SMALL)
    agree(form, clock, SPOKEN)
    assert kept(form) == Agreement(SPOKEN, SMALL)

    agree(form, clock, BY_RULES)
    agree(form, clock, BY_RULES)

    assert kept(form) == Agreement(SPOKEN, BY_RULES)
    query = select(AuditEvent.id).where(AuditEvent.kind == AuditKind.WRITER_AGREED)
    assert len(db.session.scalars(query).all()) == 2
