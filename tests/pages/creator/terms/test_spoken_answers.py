"""What creators are told of spoken answers, before they publish and after."""

from typing import Any

import pytest
from flask import Flask
from sqlalchemy import select

from tests.factories import make_draft
from tests.pages.creator_client import Creator, hidden, plain
from webapp.base.database import db, utc_now
from webapp.base.vocabulary import ON_THIS_SERVER
from webapp.drafts.publishing import publish_draft
from webapp.drafts.terms import TYPED, FormTerms, VoiceTerms, terms_of
from webapp.pages.creator.terms import page_terms
from webapp.records import forms
from webapp.records.audit import AuditEvent, AuditKind
from webapp.records.drafts import Draft

HOST = "speech.example.org"
SPOKEN = VoiceTerms(records_voice=True)


@pytest.fixture
def draft(app: Flask, ann: Creator) -> Draft:
    with app.app_context():
        return make_draft(ann.account.id)


@pytest.fixture
def server(monkeypatch: pytest.MonkeyPatch) -> Any:
    """Sets what the server does with spoken answers."""

    def does(terms: VoiceTerms) -> None:
        monkeypatch.setattr(page_terms, "offered", lambda: FormTerms(terms))

    does(SPOKEN)
    return does


def written_down_by(host: str) -> VoiceTerms:
    return VoiceTerms(records_voice=True, transcriber=host)


def say_yes(ann: Creator, draft: Draft, page: Any, **changed: Any) -> Any:
    """Post the decision as the page has it in its hidden fields."""
    names = ("revision", "shown_hash", "shown_records", "shown_transcriber")
    form = {"then": "publish"} | {name: hidden(page, name) for name in names}
    return ann.post(f"/drafts/{draft.id}/confirm", **form | changed)


def only_form(app: Flask, ann: Creator) -> Any:
    with app.app_context():
        [form] = forms.list_forms(ann.account.id)
        return forms.get_form(ann.account.id, form.id)


@pytest.mark.parametrize(
    ("terms", "words"),
    [
        (SPOKEN, "People speak or type. Nobody writes recordings down."),
        (written_down_by(HOST), f"Recordings are sent to {HOST} , which writes them down"),
        (written_down_by(ON_THIS_SERVER), "This server writes recordings down."),
    ],
)
@pytest.mark.parametrize("page", ["", "/confirm"])
def test_review_and_confirm_say_what_will_happen(
    ann: Creator, draft: Draft, server: Any, terms: VoiceTerms, words: str, page: str
) -> None:
    server(terms)

    assert words in plain(ann.page(f"/drafts/{draft.id}{page}").text)


@pytest.mark.parametrize(
    ("mode", "records", "folded"),
    [("voice_preferred", True, False), ("text_only", False, False), ("voice_only", True, True)],
)
def test_the_preview_shows_the_recorder_as_people_see_it(
    app: Flask, ann: Creator, mode: str, *, records: bool, folded: bool
) -> None:
    with app.app_context():
        draft = make_draft(ann.account.id, responseMode=mode)

    preview = (
        ann.page(f"/drafts/{draft.id}").text.partition('id="preview"')[2].partition("</aside>")[0]
    )

    assert ("Record your answer" in preview) == records
    assert ("I cannot record, let me type" in preview) == folded
    assert ("<textarea" in preview) != folded


def test_a_typed_form_is_told_nothing_of_recordings(app: Flask, ann: Creator, server: Any) -> None:
    server(written_down_by(HOST))
    with app.app_context():
        draft = make_draft(ann.account.id, responseMode="text_only")
    page = ann.page(f"/drafts/{draft.id}/confirm")

    server(SPOKEN)
    say_yes(ann, draft, page)

    form = only_form(app, ann)
    shown = plain(ann.page(f"/forms/{form.id}/settings").text)
    assert "People type their answers." in page.text
    assert HOST not in plain(page.text)
    assert terms_of(form).voice == TYPED
    assert "Spoken answers" not in shown


