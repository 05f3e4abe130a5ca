"""Every route that writes meets a deadlock at each of its commits, and does its work once."""

import secrets
from collections.abc import Callable
from contextlib import AbstractContextManager
from io import BytesIO
from pathlib import Path
from tempfile import NamedTemporaryFile
from types import SimpleNamespace
from typing import Any

import pytest
from flask import Flask
from sqlalchemy import Boolean, Integer, Table, select, update
from werkzeug.test import TestResponse

from jobs.queue import DELIVERIES, TRANSCRIPTIONS
from tests.conftest import delete_rows
from tests.databases import on_postgresql
from tests.factories import make_answer, make_form
from tests.oauth.flow import bearer
from tests.pages.creator.test_asker import PIXEL
from tests.pages.creator_client import Creator
from tests.pages.respondent_client import Respondent, arrive, hidden
from tests.proof.deadlock_world import HOOK, HOOK_KEY, OF_RESPONSES, PASSWORD, World, deadlock_at
from tests.voice.audio_files import recording
from tests.voice.factories import make_recording, make_voice_form
from webapp.base.database import db, utc_now
from webapp.base.vocabulary import TranscriptState
from webapp.oauth.models import OAuthGrant
from webapp.records.content.diff import Change, Effort, Kind, word_runs
from webapp.records.forms import Form
from webapp.voice.audio_store import audio_store
from webapp.web.limiter import limiter

COMMITS_MOST = 6
CHANGE = Change("title", Kind.REWORDED, runs=word_runs("Rota", "Newer", Effort())).key


Call = Callable[[], TestResponse]


def creator_page(
    path: str, make: Callable[[World], Any] = lambda world: world.draft, **form: Any
) -> Any:
    """A form of the creator's pages at `path`, in which `{}` stands for what `make` makes."""

    def prepare(world: World) -> Call:
        made = make(world)
        named = path.format(getattr(made, "id", made))
        return lambda: world.ann.post(named, **form)

    return prepare


def picture(world: World) -> Call:
    """An upload of a picture, each with a file of its own."""
    return lambda: world.ann.post("/account/picture", picture=(BytesIO(PIXEL), "me.png"))


def form_page(path: str, **form: Any) -> Any:
    """A form of the pages of a published form."""
    return creator_page(path, lambda world: world.form, **form)


def respondent_page(path: str, person: str, **form: Any) -> Any:
    """A form of a respondent's page, without following where it leads."""

    def prepare(world: World) -> Call:
        one: Respondent = getattr(world, person)
        sent = {"session": hidden(one.page)["session"], "answer_key": secrets.token_urlsafe(16)}
        where = f"/r/{one.share_token}{path}"
        kept = {name: sent[name] for name in sent if name == "session" or "answer" in form}
        return lambda: one.client.post(where, data=kept | form)

    return prepare


def agent(
    method: str, path: str, make: Callable[[World], Any] = lambda _world: "", **body: Any
) -> Any:
    def prepare(world: World) -> Call:
        named = path.format(make(world))
        headers = bearer(world.token)
        client = world.app.test_client()
        return lambda: client.open(f"/api{named}", method=method, json=body, headers=headers)

    return prepare


def host(method: str, make: Callable[[World], dict[str, Any]]) -> Any:
    """A call of an MCP host in the era before 2026-07-28."""

    def prepare(world: World) -> Call:
        body = {"jsonrpc": "2.0", "id": 1, "method": method, "params": make(world)}
        headers, client = bearer(world.host_token), world.app.test_client()
        return lambda: client.post("/mcp/app", json=body, headers=headers)

    return prepare


def tool(name: str, make: Callable[[World], dict[str, Any]]) -> Any:
    return host("tools/call", lambda world: {"name": name, "arguments": make(world)})


def _event(world: World) -> dict[str, Any]:
    delivery = {"url": HOOK, "secret": HOOK_KEY}
    form_id = world.subscribed and world.form.id
    arguments = {"formId": form_id}
    return {"name": "response.submitted", "arguments": arguments, "delivery": delivery}


