"""Waits of agents behind the server, which reads on without a thread and without the view."""

import time
from datetime import timedelta

import pytest
from flask import Flask

from tests.factories import make_account, make_draft, make_form
from tests.serving import get, new_app, serving
from webapp.base.config import Settings
from webapp.base.database import utc_now
from webapp.base.vocabulary import Scope
from webapp.drafts.agent_tokens import make_agent_token
from webapp.oauth.tokens import issue_token


@pytest.mark.parametrize("door", ["drafts/{draft}", "agent/asks/{form}/answers"])
def test_a_wait_lasts_until_something_is_new(
    app: Flask, settings: Settings, caplog: pytest.LogCaptureFixture, door: str
) -> None:
    now, served = utc_now(), new_app(settings)
    with app.app_context():
        account_id = make_account().id
        form_id, draft_id = make_form(account_id).id, make_draft(account_id).id
        token = issue_token(account_id, [*Scope], served.config["SETTINGS"].api_url, now=now)
        if "agent" in door:
            ends = now + timedelta(1)
            token = make_agent_token(account_id, form_id, label="", expires_at=ends, now=now).token
    path = f"/api/{door}?wait=1".format(form=form_id, draft=draft_id)
    with serving(served):
        began = time.monotonic()
        answer = get(served, path, f"Authorization: Bearer {token}")

    assert answer.startswith(b"HTTP/1.1 200")
    assert time.monotonic() - began >= 1
    assert not [each for each in caplog.records if each.levelname == "ERROR"]
