"""Every limit that can be set counts at some address."""

import re

import pytest
from flask import Flask

from tests.oauth.flow import enter
from webapp.base.config import VARIABLES
from webapp.base.database import utc_now
from webapp.base.vocabulary import Scope
from webapp.oauth.tokens import issue_token
from webapp.records.accounts.models import Account
from webapp.web.limiter import LimitStorage

# each limit has an amount of its own, by which its counting is recognised
AMOUNTS = {
    variable.lower(): 1_000 + number
    for number, (variable, field) in enumerate(VARIABLES.items())
    if variable.startswith("LIMIT_") and isinstance(field.default, str)
}
limits = {name: f"{amount}/day" for name, amount in AMOUNTS.items()}


@pytest.fixture
def counted(monkeypatch: pytest.MonkeyPatch) -> set[int]:
    """The amounts of all limits that something was counted or looked up for."""
    amounts: set[int] = set()

    def acquire(_self: LimitStorage, _key: str, limit: int, *_: int, **__: int) -> bool:
        amounts.add(limit)
        return True

    def window(_self: LimitStorage, _key: str, limit: int, *_: int) -> tuple[float, int]:
        amounts.add(limit)
        return 0, 0

    monkeypatch.setattr(LimitStorage, "acquire_entry", acquire)
    monkeypatch.setattr(LimitStorage, "get_moving_window", window)
    return amounts


def call_everything(app: Flask, account: Account) -> None:
    """By nobody, a signed-in creator, and an agent."""
    with app.app_context():
        token = issue_token(account.id, Scope, app.config["SETTINGS"].api_url, now=utc_now())
    creator = app.test_client()
    enter(creator, account)
    nobody, agent = app.test_client(), {"Authorization": f"Bearer {token}"}
    for rule in app.url_map.iter_rules():
        path = re.sub("<[^>]*>", "x", re.sub("<(int|question):[^>]*>", "1", rule.rule))
        for method in (rule.methods or set()) & {"GET", "POST", "PATCH"}:
            for client, headers in ((nobody, {}), (creator, {}), (nobody, agent)):
                client.open(path, method=method, headers=headers)


@pytest.mark.settings(**limits)
def test_each_limit_counts(
    app: Flask, account: Account, counted: set[int], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setitem(app.config, "WTF_CSRF_ENABLED", False)  # noqa: FBT003
    call_everything(app, account)

    assert set(AMOUNTS.values()) <= counted