def _published(world: World) -> Call:
    path, headers = f"/api/drafts/{world.confirmed()}/publish", bearer(world.token)
    return lambda: world.app.test_client().post(path, headers=headers)


def _published_on_its_word(world: World) -> Call:
    """By an agent whose creator lets it publish after a yes in their chat."""
    path, headers = f"/api/drafts/{world.draft.id}/publish", bearer(world.token)
    with world.app.app_context():
        trusted = update(OAuthGrant).where(OAuthGrant.id == world.grant)
        db.session.execute(trusted.values(attests_publish=True))
        db.session.commit()
    return lambda: world.app.test_client().post(path, headers=headers)


def _confirm(then: str) -> Callable[[World], Call]:
    def prepare(world: World) -> Call:
        draft = world.draft
        form = {"revision": "1", "shown_hash": draft.content_hash, "then": then}
        return lambda: world.ann.post(f"/drafts/{draft.id}/confirm", **form)

    return prepare


def _closed(world: World) -> Any:
    world.ann.post(f"/forms/{world.form.id}/close")
    return world.form


def _sign_in(world: World) -> Call:
    visitor = Creator(world.app.test_client(), world.account)
    visitor.token = _token(visitor)
    return lambda: visitor.post("/login", email="ann@example.com", password=PASSWORD)


def _join(world: World) -> Call:
    visitor = Creator(world.app.test_client(), world.account)
    visitor.token, invite = _token(visitor), world.invited()
    form = {"email": "new@example.com", "name": "New", "password": PASSWORD}
    return lambda: visitor.post(f"/join/{invite}", **form)


def _token(visitor: Creator) -> str:
    return visitor.page("/login").text.partition('name="csrf_token" value="')[2].partition('"')[0]


def _token_for_code(world: World) -> Call:
    flow, code = world.flow, world.code
    return lambda: flow.redeem(code)


def _token_for_refresh(world: World) -> Call:
    flow, tokens = world.flow, world.flow.redeem(world.code).json
    return lambda: flow.refresh(tokens["refresh_token"])


def _revoke(world: World) -> Call:
    flow, tokens = world.flow, world.flow.redeem(world.code).json
    form = flow.authenticated(token=tokens["refresh_token"])
    return lambda: flow.machine.post("/oauth/revoke", data=form)


def _consent(world: World) -> Call:
    flow = world.flow
    return flow.decide


def _register(world: World) -> Call:
    limiter_free = world.app.test_client()
    body = {"client_name": "A", "redirect_uris": ["https://app.example/cb"]}
    return lambda: limiter_free.post("/oauth/register", json=body)


def _continue(world: World) -> Call:
    one = world.answered
    link = one.client.post(
        f"/r/{one.share_token}/check/elsewhere", data={"session": hidden(one.page)["session"]}
    )
    secret = link.text.partition("/continue/")[2].partition('"')[0].partition("<")[0]
    form = {"secret": secret, "claim": secrets.token_urlsafe(16)}
    return lambda: world.app.test_client().post(f"/r/{one.share_token}/continue", data=form)


def _speaker(world: World) -> Respondent:
    """Somebody whose form takes recordings."""
    with world.app.app_context():
        form = make_voice_form(world.account.id)
    return Respondent(
        world.app.test_client(),
        form.share_token,
        world.app.test_client().get(f"/r/{form.share_token}"),
    )


def _uploaded(world: World) -> Call:
    one = _speaker(world)

    def upload() -> TestResponse:
        sent = hidden(one.page) | {"audio": (BytesIO(recording()), "a.webm")}
        return one.client.post(f"/r/{one.share_token}/q/1/recording", data=sent)

    return upload


