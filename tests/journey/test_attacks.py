"""Attacks from outside on a running installation: both run modes, production behind TLS.

Each attack comes from network addresses of its own, so that none uses up the limits of another.
"""

import re
import time
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import ExitStack
from urllib.parse import urlencode

import httpx
import pytest
from flask import Flask

from tests.command import askback
from tests.event_streams import open_stream
from tests.journey.people import PASSWORD
from tests.journey.target import (
    BOTH_MODES,
    OWNER,
    QUIET_SECONDS,
    Target,
    csrf_token,
    others_are_served,
    post,
    prepared,
)
from tests.services import wait_until

LIMITS = {"LIMIT_AGENT_TOKENS": "100/hour"}
EVIL = {"Origin": "https://evil.example", "Sec-Fetch-Site": "cross-site"}
MARKS = "a" + "\u0301\u0323" * 75_000  # two classes in turn: slow to sort; not yet too large a form


@pytest.fixture(scope="module", params=BOTH_MODES)
def target(
    request: pytest.FixtureRequest, tmp_path_factory: pytest.TempPathFactory
) -> Iterator[Target]:
    with prepared(request, tmp_path_factory.mktemp("attacked"), **LIMITS) as found:
        yield found


def guess(browser: httpx.Client, email: str = OWNER, **headers: str) -> int:
    """One wrong password; the status."""
    browser.headers.update(headers)
    return post(browser, "/login", email=email, password="not this one").status_code


def test_parallel_guesses_are_all_counted(target: Target) -> None:
    with target.browser() as browser:
        token = csrf_token(browser.get("/login"))
        form = {"csrf_token": token, "email": OWNER, "password": "not this one"}
        headers = {"Referer": f"{target.installation.url}/login"}

        def one(_number: int) -> int:
            return browser.post("/login", data=form, headers=headers).status_code

        with ThreadPoolExecutor(50) as pool:
            statuses = list(pool.map(one, range(150)))

    assert (statuses.count(422), statuses.count(429)) == (5, 145)


def test_forwarded_address_spellings_evade_no_limit(target: Target) -> None:
    spellings = ["garbage", "unknown", "_obf", "unix:", "[2001:db8:1::1]:99", "203.0.113.10:4711"]
    with target.browser() as browser:
        statuses = [
            guess(browser, "eve@fernhill.example", **{"X-Forwarded-For": spelling})
            for spelling in spellings * 2
        ]

    assert statuses == [422] * 5 + [429] * 7


@pytest.mark.prove
def test_strangers_lock_no_known_browser_out(target: Target) -> None:
    for _ in range(25):  # more than the account takes from everybody together
        with target.browser() as stranger:
            for _ in range(5):
                guess(stranger)
    with target.browser() as newcomer:
        assert guess(newcomer) == 429

    with target.browser() as known:
        device = [cookie for cookie in target.owner.cookies.jar if "device" in cookie.name]
        known.cookies.update({cookie.name: cookie.value or "" for cookie in device})
        signed_in = post(known, "/login", email=OWNER, password=PASSWORD)

    assert signed_in.status_code == 303


@pytest.mark.parametrize("name", ["email", "password"])
def test_text_that_is_slow_to_normalize_does_not_block_others(target: Target, name: str) -> None:
    given = {"email": "slow@fernhill.example", "password": "x"} | {name: MARKS}
    with target.browser() as browser, others_are_served(target):
        assert post(browser, "/login", **given).status_code == 422


@pytest.mark.parametrize(
    "body",
    [
        urlencode({"email": "x" * 30_000_000}),
        "&".join(f"field{number}=" for number in range(2000)),
    ],
    ids=["30 MB", "2,000 fields"],
)
def test_forms_that_no_page_of_ours_sends_are_refused(target: Target, body: str) -> None:
    headers = {"Content-Type": "application/x-www-form-urlencoded"}
    with target.browser() as browser, others_are_served(target):
        refused = browser.post("/login", content=body, headers=headers)

    assert (refused.status_code, refused.headers["Content-Type"][:9]) == (413, "text/html")


