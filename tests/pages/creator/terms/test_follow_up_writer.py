"""What creators are told of who writes follow-up questions, before they publish and after."""

from typing import Any

import pytest
from flask import Flask
from sqlalchemy import select, update

from tests.factories import make_draft, make_follow_up, make_form, make_response
from tests.pages.creator_client import Creator, hidden, plain
from webapp.app.doctor import examine_model
from webapp.base.database import db, utc_now
from webapp.drafts import editing
from webapp.drafts.form_settings import set_spoken_language
from webapp.drafts.publishing import publish_draft
from webapp.drafts.terms import BY_RULES, TYPED, FormTerms, VoiceTerms, WriterTerms, terms_of
from webapp.pages.creator.terms import page_terms
from webapp.records import forms
from webapp.records.audit import AuditEvent, AuditKind
from webapp.records.content.draft_input import parse_draft_input
from webapp.records.drafts import Draft
from webapp.records.forms import Form

HOST = "models.example.org"
SPOKEN = VoiceTerms(records_voice=True)
SMALL = WriterTerms(f"small at {HOST}")
LARGE = WriterTerms("large at other.example.org:8443")
SMART = {"followUpMode": "smart", "context": "Two cafés close."}
RULES = "The follow-ups are those that you have read before anybody is asked."
A_MODEL = f"A model, small at {HOST} , picks one of the follow-ups that you have read"
SEES = f"{HOST} is sent each answer with its question and follow-ups, the title"
PARAPHRASE = "A paraphrase, a translation, a hint or a clever disguise passes"
NO_PHRASES = "The one that asks to say a little more is not asked here"


@pytest.fixture
def server(monkeypatch: pytest.MonkeyPatch) -> Any:
    """Sets who writes follow-up questions on this server."""

    def has(writer: WriterTerms) -> None:
        monkeypatch.setattr(page_terms, "offered", lambda: FormTerms(SPOKEN, writer))

    has(BY_RULES)
    return has


@pytest.fixture
def draft(app: Flask, ann: Creator) -> Draft:
    return written(app, ann, **SMART)


def written(app: Flask, ann: Creator, **fields: Any) -> Draft:
    with app.app_context():
        return make_draft(ann.account.id, **fields)


def asking(app: Flask, ann: Creator, **fields: Any) -> Any:
    with app.app_context():
        return make_form(ann.account.id, **SMART | fields)


def words(ann: Creator, path: str) -> str:
    return plain(ann.page(path).text).replace("&#34;", '"')


def say_yes(ann: Creator, draft: Draft, page: Any, **changed: Any) -> Any:
    """Post the decision as the page has it in its hidden fields."""
    names = ("revision", "shown_hash", "shown_records", "shown_transcriber", "shown_writer")
    form = {"then": "publish"} | {name: hidden(page, name) for name in names}
    return ann.post(f"/drafts/{draft.id}/confirm", **form | changed)


def agree(ann: Creator, form: Any, page: Any) -> Any:
    return ann.post(f"/forms/{form.id}/follow-ups", shown_writer=hidden(page, "shown_writer"))


def only_form(app: Flask, ann: Creator) -> Any:
    with app.app_context():
        [form] = forms.list_forms(ann.account.id)
        return forms.get_form(ann.account.id, form.id)


def writer_of(app: Flask, ann: Creator) -> WriterTerms:
    return terms_of(only_form(app, ann)).writer


@pytest.mark.parametrize(
    ("page", "writer", "said", "most"),
    [
        ("", BY_RULES, RULES, 3),
        ("", SMALL, A_MODEL, 6),
        ("/confirm", BY_RULES, "follow-ups included", 3),
        ("/confirm", SMALL, A_MODEL, 6),
    ],
)
def test_review_and_confirm_name_writer_and_worst_case(
    ann: Creator, draft: Draft, server: Any, page: str, writer: WriterTerms, said: str, most: int
) -> None:
    server(writer)

    shown = words(ann, f"/drafts/{draft.id}{page}")

    assert said in shown
    assert f"Each person gets at most {most} questions" in shown


@pytest.mark.parametrize(
    ("chosen", "said"),
    [
        ({"followUpMode": "none"}, "Anyone who has the link can answer. "),
        ({"maxFollowupsPerQuestion": 0}, "Your limits leave no room for follow-up questions."),
        ({"maxTotalQuestions": 1}, "Your limits leave no room for follow-up questions."),
    ],
)
def test_where_nothing_can_be_asked_no_writer_is_told_of(
    app: Flask, ann: Creator, server: Any, chosen: dict[str, Any], said: str
) -> None:
    server(SMALL)
    draft = written(app, ann, **SMART | chosen)

    page = ann.page(f"/drafts/{draft.id}/confirm")
    say_yes(ann, draft, page)

    form = only_form(app, ann)
    assert said in plain(page.text)
    assert HOST not in plain(page.text)
    assert terms_of(form) == FormTerms(SPOKEN, BY_RULES)
    assert RULES not in words(ann, f"/forms/{form.id}/settings")
    assert ann.page(f"/forms/{form.id}/follow-ups").location.endswith("/settings#follow-ups")