def _of_recording(path: str) -> Callable[[World], Call]:
    """A POST about a recording whose words are known, and that no answer has."""

    def prepare(world: World) -> Call:
        one = _speaker(world)
        session = hidden(one.page)["session"]
        written = {"transcript_state": TranscriptState.DONE, "transcript": "Ben did."}
        with world.app.app_context():
            form = db.session.scalars(select(Form).where(Form.share_token == one.share_token)).one()
            made = make_recording(form, session, next_at=utc_now(), **written)
            with NamedTemporaryFile() as file:
                file.write(recording())
                file.flush()
                audio_store().put(made.object_key, Path(file.name))
            db.session.commit()
            named = path.format(made.id)
            sent = {"session": session, "recording": made.id}
        return lambda: one.client.post(f"/r/{one.share_token}{named}", data=sent)

    return prepare


def _probed(path: str, *, answered: bool) -> Callable[[World], Call]:
    """A form that asks follow-ups; with an answer about which nothing is decided."""

    def prepare(world: World) -> Call:
        with world.app.app_context():
            asks = {
                "followUpMode": "deep_dive",
                "questions": ["What made you switch?", "And then?"],
            }
            form = make_form(world.account.id, **asks)
            one = arrive(world.app.test_client(), form)
            sent = hidden(one.page) | {"answer": "It was slow"}
            if answered:
                make_answer(form, sent["session"], text=sent["answer"])
        return lambda: one.client.post(f"/r/{one.share_token}{path}", data=sent)

    return prepare


