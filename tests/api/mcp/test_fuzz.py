"""Bodies made wrong in every way: each is refused or answered, with its id, and tells nothing."""

import json
import random
from collections.abc import Iterator
from itertools import product
from typing import Any, NamedTuple

import pytest
from flask import Flask
from werkzeug.test import TestResponse

from api.mcp.endpoint import METHODS
from api.mcp.tools.table import TOOLS
from tests.api.mcp.conftest import LEGACY, META, MODERN, Host, Hosted
from tests.factories import make_account, make_answer, make_draft, make_form
from webapp.base.vocabulary import Scope

SEED = 20260728
FOREIGN = "Zwetschgendatschi"  # in every text of the other account
TEXTS = [
    "",
    " ",
    "x" * 200_000,
    "\ud800",
    "\x00",
    "\u202eabc",
    "\U0001f9d1\u0301" * 50,
    "../..",
    "%",
]
NUMBERS = [0, -1, 1.5, -0.0, 1e308, 2**63, -(2**70), 10**4000]
NESTED: list[Any] = [[], {}, [[]], {"": {"": 0}}, ["x"] * 5000, {"$ref": "#"}, {"a" * 9000: None}]
WRONG: list[Any] = [None, True, False, *TEXTS, *NUMBERS, *NESTED]


class Case(NamedTuple):
    """A body, its headers, and the id that the answer has to carry; None where there is none."""

    body: bytes
    headers: dict[str, str]
    id: str | int | None


@pytest.fixture
def ids(app: Flask, account: Any) -> dict[str, Any]:
    """What the account has, by the names of parameters."""
    with app.app_context():
        form = make_form(account.id)
        draft = make_draft(account.id)
        make_answer(form, "k" * 32)
    return {
        "formId": form.id,
        "draftId": draft.id,
        "responseId": "ses_x",
        "attachmentId": "att_x",
        "timeoutSeconds": 0,
    }


@pytest.fixture
def foreign(app: Flask) -> list[str]:
    """What another account has, none of which may be told."""
    with app.app_context():
        stranger = make_account(name=FOREIGN)
        form = make_form(stranger.id, title=FOREIGN, questions=[FOREIGN])
        make_answer(form, "s" * 32, text=FOREIGN)
        draft = make_draft(stranger.id, title=FOREIGN)
    return [FOREIGN, form.share_token, form.id, draft.id]


def cases(ids: dict[str, Any], foreign_ids: list[str]) -> Iterator[Case]:
    """Every method with every wrong parameter and every wrong envelope."""
    for number, (version, (method, params)) in enumerate(product([MODERN, LEGACY], calls(ids))):
        yield from wrong_parameters(f"{number}-", version, method, params, foreign_ids)
        yield from wrong_envelopes(version, method, params)


def calls(ids: dict[str, Any]) -> Iterator[tuple[str, dict[str, Any]]]:
    """Every method and every tool, with all parameters that it takes."""
    delivery = {"mode": "webhook", "url": "http://127.0.0.1:9/", "secret": "whsec_" + "a" * 44}
    subscription = {"name": "response.submitted", "delivery": delivery}
    known: dict[str, dict[str, Any]] = {
        "initialize": {"protocolVersion": LEGACY, "capabilities": {}, "clientInfo": {}},
        "tools/list": {"cursor": None},
        "events/subscribe": subscription
        | {"arguments": {"formId": ids["formId"]}, "cursor": None, "ttlMs": 1, "maxAgeMs": 0},
        "events/unsubscribe": subscription | {"arguments": {"formId": ids["formId"]}},
    }
    for method in sorted(METHODS.keys() - {"tools/call"}):
        yield method, known.get(method, {})
    for name in sorted(TOOLS):
        yield "tools/call", {"name": name, "arguments": arguments_of(name, ids)}


def arguments_of(tool: str, ids: dict[str, Any]) -> dict[str, Any]:
    schema: Any = TOOLS[tool].listed(events=True)["inputSchema"]
    return {name: ids.get(name) for name in schema["properties"]}


