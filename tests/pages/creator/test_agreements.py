"""What creators are shown of spoken answers and of who writes follow-ups, and what a form keeps."""

import re
from collections.abc import Callable, Iterator
from html import unescape
from typing import Any, NamedTuple

import pytest
from flask import Flask
from sqlalchemy import select

from tests.followups.model_server import ModelServer, asking, model_server
from tests.pages.creator_client import Creator, plain
from tests.pages.respondent_client import arrive
from webapp.base.config import Settings
from webapp.base.database import db, utc_now
from webapp.drafts.agreement import (
    BY_RULES,
    TYPED,
    Agreement,
    VoiceAgreement,
    WriterAgreement,
    agreement_of,
)
from webapp.drafts.publishing import publish_draft
from webapp.follow_ups.model_exchange import prepare
from webapp.pages.creator import agreements
from webapp.records import forms
from webapp.records.audit import AuditEvent
from webapp.records.drafts import Draft

HOST, OTHER = "speech.example.org", "other.example.org"
SPOKEN = VoiceAgreement(records_voice=True)
SMART = {"followUpMode": "smart", "context": "Two cafés close."}


def voice(host: str) -> Agreement:
    return Agreement(VoiceAgreement(records_voice=True, transcriber=host))


def writer(host: str) -> Agreement:
    return Agreement(SPOKEN, WriterAgreement(f"small at {host}"))


class Kind(NamedTuple):
    """The page of an agreement with what this server may do, and what pages say of it."""

    page: str
    by: Callable[[str], Agreement]
    said: str


KINDS = [
    Kind("voice", voice, "Each recording is sent to {}"),
    Kind("follow-ups", writer, "{} is sent each"),
]
each_kind = pytest.mark.parametrize("kind", KINDS, ids=["voice", "follow-ups"])


def of_page(terms: Agreement, page: str) -> VoiceAgreement | WriterAgreement:
    """What of it the page of an agreement is about."""
    return terms.voice if page == "voice" else terms.writer


@pytest.fixture
def server(monkeypatch: pytest.MonkeyPatch) -> Any:
    """Sets what this server does with answers."""

    def does(terms: Agreement) -> None:
        monkeypatch.setattr(agreements, "offered", lambda: terms)

    does(Agreement(SPOKEN))
    return does


@pytest.fixture
def draft(ann: Creator) -> Draft:
    return ann.draft(**SMART)


@pytest.fixture
def form(ann: Creator) -> Any:
    return ann.form(**SMART)


def words(ann: Creator, path: str) -> str:
    return plain(ann.page(path).text)


def shown(page: Any) -> dict[str, str]:
    """What a page says of this server in its hidden fields."""
    fields = re.findall(r'name="(shown_\w+|revision)" value="([^"]*)"', page.text)
    return {name: unescape(value) for name, value in fields}


def say_yes(ann: Creator, draft: Draft, page: Any, **changed: Any) -> Any:
    """Post the decision as the page has it in its hidden fields."""
    form = {"then": "publish"} | shown(page) | changed
    return ann.post(f"/drafts/{draft.id}/confirm", **form)


def agree(ann: Creator, form: Any, page: str, seen: Any) -> Any:
    return ann.post(f"/forms/{form.id}/{page}", **shown(seen))


def only_form(ann: Creator) -> Any:
    [form] = ann.within(forms.list_forms, ann.account.id)
    return ann.within(forms.get_form, ann.account.id, form.id)


def kept(ann: Creator) -> Agreement:
    return agreement_of(only_form(ann))


@each_kind
def test_a_page_from_before_a_change_confirms_nothing(
    ann: Creator, draft: Draft, server: Any, kind: Kind
) -> None:
    server(kind.by(HOST))
    before = ann.page(f"/drafts/{draft.id}/confirm")
    server(kind.by(OTHER))

    forged = say_yes(ann, draft, before, shown_hash="0" * 64)
    stale = say_yes(ann, draft, before)

    assert (forged.status_code, stale.status_code) == (409, 409)
    assert 'name="then"' not in forged.text
    assert kind.said.format(OTHER) in plain(stale.text)
    assert say_yes(ann, draft, stale).location.startswith("/forms/")
    assert kept(ann) == kind.by(OTHER)