RECIPES: dict[str, Callable[[World], Call]] = {
    "voice.upload": _uploaded,
    "voice.begin": respondent_page("/begin-recording", "answered"),
    "voice.look": _of_recording("/q/1/transcript"),
    "voice.hand_back": _of_recording("/recordings/{}"),
    "agreements.agree_to_voice": form_page(
        "/forms/{}/voice", shown_records="yes", shown_transcriber=""
    ),
    "agreements.agree_to_writer": form_page("/forms/{}/follow-ups", shown_writer=""),
    "agreements.choose_language": form_page("/forms/{}/voice/language", language="pt"),
    "agent_tokens.make": form_page(
        "/connections/tokens/new",
        form="all",
        label="",
        days="1",
        current=PASSWORD,
    ),
    "agent_tokens.revoke": creator_page(
        "/connections/tokens/{}/revoke", lambda world: world.agent_token
    ),
    "agent_tokens.revoke_all": creator_page(
        "/connections/tokens/revoke-all", lambda world: world.agent_token
    ),
    **OF_RESPONSES,
    "api.create_agent_token": agent("POST", "/forms/{}/agent-tokens", lambda world: world.form.id),
    "api.create_subscription": agent(
        "POST",
        "/forms/{}/subscriptions",
        lambda world: world.subscribed and world.form.id,
        url=HOOK,
        secret=HOOK_KEY,
    ),
    "api.delete_subscription": agent(
        "DELETE",
        "/forms/{}",
        lambda world: f"{world.form.id}/subscriptions/{world.subscribed}",
    ),
    "deliveries.send_again": creator_page("/deliveries/{}/again", lambda world: world.delivered),
    "deliveries.send_test": creator_page(
        "/deliveries/subscriptions/{}/test", lambda world: world.subscribed
    ),
    "account.change_details": creator_page("/account/details", name="Kim", language="en"),
    "account.change_picture": picture,
    "account.remove_picture": creator_page("/account/picture/remove"),
    "account.change_password": creator_page(
        "/account/password", current=PASSWORD, password="other plain words here"
    ),
    "account.delete": creator_page("/account/delete", current=PASSWORD),
    "api.create_service_draft": agent("POST", "/drafts", title="By an agent"),
    "api.publish_service_draft": _published,
    "api.replace_service_draft_follow_ups": agent(
        "PUT", "/drafts/{}/follow-ups", lambda world: world.draft.id, followUps={"1": ["And then?"]}
    ),
    "api.update_service_draft": agent(
        "PATCH", "/drafts/{}", lambda world: world.draft.id, title="By an agent"
    ),
    "site.choose_theme": creator_page("/appearance", theme="dark"),
    "account.end_browser": creator_page("/account/browsers/end", handle="none"),
    "account.end_other_browsers": creator_page("/account/browsers/end-others"),
    "confirm.confirm": _confirm("agent"),
    "connections.disconnect": creator_page("/connections/{}/disconnect", lambda world: world.grant),
    "connections.disconnect_all": creator_page(
        "/connections/disconnect-all", lambda world: world.grant
    ),
    "connections.mute": creator_page("/connections/{}/mute", lambda world: world.grant),
    "connections.unmute": creator_page("/connections/{}/unmute", lambda world: world.muted_grant),
    "connections.confirm_address": creator_page(
        "/connections/addresses/{}/confirm", lambda world: world.waiting_address
    ),
    "connections.remove_address": creator_page(
        "/connections/addresses/{}/remove", lambda world: world.waiting_address
    ),
    "connections.let_publish": creator_page(
        "/connections/{}/trust", lambda world: world.grant, trust="1"
    ),
    "consent.decide": _consent,
    "drafts.mark_seen": creator_page("/drafts/{}/seen", revision="1"),
    "drafts.save_settings": creator_page(
        "/drafts/{}/settings",
        revision="1",
        followUpMode="none",
        responseMode="text_only",
        responseLimit="one",
    ),
    "drafts.save_text": creator_page("/drafts/{}/title", revision="1", text="Better"),
    "elsewhere.go_on": _continue,
    "elsewhere.offer": respondent_page("/check/elsewhere", "answered"),
    "forms.allow_embedding": form_page("/forms/{}/embedding", origins="https://a.example"),
    "forms.close": form_page("/forms/{}/close"),
    "forms.reopen": creator_page("/forms/{}/reopen", _closed),
    "drafts.accept": creator_page(
        f"/drafts/{{}}/changes/{CHANGE}/accept", World.changed, revision="2", since="1"
    ),
    "drafts.put_back": creator_page(
        f"/drafts/{{}}/changes/{CHANGE}/put-back", World.changed, revision="2", since="1"
    ),
    "drafts.restore": creator_page("/drafts/{}/restore", World.changed, revision="2", to="1"),
    "inbox.discard": creator_page("/drafts/{}/discard"),
    "inbox.discard_chosen": lambda world: creator_page("/drafts/tidy", draft=world.draft.id)(world),
    "inbox.take_back": lambda world: creator_page("/drafts/take-back", at=str(world.put_away()))(
        world
    ),
    "inbox.write": creator_page("/drafts/new"),
    "mcp.post": tool("create_form_draft", lambda _world: {"title": "By an agent"}),
    "oauth.register": _register,
    "oauth.revoke": _revoke,
    "oauth.token": _token_for_code,
    "drafts.send_back": creator_page("/drafts/{}/return", revision="1", note="Shorter"),
    "drafts.keep": creator_page("/drafts/{}/keep", World.returned),
    "questions.add": creator_page("/drafts/{}/questions", revision="1", text="Why?"),
    "questions.move": creator_page("/drafts/{}/questions/1/position", revision="1", to="2"),
    "questions.remove": creator_page("/drafts/{}/questions/1/remove", revision="1"),
    "questions.save": creator_page("/drafts/{}/questions/1", revision="1", text="Who was it?"),
    "follow_ups.decide": _probed("/q/1/next", answered=True),
    "respond.another": respondent_page("/another", "sent"),
    "respond.answer": respondent_page("/q/1", "person", answer="Me"),
    "respond.open_check": respondent_page("/check/open", "answered"),
    "respond.open_done": respondent_page("/done/open", "sent"),
    "respond.open_question": respondent_page("/q/1/open", "answered"),
    "respond.open_sent": respondent_page("/sent", "sent"),
    "respond.resume": respondent_page("/resume", "answered"),
    "respond.send": respondent_page("/check", "answered"),
    "respond.skip": respondent_page("/q/2/skip", "answered"),
    "respond.withdraw": respondent_page("/withdraw", "sent"),
    "respond.withdraw_now": respondent_page("/withdraw/now", "sent"),
    "sign_in.accept_invite": _join,
    "sign_in.sign_in": _sign_in,
    "sign_in.sign_out": creator_page("/logout"),
    "sign_in.sign_out_everywhere": creator_page("/logout/everywhere"),
    "forms.copy": form_page("/forms/{}/copy"),
    "forms.delete": form_page("/forms/{}/delete"),
    "forms.erase": creator_page("/forms/{}/erase", lambda world: world.deleted),
    "forms.restore": creator_page("/forms/{}/restore", lambda world: world.deleted),
    "trial.go_on": lambda world: creator_page("/drafts/{}/try", **world.trial())(world),
}

