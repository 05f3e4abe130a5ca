"""The example installation that pages are shown with: a company asks cafés about their rotas.

All functions need an application context.
"""

from collections.abc import Sequence
from datetime import datetime, timedelta
from types import SimpleNamespace
from typing import Any, TypeAlias
from urllib.parse import urlencode

from sqlalchemy import select, update

from tests.browser import example_texts as texts
from tests.browser.example_events import make_addresses, make_events
from tests.factories import make_account, prepare
from tests.followups.example_form import FRIDGE, make_followed
from tests.voice.example_form import MILK, TOLD, make_spoken
from webapp.answers import answering, trash
from webapp.answers.answering import Signs
from webapp.answers.reading import mark_all_read
from webapp.answers.trash import delete_automated, delete_response
from webapp.base.database import db, new_id, to_millis, utc_now
from webapp.base.vocabulary import ClientKind, RevokedReason, Scope, TokenKind
from webapp.drafts import confirmations, editing, form_settings, publishing, reviews, revisions
from webapp.drafts.agent_tokens import make_agent_token
from webapp.drafts.agreement import NOTHING_SHOWN, Agreement, Shown, WriterAgreement
from webapp.oauth.models import OAuthClient, OAuthGrant
from webapp.oauth.tokens import add_token, revoke_grants
from webapp.records import forms
from webapp.records.accounts.credentials import password_hash
from webapp.records.accounts.invites import make_invite
from webapp.records.content.draft_input import parse_draft_input
from webapp.records.drafts import Draft
from webapp.records.responses.counters import store_link_views
from webapp.records.responses.models import ResponseSession

ExampleData: TypeAlias = SimpleNamespace  # addresses of the example installation, as paths


def make_example_data() -> ExampleData:
    """Fill an empty database; commits."""
    now = utc_now()
    account_id = creator(texts.EMAIL, now)
    claude = connect(account_id, texts.CLAUDE, "Claude", [*Scope], now - timedelta(days=49))
    codex = connect(account_id, "codex", "Codex on the build machine", [Scope.RESPONSES_READ], now)
    goodbye = write(account_id, texts.GOODBYE, claude, now - timedelta(days=1))
    revisions.mark_seen(account_id, goodbye.id, goodbye.revision, now=now)
    confirmations.confirm_draft(account_id, goodbye.id, **shown(goodbye), now=now)
    results = published(account_id, texts.ROTA, claude, now - timedelta(days=9))
    answer_all(results, now)
    store_link_views({results.share_token: 41})
    thrown = published(account_id, texts.GOODBYE, claude, now - timedelta(days=20))
    trash.delete_form(account_id, thrown.id, now=now - timedelta(days=2))
    empty = published(account_id, texts.MINUTES, None, now - timedelta(days=10))
    form_settings.allow_embedding(account_id, empty.id, "https://www.fernhill.example")
    price = priced(account_id, claude, now)
    make_spoken(spoken := published(account_id, MILK, claude, now - timedelta(days=3), TOLD), now)
    make_followed(followed := published(account_id, FRIDGE, claude, now - timedelta(days=2)), now)
    sent = make_events(results, price, claude, codex, now)
    make_addresses(results, claude, codex, now)
    make_tokens(account_id, results.id, codex, now)
    asked = published_elsewhere(claude, now - timedelta(days=2))
    arrive(now)
    return ExampleData(
        account_id=account_id,
        rota=f"/drafts/{written_and_changed(account_id, claude, now).id}",
        german=f"/drafts/{write(account_id, texts.GERMAN, codex, now - timedelta(hours=1)).id}",
        goodbye=f"/drafts/{goodbye.id}",
        unfinished=f"/drafts/{write(account_id, texts.NO_TITLE, None, now - timedelta(days=2)).id}",
        returned=f"/drafts/{sent_back(account_id, claude, now)}",
        results=f"/forms/{results.id}",
        share=f"/forms/{results.id}/share",
        shared=f"/r/{results.share_token}",
        empty=f"/forms/{empty.id}",
        asks=f"/r/{asked['multiple']}",
        probes=f"/r/{asked['rules']}",
        thinks=f"/r/{asked['model']}",
        answered=f"/r/{asked['one']}",
        closed=f"/r/{price.share_token}",
        speak=f"/r/{spoken.share_token}",
        spoken=f"/forms/{spoken.id}",
        followed=f"/forms/{followed.id}",
        deleted=f"/forms/{price.id}",
        invite=f"/join/{make_invite(now=now)}",
        consent=f"/oauth/authorize?{urlencode(texts.ASKING | {'client_id': texts.CLAUDE})}",
        delivery=f"/deliveries/{sent['failed']}",
        delivery_waiting=f"/deliveries/{sent['waiting']}",
        delivery_turned_away=f"/deliveries/{sent['gone']}",
        tested=f"/deliveries?tested={sent['silent']}",
    )