def wrong_parameters(
    prefix: str, version: str, method: str, params: dict[str, Any], foreign_ids: list[str]
) -> Iterator[Case]:
    """One parameter wrong, the others right; waiting tools keep their short time."""
    inside = params.get("arguments") if method == "tools/call" else params
    assert isinstance(inside, dict)
    right = {name: value for name, value in inside.items() if value is not None}
    wrong = [*product([*inside, "unknown"], WRONG)]
    wrong += product([name for name in inside if name.endswith("Id")], foreign_ids)
    for number, (name, value) in enumerate(wrong):
        if name == "timeoutSeconds" and (value is None or value == 1.5):
            continue  # would wait
        changed = right | {name: value}
        made = {**params, "arguments": changed} if method == "tools/call" else changed
        yield message(f"{prefix}{number}", version, method, made)
    for number, value in enumerate(WRONG):
        yield message(f"{prefix}p{number}", version, method, value)
        made = params | {"name": value, "arguments": value, "requestState": value}
        yield message(f"{prefix}n{number}", version, method, made)


def wrong_envelopes(version: str, method: str, params: dict[str, Any]) -> Iterator[Case]:
    right = envelope(7, version, method, params)
    for member, value in product(["jsonrpc", "method", "id"], WRONG):
        wrong = right | {member: value}
        known = value if member == "id" else 7
        readable = isinstance(known, (str, int)) and not isinstance(known, bool)
        yield Case(
            json.dumps(wrong).encode(),
            headers_of(version, method, params),
            known if readable else None,
        )


def message(number: str, version: str, method: str, params: Any) -> Case:
    body = json.dumps(envelope(number, version, method, params)).encode()
    return Case(body, headers_of(version, method, params), number)


def envelope(number: str | int, version: str, method: str, params: Any) -> dict[str, Any]:
    if version == MODERN and isinstance(params, dict):
        meta = {f"{META}protocolVersion": version, f"{META}clientCapabilities": {}}
        params = params | {"_meta": meta}
    return {"jsonrpc": "2.0", "id": number, "method": method, "params": params}


def headers_of(version: str, method: str, params: Any) -> dict[str, str]:
    found = {"Content-Type": "application/json", "MCP-Protocol-Version": version}
    if version == MODERN:
        found["Mcp-Method"] = method
        name = params.get("name") if isinstance(params, dict) else None
        if isinstance(name, str) and name.isascii() and name.isprintable() and len(name) < 100:
            found["Mcp-Name"] = name
    return found


def post(host: Host, case: Case) -> TestResponse:
    client = host.app.test_client(use_cookies=False)
    headers = case.headers | {"Authorization": f"Bearer {host.token}"}
    return client.post("/mcp/app", data=case.body, headers=headers)


def assert_safe(case: Case, answer: TestResponse, foreign: list[str], token: str) -> None:
    shown = case.body[:300]
    assert answer.status_code in {200, 400, 404}, (shown, answer.text[:500])
    found = json.loads(answer.data)
    assert found["jsonrpc"] == "2.0", shown
    assert found["id"] == case.id, (shown, answer.text[:500])
    assert ("result" in found) != ("error" in found), shown
    assert found.get("error", {}).get("code") != -32603, (shown, answer.text[:500])
    assert token not in answer.text
    told = [text for text in foreign if text in answer.text and text.encode() not in case.body]
    assert not told, shown


def run(host: Host, ids: dict[str, Any], foreign: list[str], most: int | None) -> int:
    chosen = list(cases(ids, foreign[2:]))
    if most is not None:
        chosen = random.Random(SEED).sample(chosen, most)  # noqa: S311
    for case in chosen:
        assert_safe(case, post(host, case), foreign, host.token)
    return len(chosen)


def test_some_wrong_bodies_are_answered_safely(
    hosted: Hosted, account: Any, ids: dict[str, Any], foreign: list[str]
) -> None:
    assert run(hosted(account.id, tuple(Scope)), ids, foreign, 300) == 300


@pytest.mark.prove
def test_thousands_of_wrong_bodies_are_answered_safely(
    hosted: Hosted, account: Any, ids: dict[str, Any], foreign: list[str]
) -> None:
    found = run(hosted(account.id, tuple(Scope)), ids, foreign, None)

    print(f"\n{found} bodies answered")
    assert found >= 2000
