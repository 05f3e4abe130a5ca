"""The same races through real servers: what an agent and respondents see over HTTP."""

import http.client
import json
import random
import secrets
import time
from collections import Counter
from collections.abc import Callable, Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import ExitStack
from dataclasses import dataclass, field
from datetime import timedelta
from functools import partial
from threading import Barrier
from typing import Any
from urllib.parse import quote, urlencode

import pytest
from flask import Flask
from sqlalchemy import select

from tests.databases import both_databases
from tests.factories import make_draft, make_form
from tests.pages.respondent_client import session_in
from tests.services import free_port
from tests.serving import serving
from webapp.app.factory import create_app
from webapp.base.config import Settings
from webapp.base.database import db, utc_now
from webapp.base.vocabulary import Scope
from webapp.drafts.agent_tokens import make_agent_token
from webapp.drafts.confirmations import confirm_draft
from webapp.oauth.tokens import issue_token
from webapp.records.accounts.models import Account
from webapp.records.drafts import Draft
from webapp.records.forms import Form
from webapp.records.responses.models import Answer, ResponseSession

WRITERS = 8
QUESTIONS = 10
PUBLISHERS = 8
Reply = tuple[int, Any]

pytestmark = [
    both_databases,
    pytest.mark.settings(
        write_limits=False,
        limit_answer_session="100000/minute",
        limit_answer_address="1000000/minute",
    ),
]


@dataclass
class Caller:
    """Sends requests to one server; `token` goes with those to the API."""

    port: int
    token: str = ""

    def api(self, method: str, path: str, body: object = None) -> Reply:
        headers = {
            "Authorization": f"Bearer {self.token}",
            "Content-Type": "application/json",
        }
        sent = None if body is None else json.dumps(body)
        status, text = self._exchange(method, f"/api{path}", sent, headers)
        return status, json.loads(text)

    def post(self, path: str, **fields: str) -> int:
        headers = {
            "Content-Type": "application/x-www-form-urlencoded",
            "Cookie": f"askback_r={fields['session']}",
        }
        return self._exchange("POST", path, urlencode(fields), headers)[0]

    def begin(self, link: str) -> str:
        """The session key that the page of a newcomer holds. A GET would be led to PUBLIC_URL."""
        return session_in(self._exchange("POST", f"{link}/another", None, {})[1].decode())

    def cut(self, method: str, path: str) -> None:
        """Leave before the answer is there."""
        connection = http.client.HTTPConnection("127.0.0.1", self.port, timeout=30)
        connection.request(method, path, None, {"Authorization": f"Bearer {self.token}"})
        connection.close()

    def _exchange(
        self, method: str, path: str, body: str | None, headers: dict[str, str]
    ) -> tuple[int, bytes]:
        connection = http.client.HTTPConnection("127.0.0.1", self.port, timeout=30)
        try:
            connection.request(method, path, body, headers)
            answer = connection.getresponse()
            return answer.status, answer.read()
        finally:
            connection.close()


@pytest.fixture
def callers(app: Flask, account: Account, settings: Settings) -> Iterator[list[Caller]]:
    """Two servers on PostgreSQL, one on SQLite, and an agent that calls them."""
    servers = 1 if settings.database_url.startswith("sqlite") else 2
    with ExitStack() as stack:
        made = [
            create_app(settings.model_copy(update={"port": free_port()})) for _ in range(servers)
        ]
        for each in made:
            stack.callback(close_connections, each)
            stack.enter_context(serving(each))
        with app.app_context():
            token = issue_token(account.id, list(Scope), settings.api_url, now=utc_now())
        yield [Caller(each.config["SETTINGS"].port, token) for each in made]


def close_connections(app: Flask) -> None:
    with app.app_context():
        db.engine.dispose()


@dataclass
class Consumer:
    """Polls with nothing but `nextSince`; counts answers and completed sessions."""

    caller: Caller
    form_id: str
    since: str | None = None
    answers: Counter[str] = field(default_factory=Counter)
    completed: Counter[str] = field(default_factory=Counter)

    def run(self, working: Callable[[], bool]) -> None:
        more = True
        while more:
            at_work = working()
            more = self.poll() or at_work
            time.sleep(0.002)

    def poll(self) -> bool:
        query = "" if self.since is None else f"?since={quote(self.since)}"
        status, page = self.caller.api("GET", f"/forms/{self.form_id}/responses{query}")
        assert status == 200, page
        for session in page["responses"]:
            self.answers.update(answer["id"] for answer in session["answers"])
            self.completed.update(self._newly_completed(session, page["nextSince"]))
        moved: bool = page["nextSince"] != self.since
        self.since = page["nextSince"]
        return moved

    def _newly_completed(self, session: dict[str, Any], next_since: str) -> list[str]:
        """Times of equal width compare as text."""
        sent = session["submittedAt"]
        return [session["sessionId"]] if sent and (self.since or "") < sent <= next_since else []


class AskConsumer(Consumer):
    """The same with an agent token: waits for a second, and every tenth connection is cut."""

    def poll(self) -> bool:
        query = "?wait=1" + (f"&since={quote(self.since)}" if self.since else "")
        path = f"/agent/asks/{self.form_id}/answers{query}"
        if random.random() < 0.1:  # noqa: S311
            self.caller.cut("GET", f"/api{path}")
        status, page = self.caller.api("GET", path)
        assert status == 200, page
        self.answers.update(answer["id"] for answer in page["answers"])
        self.completed.update(done["sessionId"] for done in page["completed"])
        moved: bool = page["nextSince"] != self.since
        self.since = page["nextSince"]
        return moved


