"""Names of clients that mislead: the creator is shown the client's host instead."""

from typing import Any

import pytest
from flask import Flask
from flask.testing import FlaskClient
from sqlalchemy import select

from tests.oauth.flow import REDIRECT, register
from webapp.database import db, utc_now
from webapp.oauth.client_names import is_showable
from webapp.oauth.models import OAuthClient
from webapp.oauth.redirects import stays_on_this_computer
from webapp.oauth.registration import create_client

MISLEADING = [
    "Askback",
    "A S K B A C K",
    "The Askback team",
    "Аѕкbаск",
    "Аѕкьаск",
    "Åskbäck",
    "Ａｓｋｂａｃｋ",
    "𝓐𝓼𝓴𝓫𝓪𝓬𝓴",
    "Asĸback Askßack",
    "4skb@ck",
    "Claude — verified by somebody",
    "Claude ✓",
    "Claude (Official)",
    "Certified agent",
    "ＶＥＲＩＦＩＥＤ",
    "Clаude",  # a Cyrillic letter
    "Gοοgle",  # two Greek ones
    "\u3164",
    "\u2800\u2800",
    "Agent\u3164",
    "...",
    "12345",
    "\U0001f916",
    "Z" + "\u0301" * 79,
    "a\u0489b",
]
FINE = [
    "Example agent",
    "Claude",
    "ChatGPT 5",
    "Zoë’s café agent",
    "Агент",
    "Βοηθός",
    "私のエージェント AI",
    "助手",
    "내 에이전트",
    "สวัสดี ผู้ช่วย",
    "مُساعِد",
    "सहायक",
    "Trợ lý của Nguyễn",
    "עוזר",
    "Agent \U0001f916",
    "<b>Evil</b> %(name)s",
]


def shown(app: Flask, body: dict[str, Any]) -> str:
    with app.app_context():
        name = db.session.scalar(
            select(OAuthClient.name).where(OAuthClient.client_id == body["client_id"])
        )
    assert name is not None
    return name


@pytest.mark.parametrize("name", MISLEADING)
def test_a_name_that_misleads_is_not_shown(app: Flask, client: FlaskClient, name: str) -> None:
    assert shown(app, register(client, client_name=name)) == "app.example"


@pytest.mark.parametrize("name", FINE)
def test_other_names_are_shown(app: Flask, client: FlaskClient, name: str) -> None:
    assert shown(app, register(client, client_name=name)) == name


@pytest.mark.usefixtures("app_context")
def test_the_operator_may_give_any_name() -> None:
    client_id, _ = create_client("Askback command line", [REDIRECT], public=True, now=utc_now())

    names = db.session.scalars(
        select(OAuthClient.name).where(OAuthClient.client_id == client_id)
    ).all()
    assert names == ["Askback command line"]


def test_a_name_of_marks_takes_no_time() -> None:
    assert not is_showable("a" + "\u0301\u0323" * 40)


@pytest.mark.parametrize(
    ("uri", "local"),
    [
        ("http://127.0.0.1:9/cb", True),
        ("http://localhost/cb", True),
        ("https://localhost:8443/cb", True),
        ("https://127.0.0.1/cb", True),
        ("https://[::1]:8443/cb", True),
        ("https://app.localhost/cb", True),
        ("https://app.example/cb", False),
        ("https://localhost.example/cb", False),
        ("com.example.app:/cb", False),
    ],
)
def test_which_redirects_stay_on_this_computer(uri: str, local: bool) -> None:  # noqa: FBT001
    assert stays_on_this_computer(uri) == local
