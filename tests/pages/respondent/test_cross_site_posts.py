"""Cross-site POSTs to respondent pages change nothing and set no cookie."""

from typing import Any

import pytest
from flask import Flask
from flask.testing import FlaskClient
from sqlalchemy import select

from tests.factories import make_answer
from tests.pages.respondent_client import Respondent, arrive, box, heading, hidden, stored, texts
from webapp.answers.device_transfer import create_transfer_link
from webapp.base.database import db, utc_now
from webapp.pages.respondent.form_data import new_session_key
from webapp.web.limiter import limiter

THEIRS = "https://evil.example"
OURS = "http://127.0.0.1:8000"
KEY = "k" * 32
FOREIGN = [
    {"Sec-Fetch-Site": "cross-site"},
    {"Sec-Fetch-Site": "same-site", "Origin": OURS},
    {"Sec-Fetch-Site": "same-origin", "Origin": THEIRS},
    {"Origin": THEIRS},
    {"Origin": "null"},
    {"Origin": f"{OURS}.evil.example"},
]
OWN = [
    {},
    {"Origin": OURS},
    {"Sec-Fetch-Site": "same-origin", "Origin": OURS},
    {"Sec-Fetch-Site": "none"},
]
HEADING = "Go on from here."


def post_paths(app: Flask) -> list[str]:
    """The path behind the share link of every route that takes a POST, for question 1."""
    rules = [rule for rule in app.url_map.iter_rules() if rule.rule.startswith("/r/")]
    paths = [rule.rule.partition(">")[2] for rule in rules if "POST" in (rule.methods or ())]
    return sorted(path.replace("<question:place>", "1") for path in paths)


def every_row(app: Flask) -> dict[str, list[Any]]:
    with app.app_context():
        tables = db.metadata.sorted_tables
        return {table.name: list(db.session.execute(select(table))) for table in tables}


@pytest.fixture
def planted(app: Flask, form: Any) -> dict[str, str]:
    """All fields that a page of a started session may post, language and theme included."""
    with app.app_context():
        key = new_session_key()
        make_answer(form, key, text="by the attacker")
        secret = create_transfer_link(form.share_token, key, now=utc_now())
    return {
        "session": key,
        "answer_key": KEY,
        "answer": "<script>alert(1)</script>",
        "secret": secret,
        "claim": KEY,
        "lang": "de",
        "theme": "dark",
    }


@pytest.mark.parametrize("headers", FOREIGN, ids=str)
def test_a_cross_site_post_to_any_route_changes_nothing(
    app: Flask, respondent: Respondent, planted: dict[str, str], headers: dict[str, str]
) -> None:
    respondent.answer(1, "mine")
    mine = respondent.client.get_cookie("askback_r", "127.0.0.1", f"/r/{respondent.share_token}")
    before = every_row(app)

    paths = post_paths(app)
    assert {"/q/1", "/check", "/resume", "/another", "/continue", "/withdraw/now"} <= set(paths)
    for path in paths:
        where = f"/r/{respondent.share_token}{path}"
        answer = respondent.client.post(where, data=planted, headers=headers)

        assert answer.status_code == 403, path
        assert "Set-Cookie" not in answer.headers, path
        assert planted["session"] not in answer.text, path
        assert planted["secret"] not in answer.text, path
        assert box(answer) == planted["answer"], path
        assert "<script>alert" not in answer.text, path
        assert f'action="/r/{respondent.share_token}"' in answer.text, path
    assert every_row(app) == before
    assert mine == respondent.client.get_cookie(
        "askback_r", "127.0.0.1", f"/r/{respondent.share_token}"
    )
    assert heading(respondent.open()) == "What went wrong?"


@pytest.mark.parametrize("headers", OWN, ids=str)
def test_same_origin_posts_and_browsers_without_fetch_metadata_are_served(
    app: Flask, respondent: Respondent, headers: dict[str, str]
) -> None:
    sent = hidden(respondent.page) | {"answer": "Me"}

    answer = respondent.client.post(
        f"/r/{respondent.share_token}/q/1", data=sent, headers=headers, base_url=OURS
    )

    assert answer.status_code == 200
    assert "askback_r=" in answer.headers["Set-Cookie"]
    assert texts(app) == ["Me"]


@pytest.mark.settings(public_url="https://forms.example", trusted_hosts=("askback.example",))
@pytest.mark.parametrize("host", ["forms.example", "askback.example"])
def test_behind_a_proxy_all_configured_hosts_are_same_origin(
    app: Flask, client: FlaskClient, form: Any, host: str
) -> None:
    """The proxy ends TLS and says nothing about it."""
    begun = Respondent(client, form.share_token, client.get(f"/r/{form.share_token}"))
    sent = hidden(begun.page) | {"answer": "Me"}
    path = f"/r/{form.share_token}/q/1"

    statuses = [
        client.post(path, data=sent, headers={"Origin": origin}, base_url=f"http://{host}")
        for origin in (f"https://{host}", "https://evil.example")
    ]

    assert [answer.status_code for answer in statuses] == [200, 403]


@pytest.mark.settings(limit_answer_session="1/minute", limit_answer_address="1/minute")
def test_a_cross_site_post_is_not_counted_and_not_offered_again(
    app: Flask, client: FlaskClient, form: Any
) -> None:
    """The page of a reached limit sends the same fields again, from our own origin."""
    limiter.reset()
    where, sent = f"/r/{form.share_token}/q/1", {"session": KEY, "answer": "Me"}

    pages = [client.post(where, data=sent, headers=FOREIGN[0]) for _ in range(3)]

    assert {page.status_code for page in pages} == {403}
    assert not any(KEY in page.text for page in pages)
    assert arrive(client, form).answer(1, "Me").status_code == 200
    assert stored(app) == (1, 1)
    limiter.reset()