@pytest.mark.parametrize("then", ["publish", "agent"])
def test_the_form_keeps_what_the_page_told(
    app: Flask, ann: Creator, draft: Draft, server: Any, then: str
) -> None:
    server(written_down_by(HOST))
    say_yes(ann, draft, ann.page(f"/drafts/{draft.id}/confirm"), then=then)
    server(SPOKEN)
    if then == "agent":
        say_yes(ann, draft, ann.page(f"/drafts/{draft.id}/confirm"))

    assert terms_of(only_form(app, ann)).voice == (
        written_down_by(HOST) if then == "publish" else SPOKEN
    )


def test_an_agent_publishes_what_the_page_told(
    app: Flask, ann: Creator, draft: Draft, server: Any
) -> None:
    server(written_down_by(HOST))
    say_yes(ann, draft, ann.page(f"/drafts/{draft.id}/confirm"), then="agent")

    with app.app_context():
        form = publish_draft(ann.account.id, draft.id, now=utc_now()).form
    assert terms_of(form).voice == written_down_by(HOST)


def test_a_page_from_before_the_change_confirms_nothing(
    app: Flask, ann: Creator, draft: Draft, server: Any
) -> None:
    page = ann.page(f"/drafts/{draft.id}/confirm")
    server(written_down_by(HOST))

    stale = say_yes(ann, draft, page)

    words = plain(stale.text)
    assert stale.status_code == 409
    assert "Nothing was published. The draft is the same" in words
    assert f"Each recording is sent to {HOST}" in words
    assert say_yes(ann, draft, stale).location.startswith("/forms/")
    assert terms_of(only_form(app, ann)).voice == written_down_by(HOST)


def test_a_page_that_told_of_no_recordings_makes_a_typed_form(
    app: Flask, ann: Creator, draft: Draft, server: Any
) -> None:
    form = {"then": "publish", "revision": 1, "shown_hash": draft.content_hash}

    assert ann.post(f"/drafts/{draft.id}/confirm", **form).status_code == 303
    assert terms_of(only_form(app, ann)).voice == TYPED


def test_a_forged_content_is_not_explained_by_another_transcriber(
    ann: Creator, draft: Draft, server: Any
) -> None:
    page = ann.page(f"/drafts/{draft.id}/confirm")
    server(written_down_by(HOST))

    refused = say_yes(ann, draft, page, shown_hash="0" * 64)

    assert refused.status_code == 409
    assert 'name="then"' not in refused.text
    assert f"Each recording is sent to {HOST}" in plain(refused.text)


def test_a_form_from_before_stays_typed_until_it_is_switched_on(
    app: Flask, ann: Creator, form: Any, server: Any
) -> None:
    server(written_down_by(HOST))
    settings = plain(ann.page(f"/forms/{form.id}/settings").text)
    page = ann.page(f"/forms/{form.id}/voice")
    before = terms_of(only_form(app, ann)).voice

    sent = agree(ann, form, page)

    after = plain(ann.page(f"/forms/{form.id}/settings").text)
    assert "this form keeps to that until you say otherwise" in settings
    assert "Let people speak" in settings
    assert f"Each recording is sent to {HOST}" in plain(page.text)
    assert before == TYPED
    assert sent.location.startswith(f"/forms/{form.id}/settings")
    assert terms_of(only_form(app, ann)).voice == written_down_by(HOST)
    assert f"People speak or type, as they like. Each recording is sent to {HOST}" in after
    assert "Let people speak" not in after
    assert "You agreed to what happens to spoken answers" in plain(
        ann.page("/account/activity").text
    )
    with app.app_context():
        event = select(AuditEvent.actor).where(AuditEvent.kind == AuditKind.VOICE_AGREED)
        assert db.session.scalars(event).all() == ["creator"]


