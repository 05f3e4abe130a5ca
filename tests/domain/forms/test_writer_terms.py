"""What a form keeps of who writes its follow-up questions, and how that changes."""

from typing import Any

import pytest
from sqlalchemy import select

from tests.conftest import Clock
from tests.databases import both_databases
from tests.factories import make_account, make_draft, make_form
from webapp.answers import trash
from webapp.base.database import db
from webapp.base.errors import NotFound, StateConflict
from webapp.drafts import confirmations, editing, publishing
from webapp.drafts.terms import (
    BY_RULES,
    FormTerms,
    Shown,
    VoiceTerms,
    WriterTerms,
    agree_to_terms,
    terms_of,
)
from webapp.records import forms
from webapp.records.accounts.models import Account
from webapp.records.audit import AuditEvent, AuditKind
from webapp.records.content.draft_input import parse_draft_input
from webapp.records.drafts import Draft

pytestmark = pytest.mark.usefixtures("app_context")

SPOKEN = VoiceTerms(records_voice=True)
SMALL = WriterTerms("small at models.example.org")
LARGE = WriterTerms("large at models.example.org")
SMART = {"followUpMode": "smart", "context": "Two cafés close."}


def page(told: WriterTerms, offered: WriterTerms) -> Shown[FormTerms]:
    return Shown(FormTerms(SPOKEN, told), FormTerms(SPOKEN, offered))


def confirm(draft: Draft, clock: Clock, terms: Shown[FormTerms]) -> None:
    confirmations.confirm_draft(
        draft.account_id,
        draft.id,
        revision=draft.revision,
        shown_hash=draft.content_hash,
        terms=terms,
        now=clock.now,
    )


def publish(draft: Draft, clock: Clock, terms: Shown[FormTerms], **more: Any) -> Any:
    confirm(draft, clock, terms)
    return publishing.publish_draft(draft.account_id, draft.id, now=clock.now, **more).form


def agree(form: Any, clock: Clock, told: WriterTerms, offered: WriterTerms) -> None:
    agree_to_terms(form.account_id, form.id, Shown(told, offered), now=clock.now)


def kept(form: Any) -> WriterTerms:
    return terms_of(forms.get_form(form.account_id, form.id)).writer


def agreements() -> int:
    query = select(AuditEvent.id).where(AuditEvent.kind == AuditKind.WRITER_AGREED)
    return len(db.session.scalars(query).all())


@pytest.mark.parametrize(
    "chosen",
    [
        {},
        {"followUpMode": "none", "maxFollowupsPerQuestion": 5},
        SMART | {"maxFollowupsPerQuestion": 0},
        SMART | {"maxTotalQuestions": 1},
        SMART | {"maxTotalQuestions": 2},
    ],
)
def test_a_form_that_can_ask_nothing_has_no_model(
    account: Account, clock: Clock, chosen: dict[str, Any]
) -> None:
    form = publish(make_draft(account.id, **chosen), clock, page(SMALL, LARGE))
    agree(form, clock, SMALL, SMALL)

    assert kept(form) == BY_RULES


def test_room_for_one_follow_up_is_enough(account: Account, clock: Clock) -> None:
    form = publish(make_draft(account.id, **SMART, maxTotalQuestions=3), clock, page(SMALL, SMALL))

    assert kept(form) == SMALL


@pytest.mark.parametrize("offered", [LARGE, BY_RULES])
def test_nothing_is_confirmed_with_a_model_that_is_not_there_any_more(
    account: Account, clock: Clock, offered: WriterTerms
) -> None:
    draft = make_draft(account.id, **SMART)

    with pytest.raises(StateConflict) as caught:
        confirm(draft, clock, page(SMALL, offered))
    db.session.rollback()

    assert caught.value.code == "confirmation_stale"
    assert confirmations.find_confirmation(draft.id) is None


def test_a_model_told_of_another_revision_does_not_count(account: Account, clock: Clock) -> None:
    draft = make_draft(account.id, **SMART)
    confirm(draft, clock, page(SMALL, SMALL))
    changes = parse_draft_input({"context": "One café closes."})
    draft = editing.update_draft(account.id, draft.id, changes, author=None, now=clock.now)

    assert kept(publish(draft, clock, page(BY_RULES, SMALL))) == BY_RULES


@both_databases
def test_an_agents_word_brings_no_model(account: Account, clock: Clock) -> None:
    draft = make_draft(account.id, **SMART)

    form = publishing.publish_draft(
        account.id, draft.id, attested_by="grn_1", offered=SPOKEN, now=clock.now
    ).form

    assert terms_of(form) == FormTerms(SPOKEN, BY_RULES)


def test_an_agents_word_takes_no_model_away(account: Account, clock: Clock) -> None:
    form = publish(make_draft(account.id, **SMART), clock, page(SMALL, SMALL), attested_by="grn_1")

    assert kept(form) == SMALL


@both_databases
def test_a_yes_to_one_thing_leaves_the_other_as_it_is(account: Account, clock: Clock) -> None:
    form = make_form(account.id, **SMART)
    agree(form, clock, SMALL, SMALL)
    agree_to_terms(account.id, form.id, Shown(SPOKEN, SPOKEN), now=clock.now)

    assert terms_of(forms.get_form(account.id, form.id)) == FormTerms(SPOKEN, SMALL)


def test_the_way_back_to_the_rules_is_a_yes_as_well(account: Account, clock: Clock) -> None:
    form = publish(make_draft(account.id, **SMART), clock, page(SMALL, SMALL))
    agree(form, clock, BY_RULES, BY_RULES)

    assert kept(form) == BY_RULES
    assert agreements() == 1


def test_a_form_of_somebody_else_or_in_the_trash_is_not_found(
    account: Account, clock: Clock
) -> None:
    theirs, gone = make_form(make_account().id, **SMART), make_form(account.id, **SMART)
    trash.delete_form(account.id, gone.id, now=clock.now)

    for form in (theirs, gone):
        with pytest.raises(NotFound):
            agree_to_terms(account.id, form.id, Shown(SMALL, SMALL), now=clock.now)