@pytest.mark.parametrize("said", [True, False])
def test_a_page_that_named_no_model_publishes_with_the_rules(
    ann: Creator, draft: Draft, server: Any, *, said: bool
) -> None:
    form = {"then": "publish", "revision": 1, "shown_hash": draft.content_hash}
    form |= shown(ann.page(f"/drafts/{draft.id}/confirm")) if said else {}
    server(writer(HOST))

    assert ann.post(f"/drafts/{draft.id}/confirm", **form).status_code == 303
    assert kept(ann) == Agreement(SPOKEN if said else TYPED, BY_RULES)


@each_kind
def test_a_form_from_before_stays_as_it_was_until_its_creator_agrees(
    ann: Creator, stranger: Creator, form: Any, server: Any, kind: Kind
) -> None:
    server(kind.by(HOST))
    address, offers = f"/forms/{form.id}/{kind.page}", kind.said.format(HOST)
    settings, asked = words(ann, f"/forms/{form.id}/settings"), ann.page(address)
    refused = [stranger.page(address), stranger.post(address, **shown(asked))]
    before = kept(ann)

    sent = agree(ann, form, kind.page, asked)

    after = words(ann, f"/forms/{form.id}/settings")
    assert [each.status_code for each in refused] == [404, 404]
    assert before == Agreement()
    assert offers not in settings
    assert offers in plain(asked.text)
    assert offers in after
    assert sent.location == f"/forms/{form.id}/settings#{kind.page}"
    assert ann.page(address).location == sent.location  # there is nothing to agree to
    assert of_page(kept(ann), kind.page) == of_page(kind.by(HOST), kind.page)
    with ann.context():
        what = "voice_agreed" if kind.page == "voice" else "writer_agreed"
        event = select(AuditEvent.actor).where(AuditEvent.kind == what)
        assert db.session.scalars(event).all() == ["creator"]


@each_kind
def test_another_host_needs_a_new_yes_to_a_current_page(
    ann: Creator, form: Any, server: Any, kind: Kind
) -> None:
    server(kind.by(HOST))
    agree(ann, form, kind.page, ann.page(f"/forms/{form.id}/{kind.page}"))
    server(kind.by(OTHER))
    asked = ann.page(f"/forms/{form.id}/{kind.page}")
    server(kind.by("third.example"))

    stale = agree(ann, form, kind.page, asked)
    unchanged = of_page(kept(ann), kind.page)

    assert kind.said.format(OTHER) in plain(asked.text)
    assert stale.status_code == 409
    assert kind.said.format("third.example") in plain(stale.text)
    assert unchanged == of_page(kind.by(HOST), kind.page)
    assert agree(ann, form, kind.page, stale).status_code == 303
    assert of_page(kept(ann), kind.page) == of_page(kind.by("third.example"), kind.page)


class TestWhatModelsGet:
    """The private context, once its creator was shown that it does."""

    ASKING = {"questions": ["What made you switch?"]} | SMART

    @pytest.fixture
    def model(self) -> Iterator[ModelServer]:
        with model_server(asking()) as running:
            yield running

    @pytest.fixture
    def settings(self, settings: Settings, model: ModelServer) -> Settings:
        made = settings.model_copy(update=model.settings())
        prepare()  # of the four seconds of the first call it may take two
        return made

    def got_it(self, app: Flask, form: Any, model: ModelServer) -> bool:
        said = "We moved because the contract ended and procurement wanted a single vendor for all"
        arrive(app.test_client(), form).answer(1, said)
        return SMART["context"] in str(model.asked)

    @pytest.mark.parametrize("by", ["page", "agent"])
    def test_they_get_it_once_their_creator_was_shown_that_they_do(
        self, app: Flask, ann: Creator, model: ModelServer, by: str
    ) -> None:
        draft = ann.draft(**self.ASKING)
        if by == "page":
            say_yes(ann, draft, ann.page(f"/drafts/{draft.id}/confirm"))
        else:
            by_it = {"attested_by": "grn_1", "now": utc_now()}
            ann.within(publish_draft, ann.account.id, draft.id, **by_it)
        form = only_form(ann)

        assert self.got_it(app, form, model) == (by == "page")
        if by == "agent":
            assert model.asked == []
            page = ann.page(f"/forms/{form.id}/follow-ups")
            agree(ann, form, "follow-ups", page)
            assert str(SMART["context"]) in page.text
            assert self.got_it(app, form, model)