def sent_back(account_id: str, author: str, now: datetime) -> str:
    """A draft that its creator sent back after they had changed it."""
    draft = write(account_id, texts.PARKING, author, now - timedelta(hours=5))
    changes = parse_draft_input({"title": texts.PARKING["title"] + " on Sundays"})
    by: dict[str, Any] = {"author": None, "now": now - timedelta(hours=4)}
    revision = editing.update_draft(account_id, draft.id, changes, **by).revision
    revisions.mark_seen(account_id, draft.id, revision, now=now - timedelta(hours=4))
    given: dict[str, Any] = {"revision": revision, "now": now - timedelta(minutes=3)}
    reviews.return_draft(account_id, draft.id, note=texts.SENT_BACK_NOTE, **given)
    return draft.id


def make_tokens(account_id: str, form_id: str, grant_id: str, now: datetime) -> None:
    """One of the creator for every form, one that an agent made for one form."""
    made = now - timedelta(days=3)
    for form, label, by in ((None, "Rota dashboard", None), (form_id, "", grant_id)):
        ends = now + timedelta(days=4)
        make_agent_token(account_id, form, label=label, expires_at=ends, now=made, grant_id=by)


def creator(email: str, now: datetime) -> str:
    known = {"name": "Ann Lindqvist", "password_hash": password_hash(texts.PASSWORD)}
    return make_account(email=email, created_at=now, **known).id


def arrive(now: datetime) -> None:
    """A creator who has nothing yet but a bad start: somebody copied the key of their agent."""
    grant_id = connect(creator(texts.NEWCOMER, now), "cursor", "Cursor", [*Scope], now)
    revoke_grants(OAuthGrant.id == grant_id, RevokedReason.REFRESH_REUSE, now=now)
    db.session.commit()


def published_elsewhere(author: str, now: datetime) -> dict[str, str]:
    """Share tokens of forms that no other page shows: by response limit, `one` is used up, and by
    who writes follow-up questions.
    """
    account_id = creator("ann.again@fernhill.example", now)
    plain = texts.ROTA | {"followUpMode": "none"}
    found = {
        limit: published(account_id, plain | {"responseLimit": limit}, author, now)
        for limit in ("multiple", "one")
    }
    told = Agreement(writer=WriterAgreement(texts.WRITER))
    for name, terms in (("rules", NOTHING_SHOWN), ("model", Shown(told, told))):
        found[name] = published(account_id, texts.PROBED, author, now, terms, texts.ASKED_BACK)
    respond(found["one"], "used-up-used-up-used-up-used-up", texts.ANSWERS[0], now)
    return {limit: form.share_token for limit, form in found.items()}


def connect(account_id: str, client_id: str, name: str, scopes: list[Scope], now: datetime) -> str:
    """The grant of an agent; its own name for itself is not verified."""
    uses = ["authorization_code", "refresh_token"]
    details = {"redirect_uris": ["https://claude.example/callback"], "grant_types": uses}
    given: dict[str, Any] = {"kind": ClientKind.DYNAMIC, "given_name": name, "created_at": now}
    client = OAuthClient(id=new_id("cli"), client_id=client_id, details=details, **given)
    of = {
        "account_id": account_id,
        "client_pk": client.id,
        "resource": "https://askback.example/api",
    }
    ends = now + timedelta(days=180)
    when = {"created_at": now, "expires_at": ends, "last_used_at": now}
    grant = OAuthGrant(id=new_id("grt"), scope=" ".join(scopes), **of, **when)
    for row in (client, grant):
        db.session.add(row)
        db.session.flush()
    add_token(grant, TokenKind.REFRESH, grant.scope, now=utc_now())
    db.session.commit()
    return grant.id


def write(account_id: str, content: dict[str, Any], author: str | None, now: datetime) -> Draft:
    return editing.create_draft(account_id, parse_draft_input(content), author=author, now=now)


