"""A served application with forms, agent tokens and streams; its wake-ups reach other processes."""

import json
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from datetime import timedelta
from typing import Any

from flask import Flask

from tests.event_streams import EventStream, open_stream
from tests.factories import make_account, make_answer, make_form
from tests.serving import get, new_app, serving
from webapp.answers import answering
from webapp.app.server import Server
from webapp.base.config import Settings
from webapp.base.database import utc_now
from webapp.drafts import agent_tokens
from webapp.web.wakeups import shared_wakeups


@dataclass
class Site:
    """A served application."""

    app: Flask
    server: Server

    @property
    def port(self) -> int:
        return int(self.app.config["SETTINGS"].port)

    def form(self, **fields: Any) -> Any:
        with self.app.app_context():
            return make_form(make_account().id, **fields)

    def token(self, form: Any, **lasting: float) -> agent_tokens.AgentToken:
        now = utc_now()
        with self.app.app_context():
            return agent_tokens.make_agent_token(
                form.account_id,
                form.id,
                label="Rota",
                expires_at=now + timedelta(**lasting or {"days": 1}),
                now=now,
            )

    @contextmanager
    def stream(
        self, form: Any, token: str = "", *headers: str, query: str = "", seconds: float = 10
    ) -> Iterator[EventStream]:
        authorization = f"Authorization: Bearer {token or self.token(form).token}"
        path = f"/api/agent/asks/{form.id}/stream{query}"
        with open_stream(self.port, path, authorization, *headers, seconds=seconds) as opened:
            yield opened

    def refusal(self, form: Any, *headers: str, query: str = "") -> tuple[int, Any]:
        answer = get(self.app, f"/api/agent/asks/{form.id}/stream{query}", *headers)
        head, _, body = answer.partition(b"\r\n\r\n")
        return int(head.split(b" ")[1]), json.loads(body)

    def answer(self, form: Any, key: str, position: int = 0, text: str = "Me") -> None:
        with self.app.app_context():
            make_answer(form, key, position, text)

    def complete(self, form: Any, key: str) -> None:
        with self.app.app_context():
            answering.complete_response(form.share_token, key, responder_name="", now=utc_now())


@contextmanager
def site_on(settings: Settings) -> Iterator[Site]:
    app = new_app(settings)
    with serving(app) as server, shared_wakeups(app):
        yield Site(app, server)