def answer(browser: httpx.Client, target: Target, words: str) -> None:
    """As somebody new."""
    page = browser.get(f"{target.share_url}/q/1")
    fields = dict(re.findall(r'name="(session|answer_key)" value="([^"]*)"', page.text))
    kept = browser.post(f"{target.share_url}/q/1", data={**fields, "answer": words})
    assert kept.status_code == 200
    browser.cookies.clear()


def test_answers_that_are_slow_to_search_do_not_block_others(target: Target) -> None:
    with target.browser() as browser:
        for _ in range(10):
            answer(browser, target, "\u0301\u0323" * 10_000)

    with others_are_served(target):
        began = time.monotonic()
        assert target.owner.get(f"/forms/{target.form_id}?q=hello").status_code == 200
        assert time.monotonic() - began < 5


def post_paths(app: Flask, **known: str) -> set[str]:
    """The address of every route that takes a POST; 1 stands for parts that are not `known`."""
    rules = [rule.rule for rule in app.url_map.iter_rules() if "POST" in (rule.methods or ())]
    return {re.sub(r"<(?:\w+:)?(\w+)>", lambda part: known.get(part[1], "1"), r) for r in rules}


def test_cross_site_posts_neither_set_nor_end_sessions(target: Target, app: Flask) -> None:
    with target.browser() as browser:
        page = browser.get(f"{target.share_url}/q/1")
        fields = dict(re.findall(r'name="(session|answer_key)" value="([^"]*)"', page.text))
        paths = post_paths(app, share_token=target.share_url.rpartition("/")[2])
        ours = sorted(path for path in paths if path.startswith("/r/"))
        for path in ours:
            data = {**fields, "answer": "planted"}
            answer = browser.post(path, data=data, headers=EVIL)
            assert "Set-Cookie" not in answer.headers, path
            assert answer.status_code in {403, 404}, (path, answer.status_code)
    assert len(ours) > 10
    with target.agent() as agent:
        found = agent.get(f"/api/forms/{target.form_id}/responses").text

    assert "planted" not in found


def test_forged_posts_of_a_creator_do_nothing(target: Target, app: Flask) -> None:
    known = {"draft_id": target.draft_id, "form_id": target.form_id}
    guarded = [
        path
        for path in post_paths(app, **known)
        if not path.startswith(("/api", "/mcp", "/oauth/token", "/oauth/re", "/r/"))
    ]
    assert len(guarded) > 30
    for path in sorted(guarded):
        for headers in (EVIL, {}):
            refused = target.owner.post(path, data={"csrf_token": "guessed"}, headers=headers)
            assert refused.status_code in {400, 403, 404}, (path, refused.status_code)


def test_the_session_of_a_creator_opens_nothing_to_mcp_hosts(target: Target) -> None:
    call = {"jsonrpc": "2.0", "id": 1, "method": "tools/list"}

    assert target.owner.post("/mcp/app", json=call, headers=EVIL).status_code == 403
    assert target.owner.post("/mcp/app", json=call).status_code == 401


def test_a_draft_that_is_slow_to_compare_does_not_block_others(target: Target) -> None:
    def questions(first: int) -> list[str]:
        numbers = range(first, first + 20)
        return [" ".join(f"w{(n * k) % 97}" for k in range(1, 200)) for n in numbers]

    with target.agent() as agent:
        draft = f"/api/drafts/{target.draft_id}"
        assert agent.patch(draft, json={"questions": questions(3)}).status_code == 200
        target.owner.get(f"/drafts/{target.draft_id}")
        assert agent.patch(draft, json={"questions": questions(29)}).status_code == 200

    with others_are_served(target):
        for path in ("/drafts", f"/drafts/{target.draft_id}"):
            began = time.monotonic()
            assert target.owner.get(path).status_code == 200
            assert time.monotonic() - began < QUIET_SECONDS, path


