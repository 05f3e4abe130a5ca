"""Streaming with an agent token: events as they are stored, resumption, limits, and the end."""

import json
import secrets
from collections.abc import Callable, Iterator
from contextlib import ExitStack
from typing import Any

import pytest
from flask import Flask

from tests.api.conftest import Agent
from tests.databases import both_databases, on_postgresql
from tests.serving import get
from tests.streaming_site import Site, site_on
from webapp.answers import trash
from webapp.app import streams
from webapp.base.config import Settings
from webapp.base.database import utc_now
from webapp.base.vocabulary import Scope
from webapp.drafts import agent_tokens
from webapp.oauth import connections
from webapp.oauth.tokens import issue_token
from webapp.records import forms
from webapp.records.accounts import models as accounts

AWKWARD = "one\rtwo\nthree\r\n\r\nevent: end\ndata: {}\n\nid: 9\u2028\u2029\x85\x0b end"


@pytest.fixture
def site(app: Flask, settings: Settings) -> Iterator[Site]:
    with site_on(settings) as served:
        yield served


@pytest.fixture
def elsewhere(app: Flask, settings: Settings) -> Iterator[Site]:
    with site_on(settings) as served:
        yield served


@pytest.fixture
def woken(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(streams, "LOOK_SECONDS", 60)


@both_databases
@pytest.mark.usefixtures("woken")
def test_each_answer_and_completion_comes_once_it_is_stored(site: Site) -> None:
    form, key = site.form(), secrets.token_urlsafe(24)
    token = site.token(form).token
    with site.stream(form, token) as stream:
        status = stream.next()
        site.answer(form, key, 0, "First")
        first = stream.next()
        site.answer(form, key, 1, "Second")
        second = stream.next()
        site.complete(form, key)
        changed, completed = stream.next(), stream.next()
    page = Agent(site.app, token).get(f"/agent/asks/{form.id}/answers").json

    names = ["form_status", "answer", "answer", "form_status", "completed"]
    assert [each.name for each in (status, first, second, changed, completed)] == names
    assert (status.id, first.id) == ("", first.data["respondedAt"])
    shown = {"askId": form.id, "status": "published"}
    assert status.data == shown | {"responseCount": 0}
    assert changed.data == shown | {"responseCount": 1}
    assert [each["answerText"] for each in page["answers"]] == ["First", "Second"]
    assert page["answers"] == [first.data, second.data]
    assert page["completed"] == [completed.data]
    assert page["nextSince"] == completed.id == completed.data["submittedAt"]


def test_what_is_there_comes_in_order_and_goes_on_after_since_or_the_last_id(site: Site) -> None:
    form = site.form()
    site.answer(form, "a" * 32, 0, "First")
    site.answer(form, "b" * 32, 0, "Second")
    site.complete(form, "b" * 32)
    site.answer(form, "a" * 32, 1, "Third")
    with site.stream(form, "", "Accept-Encoding: gzip") as stream:
        status, *found = [stream.next() for _ in range(5)]
        headers = stream.headers

    def first(*headers: str, query: str = "") -> Any:
        with site.stream(form, "", *headers, query=query) as stream:
            stream.next("form_status")
            return stream.next().id

    ids = [each.id for each in found]
    assert headers["content-type"] == "text/event-stream"
    assert headers["cache-control"] == "no-cache"
    assert headers["x-accel-buffering"] == "no"
    assert "content-encoding" not in headers
    assert status.name == "form_status"
    assert [each.data.get("answerText") for each in found] == ["First", "Second", None, "Third"]
    assert ids == sorted(ids)
    assert first(query=f"?since={ids[0]}") == ids[1]
    assert first(f"Last-Event-ID: {ids[1]}") == ids[2]
    assert first(f"Last-Event-ID: {ids[2]}", query=f"?since={ids[0]}") == ids[3]
    assert first("Last-Event-ID:", query=f"?since={ids[0]}") == ids[1]


@both_databases
def test_a_change_of_status_is_told_and_no_text_breaks_a_frame(site: Site) -> None:
    form = site.form(questions=[f"Who? {AWKWARD}", "Why?"])
    with site.stream(form) as stream:
        found = [stream.next("form_status").data["status"]]
        for change in (forms.close_form, forms.reopen_form):
            with site.app.app_context():
                change(form.account_id, form.id, now=utc_now())
            found.append(stream.next("form_status").data["status"])
        for key in ("a" * 32, "b" * 32):
            site.answer(form, key, 0, AWKWARD)
        texts = {stream.next("answer").data["answerText"] for _ in range(2)}

    assert found == ["published", "closed", "published"]
    assert len(texts) == 1
    assert "event: end" in texts.pop()


def test_who_is_not_let_in_and_from_where_nobody_is(site: Site) -> None:
    form, other = site.form(), site.form()
    token, of_other = (f"Authorization: Bearer {site.token(each).token}" for each in (form, other))

    assert site.refusal(form)[0] == 401
    assert site.refusal(form, f"Authorization: Bearer askag_{'0' * 64}")[0] == 401
    assert site.refusal(form, query=f"?token={site.token(form).token}")[0] == 401
    assert site.refusal(form, of_other)[1]["code"] == "form_not_found"
    with site.app.app_context():
        trash.delete_form(other.account_id, other.id, now=utc_now())
    assert site.refusal(other, of_other)[1]["code"] == "form_not_found"
    for query, header, field in (
        ("?since=yesterday", "X: y", "since"),
        ("?since=2026-01-01T00:00:00Z", "Last-Event-ID: 2026-01-01", "Last-Event-ID"),
    ):
        status, body = site.refusal(form, token, header, query=query)
        assert (status, body["code"]) == (400, "invalid_since")
        assert body["message"].startswith(f"{field}: is ")
    assert site.server.streams.slots._taken == 0


def has_room(site: Site, form: Any, token: str) -> bool:
    raw = get(site.app, f"/api/agent/asks/{form.id}/stream", f"Authorization: Bearer {token}")
    head, _, body = raw.partition(b"\r\n\r\n")
    refused = head.startswith(b"HTTP/1.1 429") and b"\r\nretry-after: 5\r\n" in head
    return not (refused and json.loads(body)["code"] == "too_many_streams")


def test_a_token_has_four_streams(site: Site) -> None:
    form = site.form()
    token = site.token(form).token
    with ExitStack() as stack:
        for _ in range(4):
            stack.enter_context(site.stream(form, token)).next()
        assert not has_room(site, form, token)
        with site.stream(form) as by_another_token:
            assert by_another_token.next().name == "form_status"


@pytest.mark.settings(max_streams=2)
def test_a_process_has_so_many_streams(site: Site) -> None:
    form = site.form()
    with ExitStack() as stack:
        for _ in range(2):
            stack.enter_context(site.stream(form)).next()
        assert not has_room(site, form, site.token(form).token)


def revoke(form: Any, made: agent_tokens.AgentToken) -> None:
    agent_tokens.revoke_agent_token(form.account_id, made.id, now=utc_now())


ENDS: dict[str, Callable[[Any, agent_tokens.AgentToken], object]] = {
    "revoked": revoke,
    "all revoked": lambda form, _: agent_tokens.revoke_agent_tokens(form.account_id, now=utc_now()),
    "account disabled": lambda form, _: accounts.disable_account(form.account_id, now=utc_now()),
}


@both_databases
@pytest.mark.usefixtures("woken")
@pytest.mark.parametrize("end", ENDS)
def test_an_ended_token_gets_nothing_that_came_later(site: Site, elsewhere: Site, end: str) -> None:
    form, before, later = site.form(), "a" * 32, "b" * 32
    made = site.token(form)
    with ExitStack() as stack:
        streams = [stack.enter_context(site.stream(form, made.token)) for _ in range(3)]
        site.answer(form, before)
        found = [[stream.next("answer").data["answerText"]] for stream in streams]
        with elsewhere.app.app_context():
            ENDS[end](form, made)
        site.answer(form, later, text="Later")
        rest = [[(event.name, event.data) for event in stream.events()] for stream in streams]

    assert found == [["Me"]] * 3
    assert rest == [[("end", {"reason": "revoked"})]] * 3


@on_postgresql
@pytest.mark.parametrize(
    ("how", "reason"),
    [("disconnected", "revoked"), ("expired", "expired"), ("stopped", "stopping")],
)
def test_a_stream_says_why_it_ends(site: Site, elsewhere: Site, how: str, reason: str) -> None:
    form = site.form()
    settings, now = site.app.config["SETTINGS"], utc_now()
    with site.app.app_context():
        access = issue_token(form.account_id, [*Scope], settings.api_url, now=now)
    token = Agent(site.app, access).post(f"/forms/{form.id}/agent-tokens", json={}).json["token"]
    if how == "expired":
        token = site.token(form, seconds=1.5).token
    with site.stream(form, token) as stream:
        stream.next()
        with elsewhere.app.app_context():
            if how == "disconnected":
                connections.disconnect_all(form.account_id, now=utc_now())
            elif how == "stopped":
                site.server.stop()

        assert stream.next("end").data["reason"] == reason
