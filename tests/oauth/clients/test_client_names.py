"""Names of clients that mislead: the creator is shown the client's host instead."""

import re

import pytest
from flask import Flask
from flask.testing import FlaskClient
from sqlalchemy import select, update

from tests.oauth.flow import REDIRECT, Flow, change, register
from webapp.base.database import db, utc_now
from webapp.oauth.client_metadata import is_showable
from webapp.oauth.guard import find_access_token
from webapp.oauth.models import NAMELESS, OAuthClient
from webapp.oauth.registration import create_client

MISLEADING = """
Askback|A S K B A C K|The Askback team|TheAskback|Askback official|AskBack agent|(Askback) Claude
\U0001f916 Askback|\U0001f170\ufe0fskback|Ask\U0001f171ack|\U0001f1e6skback|\U0001f150skback
VeriFied agent|OfficiaL Claude|© Askback|4 Askback|Ask\u200dback|A\u200csk\u200cback|Team Askback
Claude by Askback|Аѕкbаск|Аѕкьаск|Åskbäck|Ａｓｋｂａｃｋ|𝓐𝓼𝓴𝓫𝓪𝓬𝓴|Asĸback Askßack|4skb@ck
Claude — verified by somebody|Claude ✓|Claude (Official)|ClaudeOfficial|claude_official
Agente verificado|App oficial|Certified agent|ＶＥＲＩＦＩＥＤ|Clаude|Gοοgle
\u3164|\u2800\u2800|Agent\u3164|...|12345|\U0001f916|a\u0489b
"""
FINE = """
Example agent|Claude|ChatGPT 5|Zoë’s café agent|Агент|Βοηθός|私のエージェント AI|助手|내 에이전트
สวัสดี ผู้ช่วย|مُساعِد|सहायक|Trợ lý của Nguyễn|עוזר|Agent \U0001f916|<b>Evil</b> %(name)s
Claude Code (askback)|Unofficial Claude client|Authenticator|Certificate manager
\U0001f469\u200d\U0001f4bb Coder|می\u200cخواهم
"""
NAMES = [
    *((name, False) for name in re.split(r"[|\n]", MISLEADING.strip())),
    *((name, False) for name in ("Z" + "\u0301" * 79, "a" + "\u0301\u0323" * 40)),
    *((name, True) for name in re.split(r"[|\n]", FINE.strip())),
]


def stored(client_id: str) -> OAuthClient:
    return db.session.scalars(select(OAuthClient).where(OAuthClient.client_id == client_id)).one()


@pytest.mark.parametrize(("name", "shown"), NAMES)
def test_a_name_that_misleads_is_not_shown(name: str, *, shown: bool) -> None:
    assert is_showable(name) == shown


THEIRS, EVIL = "https://claude.ai/api/mcp/auth_callback", "https://evil.example/cb"


@pytest.mark.usefixtures("app_context")
@pytest.mark.parametrize(
    ("redirect_uris", "shown"),
    [
        *((uris, NAMELESS) for uris in ([THEIRS, EVIL], [EVIL, THEIRS], ["claude.ai:/cb"])),
        (["claude.ai:/cb", THEIRS], NAMELESS),
        ([THEIRS, "https://claude.ai:8443/other", "https://CLAUDE.ai/cb"], "claude.ai"),
    ],
)
def test_only_the_host_where_every_code_goes_is_a_name_but_the_operator_may_give_any(
    redirect_uris: list[str], shown: str, client: FlaskClient
) -> None:
    body = register(client, client_name="Askback", redirect_uris=redirect_uris)
    made, _ = create_client("Askback command line", [REDIRECT], public=True, now=utc_now())

    assert stored(body["client_id"]).name == shown
    assert stored(made).name == "Askback command line"


def test_a_name_is_judged_whenever_it_is_shown(app: Flask, flow: Flow) -> None:
    body = flow.connect()
    change(app, update(OAuthClient).values(given_name="Askback"))

    with app.app_context():
        caller = find_access_token(body["access_token"])
        assert caller is not None
        assert caller.client_name == "app.example"
    assert "<bdi>app.example</bdi>" in flow.browser.get("/connections").text
