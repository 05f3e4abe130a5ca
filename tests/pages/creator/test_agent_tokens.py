"""The pages on which a creator makes, sees and revokes agent tokens."""

import re
from html import unescape
from typing import Any

import pytest
from flask import Flask
from sqlalchemy import select

from tests.oauth.flow import API
from tests.pages.creator_client import Creator, plain
from webapp.base.database import db, utc_now
from webapp.base.vocabulary import Scope
from webapp.oauth.tokens import issue_token
from webapp.records.audit import AuditEvent
from webapp.records.forms import AgentToken
from webapp.web import request_audit

NEW = "/connections/tokens/new"
MADE = "/connections/tokens/made"
HERE = "webapp.pages.creator"


@pytest.fixture(autouse=True)
def _signed_in_just_now(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(f"{HERE}.sign_in.signed_in_recently", lambda: True)


@pytest.fixture
def _signed_in_long_ago(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(f"{HERE}.sign_in.signed_in_recently", lambda: False)


def stored(ann: Creator) -> list[AgentToken]:
    with ann.context():
        return list(db.session.scalars(select(AgentToken).order_by(AgentToken.created_at)))


def make(ann: Creator, form_id: str, **changed: str) -> Any:
    """The page after the button: the one that shows the token, or the refusal."""
    answer = ann.post(NEW, **{"form": form_id, "label": "Rota script", "days": "90"} | changed)
    return ann.page(answer.location) if answer.status_code == 303 else answer


def token_in(page: Any) -> str:
    found = re.search(r'id="token" readonly value="(askag_\w+)"', page.text)
    assert found, page.text
    return found[1]


def answers(ann: Creator, token: str, form: Any) -> int:
    headers = {"Authorization": f"Bearer {token}"}
    agent = ann.client.application.test_client()
    return agent.get(f"/api/agent/asks/{form.id}/answers", headers=headers).status_code


def test_the_page_of_a_new_token_shows_it_once_and_makes_no_second_one(
    ann: Creator, stranger: Creator, form: Any
) -> None:
    asked = {"form": form.id, "label": "Rota script", "days": "90"}
    answer = ann.post(NEW, **asked)
    cookie = ann.client.get_cookie("askback_token", "127.0.0.1", MADE)
    assert cookie is not None
    stranger.client.set_cookie("askback_token", cookie.value, domain="127.0.0.1", path=MADE)

    assert (answer.status_code, answer.location) == (303, MADE)
    assert (cookie.http_only, cookie.same_site, cookie.max_age) == (True, "Lax", 60)
    assert stranger.page(MADE).location == "/connections"
    page = ann.page(MADE)
    token = token_in(page)
    assert token[6:] not in cookie.value + answer.text
    assert page.headers["Cache-Control"] == "private, no-store"
    assert f'"{API}/agent/asks/{form.id}/answers"' in unescape(page.text)
    assert ann.page(MADE).location == "/connections"
    (made,) = stored(ann)
    assert token not in ann.page("/connections").text
    assert made.hint in ann.page("/connections").text


def test_it_is_for_one_form_unless_all_are_chosen_and_ends_as_chosen(
    ann: Creator, form: Any
) -> None:
    before = utc_now()
    other = ann.form()
    one, every = token_in(make(ann, form.id, days="365")), token_in(make(ann, "all", days="1"))

    assert [answers(ann, one, each) for each in (form, other)] == [200, 404]
    assert [answers(ann, every, each) for each in (form, other)] == [200, 200]
    assert [(token.expires_at - before).days for token in stored(ann)] == [365, 1]
    ann.post("/connections/tokens/revoke-all")
    assert [answers(ann, token, form) for token in (one, every)] == [401, 401]


@pytest.mark.parametrize(
    "changed",
    [
        *({"days": days} for days in ("0", "366", "ninety", "")),
        {"label": "x" * 81},
        {"label": "a\x00b"},
    ],
)
def test_a_wrong_field_is_refused_and_nothing_typed_is_lost(
    ann: Creator, form: Any, changed: dict[str, str]
) -> None:
    page = make(ann, form.id, **changed)

    (field,) = changed
    assert page.status_code == 422
    assert f'id="{field}-error"' in page.text or 'aria-invalid="true"' in page.text
    assert f'value="{form.id}" selected' in page.text
    assert stored(ann) == []


@pytest.mark.usefixtures("_signed_in_long_ago")
def test_after_a_while_the_password_is_asked_for_a_few_times(
    ann: Creator, form: Any, monkeypatch: pytest.MonkeyPatch
) -> None:
    asked = ann.page(NEW).text
    refused = [make(ann, form.id, current="wrong").status_code for _ in range(4)]
    event = last_event(ann)
    with monkeypatch.context() as patched:
        patched.setattr(f"{HERE}.sign_in.credentials.check_own_password", lambda *_: 0)
        made = make(ann, form.id, current="right").status_code
    refused += [make(ann, form.id, current="wrong").status_code for _ in range(3)]

    assert 'name="current" type="password"' in asked
    assert event == ("agent_token_made", "failed")
    assert (refused, made) == ([422] * 5 + [429] * 2, 200)
    assert len(stored(ann)) == 1


def last_event(ann: Creator) -> tuple[str, str]:
    with ann.context():
        request_audit.store()
        newest = select(AuditEvent).order_by(AuditEvent.at.desc(), AuditEvent.id.desc())
        event = db.session.scalars(newest.limit(1)).one()
        return event.kind, event.outcome


@pytest.mark.settings(limit_agent_tokens="2/hour")
def test_creator_and_agents_share_the_limit(app: Flask, ann: Creator, form: Any) -> None:
    access = ann.within(issue_token, ann.account.id, list(Scope), API, now=utc_now())
    headers = {"Authorization": f"Bearer {access}"}
    path = f"/api/forms/{form.id}/agent-tokens"

    first = app.test_client().post(path, headers=headers, json={}).status_code
    refused = make(ann, form.id, days="0").status_code
    done, full = make(ann, form.id), make(ann, form.id, current="a password")

    assert (first, refused, done.status_code, full.status_code) == (201, 422, 200, 429)
    assert 'name="label"' in full.text  # offered again, all but the password
    assert "a password" not in full.text
    assert app.test_client().post(path, headers=headers, json={}).status_code == 429


def test_a_revoked_token_opens_nothing(ann: Creator, form: Any) -> None:
    token = token_in(make(ann, form.id))
    found = stored(ann)[0]

    answer = ann.post(f"/connections/tokens/{found.id}/revoke")
    page = ann.page(answer.location)

    assert answer.status_code == 303
    assert answers(ann, token, form) == 401
    assert f"Revoked: Rota script , {found.hint}." in unescape(plain(page.text))
    assert "Without a name" not in page.text
    assert f"/tokens/{found.id}/revoke" not in page.text
    assert last_event(ann) == ("agent_token_revoked", "ok")
    assert "You revoked an agent token for" in ann.page("/account/activity").text
