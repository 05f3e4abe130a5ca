"""What is sent in a round: sixteen connections with requests made beforehand."""

import itertools
import secrets
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass, field
from typing import Any
from urllib.parse import urlencode

import orjson
from flask import Flask
from sqlalchemy import select

from tests.bench.figures import Requests
from tests.bench.load import request
from tests.bulk import copy_rows
from tests.factories import make_account, make_answer, make_draft, make_form
from webapp.base.database import db, new_id, utc_now
from webapp.base.text import token_hash
from webapp.base.vocabulary import Scope
from webapp.drafts.confirmations import confirm_draft
from webapp.oauth.tokens import issue_token
from webapp.pages.respondent.form_data import new_session_key
from webapp.records.drafts import Draft, DraftConfirmation
from webapp.records.responses.models import ResponseSession

CONNECTIONS = 16
QUESTIONS = 10
ANSWER = "The deploy ran twice, because the lock was not taken before the first step."
DRAFT = {
    "title": "What went wrong on Tuesday?",
    "goal": "Find out why the deploy ran twice",
    "questions": [f"What went wrong in step {n}?" for n in range(QUESTIONS)],
}
FORM_TYPE = "Content-Type: application/x-www-form-urlencoded"


@dataclass
class Work:
    """Makes the requests of one connected account."""

    app: Flask
    account_id: str
    token: str
    numbers: Any = field(default_factory=itertools.count)

    @property
    def bearer(self) -> str:
        return f"Authorization: Bearer {self.token}"

    def repeated(self, one: bytes, times: int) -> Callable[[], Requests]:
        return lambda: [[one] * times] * CONNECTIONS

    def get(self, path: str, times: int = 60) -> Callable[[], Requests]:
        return self.repeated(request("GET", path, self.bearer), times)

    def look_ups(self, times: int = 60) -> Callable[[], Requests]:
        return self.get("/look-up", times)

    def inserts(self, times: int = 30) -> Callable[[], Requests]:
        return self.repeated(request("POST", "/insert", self.bearer), times)

    def creates(self) -> Requests:
        return self._each(self._json("POST", "/api/drafts", DRAFT) for _ in itertools.count())

    def patches(self) -> Requests:
        """Each connection changes a draft of its own, every time to something new."""
        with self.app.app_context():
            drafts = [make_draft(self.account_id, **DRAFT).id for _ in range(CONNECTIONS)]
        return [
            [
                self._json("PATCH", f"/api/drafts/{draft}", {"goal": f"{next(self.numbers)}"})
                for _ in range(30)
            ]
            for draft in drafts
        ]

    def publishes(self) -> Requests:
        return self._each(
            request("POST", f"/api/drafts/{draft}/publish", self.bearer)
            for draft in self._confirmed(CONNECTIONS * 30)
        )

    def _each(self, requests: Iterable[bytes]) -> Requests:
        """Thirty for each connection."""
        every = iter(requests)
        return [list(itertools.islice(every, 30)) for _ in range(CONNECTIONS)]

    def _confirmed(self, count: int) -> list[str]:
        """Copies of one confirmed draft."""
        with self.app.app_context():
            draft = make_draft(self.account_id, **DRAFT)
            confirm_draft(
                self.account_id,
                draft.id,
                revision=draft.revision,
                shown_hash=draft.content_hash,
                now=utc_now(),
            )
            ids = [new_id("drf") for _ in range(count)]
            copy_rows(Draft.__table__, draft.id, count, id=ids.__getitem__)
            of_first = DraftConfirmation.draft_id == draft.id
            confirmed = db.session.scalars(select(DraftConfirmation.id).where(of_first)).one()
            copies = {"id": lambda _: new_id("cnf"), "draft_id": ids.__getitem__}
            copy_rows(DraftConfirmation.__table__, confirmed, count, **copies)
            return ids

    def answers(self, share_tokens: Sequence[str], *headers: str, cookie: bool = True) -> Requests:
        """Each connection is one respondent after the other, through all questions of its form."""
        every = itertools.islice(itertools.cycle(share_tokens), CONNECTIONS)
        return self.people(every, 3, *headers, cookie=cookie)

    def responses(self, share_tokens: Sequence[str], *headers: str) -> Requests:
        """Each connection is eight people, who answer all three questions of its form and send."""
        return self.people(share_tokens, 8, *headers, questions=3, sends=True)

    def people(
        self, share_tokens: Iterable[str], count: int, *headers: str, **how: Any
    ) -> Requests:
        """Each connection is so many respondents of its form, one after the other."""
        with self.app.app_context():
            return [
                [one for _ in range(count) for one in respondent(each, *headers, **how)]
                for each in share_tokens
            ]

    def completions(self, forms: Sequence[Any]) -> Requests:
        """Each connection is 15 people who have answered a question of its form, and send."""
        sends: dict[str, Any] = {"questions": 0, "sends": True}
        with self.app.app_context():
            return [
                [
                    one
                    for key in answered(form)
                    for one in respondent(form.share_token, session=key, **sends)
                ]
                for form in forms
            ]

    def _json(self, method: str, path: str, body: object) -> bytes:
        kind = "Content-Type: application/json"
        return request(method, path, self.bearer, kind, body=orjson.dumps(body))


def respondent(
    share_token: str,
    *headers: str,
    cookie: bool = True,
    questions: int = QUESTIONS,
    sends: bool = False,
    session: str = "",
) -> list[bytes]:
    """The answers of one person, with all fields of the page. Needs an application context."""
    session = session or new_session_key()
    sent = [FORM_TYPE, *headers, *([f"Cookie: askback_r={session}"] if cookie else [])]

    def post(path: str, **fields: str) -> bytes:
        body = urlencode({"session": session, "lang": "en", "website": "", **fields}).encode()
        return request("POST", f"/r/{share_token}{path}", *sent, body=body)

    numbers = range(1, questions + 1)
    answers = [
        post(f"/q/{number}", answer_key=secrets.token_urlsafe(16), answer=ANSWER)
        for number in numbers
    ]
    return [*answers, post("/check", name="Robin")] if sends else answers


def answered(form: Any, count: int = 15) -> list[str]:
    """The keys of so many sessions with one answer, copies of a real one. Needs a context."""
    first, keys = new_session_key(), [new_session_key() for _ in range(count)]
    make_answer(form, first)
    is_first = ResponseSession.key_hash == token_hash(first)
    first_id = db.session.scalars(select(ResponseSession.id).where(is_first)).one()
    copies = {"id": lambda _: new_id("ses"), "key_hash": lambda n: token_hash(keys[n])}
    copy_rows(ResponseSession.__table__, first_id, count, **copies)
    return keys


def connected(app: Flask, api_url: str) -> Work:
    """A new account with a connection of all scopes."""
    with app.app_context():
        account_id = make_account().id
        token = issue_token(account_id, list(Scope), api_url, now=utc_now())
    return Work(app, account_id, token)


def new_form(work: Work, **changed: Any) -> Any:
    with work.app.app_context():
        return make_form(work.account_id, **DRAFT | changed)