# what else a route does
FURTHER = {
    "respond.answer followed by a question": _probed("/q/1", answered=False),
    "api.publish_service_draft on the word of the agent": _published_on_its_word,
    "confirm.confirm and publish": _confirm("publish"),
    "mcp.post changing a draft": tool(
        "update_form_draft", lambda world: {"draftId": world.draft.id, "title": "By an agent"}
    ),
    "mcp.post publishing": tool("publish_form_draft", lambda world: {"draftId": world.confirmed()}),
    "mcp.post making an agent token": tool(
        "create_agent_token", lambda world: {"formId": world.form.id}
    ),
    "mcp.post subscribing": host("events/subscribe", _event),
    "mcp.post unsubscribing": host("events/unsubscribe", _event),
    "oauth.token for a refresh token": _token_for_refresh,
}


@pytest.fixture(autouse=True)
def _nobody_delivers(app: Flask, monkeypatch: pytest.MonkeyPatch) -> None:
    """A thread that another test began may still wait for something to deliver."""
    for kind in (DELIVERIES, TRANSCRIPTIONS):
        nobody = SimpleNamespace(hand_over=lambda _ids: None)
        monkeypatch.setitem(app.extensions, kind.extension, nobody)


def test_every_route_that_writes_has_its_deadlock(app: Flask) -> None:
    unsafe = {"POST", "PUT", "PATCH", "DELETE"}
    writing = {rule.endpoint for rule in app.url_map.iter_rules() if rule.methods & unsafe}

    assert writing == RECIPES.keys()


@on_postgresql
@pytest.mark.parametrize("work", RECIPES | FURTHER)
def test_a_deadlock_at_any_commit_changes_nothing(app: Flask, work: str) -> None:
    expected, commits = outcome(app, work, deadlock_at(COMMITS_MOST))
    assert len(commits) < COMMITS_MOST

    for number in range(len(commits)):
        found, _ = outcome(app, work, deadlock_at(number))
        assert found == expected, f"deadlock at commit {number} of {commits}"


def outcome(
    app: Flask, work: str, fault: AbstractContextManager[list[str]]
) -> tuple[Any, list[str]]:
    """The status of the route and the rows it leaves with that fault, and what the fault yields."""
    delete_rows(app)
    with app.app_context():
        limiter.reset()
    call = (RECIPES | FURTHER)[work](World(app))
    app.extensions["deferred_writes"].settle(10)
    with fault as tried:
        answer = call()
    assert answer.status_code < 400, (answer.status_code, answer.text)
    with app.app_context():
        rows = {table.name: shapes(table) for table in db.metadata.sorted_tables}
    return (answer.status_code, rows), tried


def shapes(table: Table) -> list[tuple[Any, ...]]:
    """The rows without what differs each time: numbers and flags as they are, of others if they are
    there at all.
    """
    rows = db.session.execute(select(table)).all()
    return sorted(
        tuple(
            repr(value) if type(column.type) in (Integer, Boolean) else value is not None
            for column, value in zip(table.columns, row, strict=True)
        )
        for row in rows
    )
