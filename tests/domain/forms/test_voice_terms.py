"""What a form keeps of what its creator was told of spoken answers, and how that changes."""

import pytest

from tests.conftest import Clock
from tests.databases import both_databases
from tests.factories import make_account, make_draft, make_form
from webapp.answers import trash
from webapp.base.errors import InvalidInput, NotFound
from webapp.drafts import confirmations, editing, publishing
from webapp.drafts.form_settings import SPOKEN_LANGUAGES, set_spoken_language
from webapp.drafts.terms import TYPED, FormTerms, Shown, VoiceTerms, agree_to_terms, terms_of
from webapp.records import forms
from webapp.records.accounts.models import Account
from webapp.records.content.draft_input import parse_draft_input
from webapp.records.drafts import Draft

pytestmark = pytest.mark.usefixtures("app_context")

SPOKEN = VoiceTerms(records_voice=True)
WRITTEN_DOWN = VoiceTerms(records_voice=True, transcriber="speech.example.org")
BY_ANOTHER = VoiceTerms(records_voice=True, transcriber="other.example.org")


def told(terms: VoiceTerms) -> Shown[VoiceTerms]:
    return Shown(terms, terms)


def shown_voice(page: VoiceTerms, offered: VoiceTerms | None = None) -> Shown[FormTerms]:
    return Shown(FormTerms(page), FormTerms(offered or page))


def confirm(draft: Draft, clock: Clock, terms: Shown[FormTerms]) -> None:
    confirmations.confirm_draft(
        draft.account_id,
        draft.id,
        revision=draft.revision,
        shown_hash=draft.content_hash,
        terms=terms,
        now=clock.now,
    )


@both_databases
def test_the_newest_confirmation_counts(account: Account, clock: Clock) -> None:
    draft = make_draft(account.id)
    for terms in (TYPED, WRITTEN_DOWN, BY_ANOTHER):
        confirm(draft, clock, shown_voice(terms))
        clock.forward(milliseconds=1)

    form = publishing.publish_draft(account.id, draft.id, now=clock.now).form

    assert terms_of(form).voice == BY_ANOTHER


@both_databases
def test_what_an_older_revision_was_told_does_not_count(account: Account, clock: Clock) -> None:
    draft = make_draft(account.id)
    confirm(draft, clock, shown_voice(WRITTEN_DOWN))
    changes = parse_draft_input({"title": "After"})
    draft = editing.update_draft(account.id, draft.id, changes, author=None, now=clock.now)
    confirm(draft, clock, shown_voice(SPOKEN))

    form = publishing.publish_draft(account.id, draft.id, now=clock.now).form

    assert terms_of(form).voice == SPOKEN


@both_databases
def test_an_agents_word_takes_what_is_so_on_this_server(account: Account, clock: Clock) -> None:
    draft = make_draft(account.id)

    form = publishing.publish_draft(
        account.id, draft.id, attested_by="grn_1", offered=WRITTEN_DOWN, now=clock.now
    ).form

    assert terms_of(form).voice == WRITTEN_DOWN


def test_a_form_that_takes_typed_answers_only_never_records(account: Account, clock: Clock) -> None:
    draft = make_draft(account.id, responseMode="text_only")
    confirm(draft, clock, shown_voice(TYPED, WRITTEN_DOWN))

    form = publishing.publish_draft(account.id, draft.id, now=clock.now).form
    agree_to_terms(account.id, form.id, told(WRITTEN_DOWN), now=clock.now)

    assert terms_of(forms.get_form(account.id, form.id)).voice == TYPED


def test_a_form_of_somebody_else_or_in_the_trash_is_not_found(
    account: Account, clock: Clock
) -> None:
    theirs, gone = make_form(make_account().id), make_form(account.id)
    trash.delete_form(account.id, gone.id, now=clock.now)

    for form in (theirs, gone):
        with pytest.raises(NotFound):
            agree_to_terms(account.id, form.id, told(SPOKEN), now=clock.now)
        with pytest.raises(NotFound):
            set_spoken_language(account.id, form.id, "de")


def test_a_language_is_one_that_transcribers_know(account: Account) -> None:
    form = make_form(account.id)
    set_spoken_language(account.id, form.id, "pt")

    for unknown in ("xx", "pt-BR", "PT", " pt", "p" * 1000):
        with pytest.raises(InvalidInput):
            set_spoken_language(account.id, form.id, unknown)

    assert forms.get_form(account.id, form.id).spoken_language == "pt"
    set_spoken_language(account.id, form.id, "")
    assert forms.get_form(account.id, form.id).spoken_language == ""


def test_the_languages_are_iso_639_1_and_each_once() -> None:
    assert all(len(tag) == 2 and tag.isalpha() and tag.islower() for tag in SPOKEN_LANGUAGES)
    assert len(set(SPOKEN_LANGUAGES)) == len(SPOKEN_LANGUAGES)