@pytest.fixture
def agent_token(app: Flask, account: Account) -> str:
    """For all forms of the account."""
    now = utc_now()
    with app.app_context():
        ends = now + timedelta(hours=1)
        return make_agent_token(account.id, None, label="", expires_at=ends, now=now).token


@pytest.mark.parametrize("kind", [Consumer, pytest.param(AskConsumer, marks=pytest.mark.prove)])
@pytest.mark.parametrize("answers", [400, pytest.param(2000, marks=pytest.mark.prove)])
def test_an_agent_sees_every_answer_once(
    app: Flask,
    account: Account,
    callers: list[Caller],
    agent_token: str,
    answers: int,
    kind: type[Consumer],
) -> None:
    with app.app_context():
        form = make_form(account.id, questions=[f"Question {n}" for n in range(QUESTIONS)])
    token = agent_token if kind is AskConsumer else callers[0].token
    consumer = kind(Caller(callers[0].port, token), form.id)

    statuses = answer_while_polled(callers, form.share_token, consumer, answers // WRITERS)

    with app.app_context():
        stored = set(db.session.scalars(select(Answer.id)))
        completed = set(db.session.scalars(select(ResponseSession.id).where(was_completed())))
    assert set(statuses) == {303}
    assert (len(stored), len(completed)) == (answers, WRITERS * (answers // WRITERS // QUESTIONS))
    assert consumer.answers == Counter(stored)
    assert consumer.completed == Counter(completed)


def was_completed() -> Any:
    return ResponseSession.completed_stamp.is_not(None)


def answer_while_polled(
    callers: list[Caller], share_token: str, consumer: Consumer, each: int
) -> list[int]:
    """The statuses of all posts; the consumer polls from before the first to after the last."""
    with ThreadPoolExecutor(WRITERS + 1) as pool:
        writers = [
            pool.submit(write, callers[n % len(callers)], f"/r/{share_token}", each)
            for n in range(WRITERS)
        ]
        polling = pool.submit(consumer.run, lambda: not all(done.done() for done in writers))
        polling.result()
        return [status for done in writers for status in done.result()]


def write(caller: Caller, link: str, answers: int) -> list[int]:
    """One session after the other; each is sent once all its questions are answered."""
    statuses, session = [], ""
    for number in range(answers):
        position = number % QUESTIONS
        session = caller.begin(link) if position == 0 else session
        key = secrets.token_urlsafe(16)
        path = f"{link}/q/{position + 1}"
        statuses.append(caller.post(path, session=session, answer_key=key, answer="Me"))
        if position == QUESTIONS - 1:
            statuses.append(caller.post(f"{link}/check", session=session))
    return statuses


@pytest.mark.parametrize("drafts", [12, pytest.param(100, marks=pytest.mark.prove)])
def test_a_patch_beside_eight_publishes_leaves_one_form_or_none(
    app: Flask, account: Account, callers: list[Caller], drafts: int
) -> None:
    raced = [race(app, account.id, callers, patch_early=n % 2) for n in range(drafts)]

    unlawful = [race for race in raced if not is_lawful(*race)]
    assert unlawful == []


def race(
    app: Flask, account_id: str, callers: list[Caller], *, patch_early: int
) -> tuple[Reply, list[Reply], list[str], tuple[str, int]]:
    """What PATCH and the publishes were answered, the forms' titles, and the draft afterwards."""
    draft_id = confirmed_draft(app, account_id)
    barrier = Barrier(PUBLISHERS + 1)
    path = f"/drafts/{draft_id}"
    with ThreadPoolExecutor(PUBLISHERS + 1) as pool:
        patch = partial(callers[0].api, "PATCH", path, {"title": "As patched"})
        patching = pool.submit(started, barrier, patch, 0.0 if patch_early else 0.02)
        publishing = [
            pool.submit(
                started,
                barrier,
                partial(callers[n % len(callers)].api, "POST", f"{path}/publish"),
                0.005 * patch_early,
            )
            for n in range(PUBLISHERS)
        ]
        replies = [each.result() for each in publishing]
    with app.app_context():
        draft = db.session.get_one(Draft, draft_id)
        titles = list(db.session.scalars(select(Form.title).where(Form.draft_id == draft_id)))
        return patching.result(), replies, titles, (draft.title, draft.revision)


def started(barrier: Barrier, call: Callable[[], Reply], wait_seconds: float) -> Reply:
    barrier.wait()
    time.sleep(wait_seconds)
    return call()


def confirmed_draft(app: Flask, account_id: str) -> str:
    with app.app_context():
        draft = make_draft(account_id, title="As confirmed")
        shown = {"revision": draft.revision, "shown_hash": draft.content_hash}
        confirm_draft(account_id, draft.id, **shown, now=utc_now())
        return draft.id


def is_lawful(
    patched: Reply, published: list[Reply], titles: list[str], draft: tuple[str, int]
) -> bool:
    """PATCH came first: nothing published, all refused. Else one form as confirmed, told by all."""
    statuses = {status for status, _ in published}
    if patched[0] == 200:
        codes = {body["code"] for status, body in published if status == 409}
        outcome = (statuses, codes, titles, draft)
        return outcome == ({409}, {"confirmation_stale"}, [], ("As patched", 2))
    firsts = [body["idempotent"] for status, body in published if status == 200].count(False)
    forms = {body["formId"] for status, body in published if status == 200}
    return (
        (patched[0], patched[1]["code"]) == (409, "draft_already_published")
        and (statuses, firsts, len(forms)) == ({200}, 1, 1)
        and (titles, draft) == (["As confirmed"], ("As confirmed", 1))
    )