def agree(ann: Creator, form: Any, page: Any, **changed: str) -> Any:
    names = ("shown_records", "shown_transcriber")
    return ann.post(
        f"/forms/{form.id}/voice", **{name: hidden(page, name) for name in names} | changed
    )


def test_another_transcriber_needs_a_new_yes(
    app: Flask, ann: Creator, form: Any, server: Any
) -> None:
    server(written_down_by(HOST))
    agree(ann, form, ann.page(f"/forms/{form.id}/voice"))
    server(written_down_by("other.example.org"))

    settings = plain(ann.page(f"/forms/{form.id}/settings").text)
    page = ann.page(f"/forms/{form.id}/voice")
    kept = terms_of(only_form(app, ann)).voice
    agree(ann, form, page)

    assert f"Each recording is sent to {HOST}" in settings
    assert "This has changed on this server" in settings
    assert kept == written_down_by(HOST)
    assert terms_of(only_form(app, ann)).voice.transcriber == "other.example.org"


def test_a_stale_page_switches_nothing_on(app: Flask, ann: Creator, form: Any, server: Any) -> None:
    page = ann.page(f"/forms/{form.id}/voice")
    server(written_down_by(HOST))

    refused = agree(ann, form, page)

    assert refused.status_code == 409
    assert "It changed while you were reading." in refused.text
    assert f"Each recording is sent to {HOST}" in plain(refused.text)
    assert terms_of(only_form(app, ann)).voice == TYPED
    assert agree(ann, form, refused).status_code == 303


def test_there_is_nothing_to_agree_to_where_nothing_differs(
    ann: Creator, form: Any, server: Any
) -> None:
    agree(ann, form, ann.page(f"/forms/{form.id}/voice"))

    assert ann.page(f"/forms/{form.id}/voice").location.startswith(f"/forms/{form.id}/settings")


def test_the_spoken_language_is_chosen_on_the_page(
    app: Flask, ann: Creator, form: Any, server: Any
) -> None:
    nobody_listens = ann.page(f"/forms/{form.id}/settings").text
    server(written_down_by(HOST))
    agree(ann, form, ann.page(f"/forms/{form.id}/voice"))
    page = ann.page(f"/forms/{form.id}/settings").text

    sent = ann.post(f"/forms/{form.id}/voice/language", language="de")

    chosen = ann.page(sent.location).text
    assert 'name="language"' not in nobody_listens
    assert '<option value="">Not said</option>' in page
    assert '<option value="de">German</option>' in page
    assert '<option value="de" selected>German</option>' in chosen
    assert only_form(app, ann).spoken_language == "de"


def test_a_language_that_is_not_in_the_list_is_refused(app: Flask, ann: Creator, form: Any) -> None:
    refused = ann.post(f"/forms/{form.id}/voice/language", language="xx")

    assert refused.status_code == 422
    assert "not in the list" in refused.text
    assert only_form(app, ann).spoken_language == ""


def test_a_stranger_reaches_none_of_it(app: Flask, stranger: Creator, form: Any) -> None:
    address = f"/forms/{form.id}/voice"

    assert stranger.page(address).status_code == 404
    assert stranger.post(address, shown_records="no", shown_transcriber="").status_code == 404
    assert stranger.post(f"{address}/language", language="de").status_code == 404


@pytest.mark.settings(
    transcriber="openai", transcriber_url="https://speech.example.org/v1", transcriber_model="any"
)
def test_the_host_is_that_of_the_settings(app: Flask, ann: Creator, draft: Draft) -> None:
    page = ann.page(f"/drafts/{draft.id}/confirm")
    say_yes(ann, draft, page)

    assert f"Recordings are sent to {HOST}" in plain(page.text)
    assert terms_of(only_form(app, ann)).voice == written_down_by(HOST)


def test_new_forms_record_voices(app: Flask, ann: Creator, draft: Draft) -> None:
    say_yes(ann, draft, ann.page(f"/drafts/{draft.id}/confirm"))

    assert terms_of(only_form(app, ann)).voice == SPOKEN