def written_and_changed(account_id: str, author: str, now: datetime) -> Draft:
    """The rota draft as its creator saw it first, and two changes by its agent since."""
    one, two, three = texts.ROTA["questions"]
    questions = [one, two | {"text": "Tell me about a time a shift went wrong."}, three]
    first = texts.ROTA | {"questions": questions, "followUpMode": "deep_dive"}
    draft = write(account_id, first, author, now - timedelta(minutes=40))
    draft = prepare(draft, *texts.PREPARED)
    revisions.mark_seen(account_id, draft.id, draft.revision, now=now - timedelta(minutes=11))
    given = [
        {"id": kept["id"], **asked}
        for kept, asked in zip(draft.questions, texts.ROTA["questions"], strict=True)
    ]
    changes = parse_draft_input({"questions": given, "followUpMode": "smart"})
    by: dict[str, Any] = {"author": author, "agent_note": "shorter, so that it fits a phone"}
    return editing.update_draft(account_id, draft.id, changes, **by, now=now - timedelta(minutes=2))


def shown(draft: Draft) -> dict[str, Any]:
    """What the confirm page of a draft posts."""
    return {"revision": draft.revision, "shown_hash": draft.content_hash}


def published(
    account_id: str,
    content: dict[str, Any],
    author: str | None,
    now: datetime,
    terms: Shown = NOTHING_SHOWN,
    follow_ups: Sequence[list[tuple[str, str]]] = (),
) -> Any:
    """A form as a row of its columns; `follow_ups` as `prepare` takes them."""
    draft = write(account_id, content, author, now)
    if follow_ups:
        draft = prepare(draft, *follow_ups)
    confirmed = shown(draft) | {"shown": terms}
    return publishing.confirm_and_publish(account_id, draft.id, **confirmed, now=now).form


def answer_all(form: Any, now: datetime) -> None:
    """Twelve people over nine days, oldest first, and three who are still writing."""
    days_ago = (9, 8, 8, 5, 4, 4, 4, 3, 1, 1, 0, 0)
    for number, (days, words) in enumerate(zip(days_ago, reversed(texts.ANSWERS), strict=True)):
        moment = now - timedelta(days=days, minutes=60 - number)
        respond(form, f"respondent-{number}-respondent-{number}", words, moment)
    for number, text in enumerate(texts.UNFINISHED):
        key = f"writing-{number}-writing-{number}-writing"
        # the first of them is a program, or looks like one
        signs = None if number else Signs(None)
        answer(form, key, 0, text, now - timedelta(minutes=20 - number), signs)
    mark_all_read(form.account_id, form.id, to_millis(now - timedelta(hours=12)))


def priced(account_id: str, author: str, now: datetime) -> Any:
    """A closed form of whose responses two are deleted just now."""
    form = published(account_id, texts.PRICE, author, now - timedelta(days=12))
    for number, words in enumerate(texts.PRICED):
        respond(form, f"priced-{number}-priced-{number}-priced", words, now - timedelta(days=2))
    forms.close_form(account_id, form.id, now=now - timedelta(days=1))
    make_deletions(form, now)
    return form


def make_deletions(form: Any, now: datetime) -> None:
    """One response, and one that looks automated."""
    query = select(ResponseSession.id).where(ResponseSession.form_id == form.id)
    first, second = db.session.scalars(query.order_by(ResponseSession.created_at).limit(2))
    db.session.execute(
        update(ResponseSession).where(ResponseSession.id == first).values(suspect=True)
    )
    db.session.commit()
    delete_automated(form.account_id, form.id, now=now)
    delete_response(form.account_id, form.id, second, now=now + timedelta(seconds=1))


def respond(form: Any, key: str, words: tuple[str, ...], now: datetime) -> None:
    """One completed response: the name, then an answer to each question, empty ones skipped."""
    name, *texts = words
    for position, text in enumerate(texts):
        if text:
            answer(form, key, position, text, now)
        else:
            answering.skip_question(form.share_token, key, position=position, now=now)
    answering.complete_response(form.share_token, key, responder_name=name, now=now)


def answer(
    form: Any, key: str, position: int, text: str, now: datetime, signs: Signs | None = None
) -> None:
    given = {"position": position, "answer_text": text, "answer_key": f"{key}-{position}"}
    answering.answer_question(form.share_token, key, **given, now=now, signs=signs)