@pytest.mark.parametrize(
    ("writer", "questions", "said"),
    [
        (BY_RULES, ["Mitä mieltä olet siitä?"], NO_PHRASES),
        (SMALL, ["Mitä mieltä olet siitä?"], NO_PHRASES),
        (BY_RULES, ["Warum bist du gegangen?"], ""),
    ],
)
def test_a_language_without_phrases_is_told(
    app: Flask,
    ann: Creator,
    server: Any,
    writer: WriterTerms,
    questions: list[str],
    said: str,
) -> None:
    server(writer)
    draft = written(app, ann, **SMART, questions=questions)

    shown = words(ann, f"/drafts/{draft.id}")

    assert said in shown
    assert (NO_PHRASES in shown) == bool(said)


@pytest.mark.parametrize(
    ("page", "said"),
    [
        ("", "Each person gets 1 question."),
        ("/confirm", "Anyone who has the link can answer."),
        ("/try", "1 of at most 1"),
    ],
)
def test_where_the_rules_have_no_phrases_nobody_is_asked_more(
    app: Flask, ann: Creator, server: Any, page: str, said: str
) -> None:
    draft = written(app, ann, **SMART, questions=["Mitä mieltä olet siitä?"])

    shown = words(ann, f"/drafts/{draft.id}{page}")

    assert said in shown
    assert "gets at most" not in shown


def test_what_people_speak_is_not_the_language_of_the_questions(
    app: Flask, ann: Creator, server: Any
) -> None:
    form = asking(app, ann, questions=["Why did you go?"])
    with app.app_context():
        set_spoken_language(ann.account.id, form.id, "ja")

    assert NO_PHRASES not in words(ann, f"/forms/{form.id}/settings")


@pytest.mark.parametrize("then", ["publish", "agent"])
def test_the_form_keeps_the_writer_that_the_page_told(
    app: Flask, ann: Creator, draft: Draft, server: Any, then: str
) -> None:
    server(SMALL)
    say_yes(ann, draft, ann.page(f"/drafts/{draft.id}/confirm"), then=then)
    server(LARGE)
    if then == "agent":
        with app.app_context():
            publish_draft(ann.account.id, draft.id, now=utc_now())

    assert writer_of(app, ann) == SMALL


def test_another_model_is_read_before_the_form_goes_out(
    app: Flask, ann: Creator, draft: Draft, server: Any
) -> None:
    server(SMALL)
    page = ann.page(f"/drafts/{draft.id}/confirm")
    server(LARGE)

    stale = say_yes(ann, draft, page)

    shown = plain(stale.text)
    assert stale.status_code == 409
    assert "Nothing was published. The draft is the same" in shown
    assert LARGE.follow_up_writer in shown
    assert "other.example.org:8443 is sent each answer" in shown
    assert PARAPHRASE in shown
    assert "People speak or type" not in shown
    assert say_yes(ann, draft, stale).location.startswith("/forms/")
    assert writer_of(app, ann) == LARGE


def test_whoever_read_of_the_rules_publishes_with_them(
    app: Flask, ann: Creator, draft: Draft, server: Any
) -> None:
    page = ann.page(f"/drafts/{draft.id}/confirm")
    server(SMALL)

    assert say_yes(ann, draft, page).location.startswith("/forms/")
    assert writer_of(app, ann) == BY_RULES


def test_a_page_that_told_of_no_writer_leaves_it_to_the_rules(
    app: Flask, ann: Creator, draft: Draft, server: Any
) -> None:
    server(SMALL)
    form = {"then": "publish", "revision": 1, "shown_hash": draft.content_hash}

    assert ann.post(f"/drafts/{draft.id}/confirm", **form).status_code == 303
    assert terms_of(only_form(app, ann)) == FormTerms(TYPED, BY_RULES)


def test_follow_ups_that_an_agent_switches_on_meanwhile_are_told_with_their_writer(
    app: Flask, ann: Creator, server: Any
) -> None:
    server(SMALL)
    draft = written(app, ann)
    page = ann.page(f"/drafts/{draft.id}/confirm")
    with app.app_context():
        changes = parse_draft_input(SMART)
        editing.update_draft(draft.account_id, draft.id, changes, author="grt_1", now=utc_now())

    stale = say_yes(ann, draft, page)

    assert HOST not in plain(page.text)
    assert A_MODEL in plain(stale.text)
    assert SEES in plain(stale.text)
    say_yes(ann, draft, stale)
    assert writer_of(app, ann) == SMALL


def test_a_published_form_says_who_writes_them(
    app: Flask, ann: Creator, draft: Draft, server: Any
) -> None:
    server(SMALL)
    say_yes(ann, draft, ann.page(f"/drafts/{draft.id}/confirm"))
    form = only_form(app, ann)

    shown = words(ann, f"/forms/{form.id}/settings")

    assert A_MODEL in shown
    assert SEES in shown
    assert f"{HOST} sees it: the model there writes them." in shown
    assert "See what is so today" not in shown