def test_the_streams_of_an_account_leave_room_for_others(target: Target) -> None:
    """Of one process, which each process bounds by itself."""
    port = target.installation.ports[0]
    address = f"/api/agent/asks/{target.form_id}/stream"
    with target.agent() as agent:
        made = [agent.post(f"/api/forms/{target.form_id}/agent-tokens", json={}) for _ in range(33)]
        tokens = [each.json()["token"] for each in made]
        with ExitStack() as stack, others_are_served(target):
            streams = [
                stack.enter_context(open_stream(port, address, f"Authorization: Bearer {token}"))
                for token in tokens
                for _ in range(4)
            ]
        statuses = [stream.status for stream in streams]
        assert (statuses.count(200), statuses.count(429)) == (125, 7)
        assert {each.headers["retry-after"] for each in streams if each.status == 429} == {"5"}
        wait_until(lambda: one_more(port, address, tokens[-1]), "giving the places back", 10)


def one_more(port: int, address: str, token: str) -> bool:
    with open_stream(port, address, f"Authorization: Bearer {token}") as stream:
        return stream.status == 200


def test_no_answer_is_sent_to_a_token_that_was_revoked(target: Target) -> None:
    """By streams of each process, wherever the creator and the respondent are served."""
    address = f"/api/agent/asks/{target.form_id}"
    with target.agent() as agent, target.browser() as browser, ExitStack() as stack:
        made = agent.post(f"/api/forms/{target.form_id}/agent-tokens", json={}).json()
        authorization = f"Authorization: Bearer {made['token']}"
        streams = [
            stack.enter_context(open_stream(port, f"{address}/stream", authorization))
            for port in target.installation.ports
        ]
        answer(browser, target, "Before")
        for stream in streams:
            while stream.next("answer").data["answerText"] != "Before":
                pass
        ended = post(target.owner, "/connections/tokens/revoke-all", seen_at="/connections")
        assert ended.status_code == 303
        answer(browser, target, "Later")
        rest = [[event.data for event in stream.events()] for stream in streams]

    assert rest == [[{"reason": "revoked"}]] * len(streams)


def test_hostile_text_is_escaped(target: Target) -> None:
    link = askback("creator", "link", **target.installation.variables).stdout.strip()
    with target.browser() as browser:
        for text in ("a%(zz)s@x.y", "100%@x.y", "<img/src=x/onerror=alert(1)>@x.y"):
            given = {"email": text, "name": text, "password": "short"}
            refused = post(browser, httpx.URL(link).path, **given)
            assert refused.status_code == 422
            assert "<img" not in refused.text


def test_a_self_registered_client_cannot_redirect_visitors(target: Target) -> None:
    redirect = "https://evil.example/land"
    with target.browser() as browser:
        metadata = {"client_name": "x", "redirect_uris": [redirect]}
        registered = browser.post("/oauth/register", json=metadata)
        asked = {
            "client_id": registered.json()["client_id"],
            "redirect_uri": redirect,
            "response_type": "code",
            "prompt": "none",
            "scope": "forms:read",
            "code_challenge": "x" * 43,
            "code_challenge_method": "S256",
        }
        for wrong in ({}, {"resource": "https://evil.example"}, {"code_challenge_method": "plain"}):
            answer = browser.get(f"/oauth/authorize?{urlencode(asked | wrong)}")
            assert "evil.example" not in answer.headers.get("Location", "")
            assert answer.status_code < 500


def test_the_audit_trail_has_the_attacks_and_no_secret(target: Target) -> None:
    listed = askback("audit", "--json", "--limit", "1000", **target.installation.variables).stdout
    written = listed + "".join(log.read_text() for log in target.installation.logs)

    assert re.search(r'"sign_in"[^\n]*"failed"|"failed"[^\n]*"sign_in"', listed)
    assert [secret for secret in (PASSWORD, target.token, "planted") if secret in written] == []