def test_a_form_from_before_keeps_the_rules_until_its_creator_agrees(
    app: Flask, ann: Creator, server: Any
) -> None:
    form = asking(app, ann)
    server(SMALL)
    settings = words(ann, f"/forms/{form.id}/settings")
    page = ann.page(f"/forms/{form.id}/follow-ups")
    before = writer_of(app, ann)

    sent = agree(ann, form, page)

    after = words(ann, f"/forms/{form.id}/settings")
    assert RULES in settings
    assert "It gets nothing of this form until you agree." in settings
    assert HOST not in settings
    assert before == BY_RULES
    assert sent.location == f"/forms/{form.id}/settings#follow-ups"
    assert terms_of(only_form(app, ann)) == FormTerms(TYPED, SMALL)
    assert A_MODEL in after
    assert "You agreed to who writes follow-up questions of" in words(ann, "/account/activity")
    with app.app_context():
        event = select(AuditEvent.actor).where(AuditEvent.kind == AuditKind.WRITER_AGREED)
        assert db.session.scalars(event).all() == ["creator"]


@pytest.mark.parametrize(("today", "said"), [(LARGE, LARGE.follow_up_writer), (BY_RULES, RULES)])
def test_another_writer_needs_a_new_yes(
    app: Flask, ann: Creator, draft: Draft, server: Any, today: WriterTerms, said: str
) -> None:
    server(SMALL)
    say_yes(ann, draft, ann.page(f"/drafts/{draft.id}/confirm"))
    form = only_form(app, ann)
    server(today)

    settings = words(ann, f"/forms/{form.id}/settings")
    page = ann.page(f"/forms/{form.id}/follow-ups")
    agree(ann, form, page)

    assert RULES in settings
    assert f"You were told of small at {HOST} . This has changed on this server" in settings
    assert said in plain(page.text)
    assert ("What it would see" in page.text) == (today == LARGE)
    assert writer_of(app, ann) == today


def test_a_stale_page_lets_no_model_in(app: Flask, ann: Creator, server: Any) -> None:
    form = asking(app, ann)
    server(SMALL)
    page = ann.page(f"/forms/{form.id}/follow-ups")
    server(LARGE)

    refused = agree(ann, form, page)

    assert refused.status_code == 409
    assert "It changed while you were reading." in refused.text
    assert LARGE.follow_up_writer in plain(refused.text)
    assert writer_of(app, ann) == BY_RULES
    assert agree(ann, form, refused).status_code == 303
    assert writer_of(app, ann) == LARGE


def test_there_is_nothing_to_agree_to_where_nothing_differs(
    app: Flask, ann: Creator, server: Any
) -> None:
    form = asking(app, ann)

    assert ann.page(f"/forms/{form.id}/follow-ups").location.endswith("/settings#follow-ups")


@pytest.mark.settings(
    llm_provider="openai", llm_base_url=f"https://{HOST}/v1", llm_model="small", llm_api_key="sk-of"
)
def test_the_form_and_the_doctor_say_what_came_of_the_model(app: Flask, ann: Creator) -> None:
    form, other = asking(app, ann), asking(app, ann)
    with app.app_context():
        db.session.execute(update(Form).values(follow_up_writer=SMALL.follow_up_writer))
        db.session.commit()
        for outcome in ("wrote", "wrote", "late", "leak", None):
            key = make_response(form)
            make_follow_up(form, key, model_outcome=outcome)
            db.session.commit()
        made = examine_model(utc_now())

    shown = words(ann, f"/forms/{form.id}/settings")
    assert "So far, the model: wrote a question: 2 did not answer in time: 1" in shown
    assert "was refused (giving away your private context): 1" in shown
    assert "So far, the model" not in words(ann, f"/forms/{other.id}/settings")
    counts = "4 times; 2 questions written, 1 too late, 1 refused (leak)"
    assert made.what == f"the model was asked in 7 days: {counts}"


def test_a_stranger_reaches_none_of_it(app: Flask, ann: Creator, stranger: Creator) -> None:
    address = f"/forms/{asking(app, ann).id}/follow-ups"

    assert stranger.page(address).status_code == 404
    assert stranger.post(address, shown_writer="").status_code == 404


@pytest.mark.settings(
    llm_provider="openai", llm_base_url=f"https://{HOST}/v1", llm_model='<b>"small"</b>'
)
def test_the_writer_is_that_of_the_settings(app: Flask, ann: Creator, draft: Draft) -> None:
    page = ann.page(f"/drafts/{draft.id}/confirm")
    posted = {"shown_writer": f'<b>"small"</b> at {HOST}'}
    say_yes(ann, draft, page, **posted)

    assert f"&lt;b&gt;&#34;small&#34;&lt;/b&gt; at {HOST}" in page.text
    assert writer_of(app, ann).follow_up_writer == posted["shown_writer"]
    assert writer_of(app, ann).host == HOST
