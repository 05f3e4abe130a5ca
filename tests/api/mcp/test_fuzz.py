"""Bodies made wrong in every way: each is refused or answered, with its id, and tells nothing."""

import json
import random
from collections.abc import Iterator
from itertools import product
from typing import Any, NamedTuple

import pytest
from flask import Flask

from api.mcp.endpoint import METHODS
from api.mcp.tools.table import TOOLS
from tests.api.mcp.conftest import LEGACY, META, MODERN, Host, Hosted
from tests.factories import make_account, make_answer, make_draft, make_form
from webapp.base.vocabulary import Scope

SEED = 20260728
FOREIGN = "Zwetschgendatschi"  # in every text of the other account
WRONG: list[Any] = [None, True, False, 0, -1, 1.5, -0.0, 1e308, 2**63, -(2**70), 10**4000]
WRONG += ["", " ", "x" * 200_000, "\ud800", "\x00", "\u202eabc", "\U0001f9d1\u0301" * 50, "../.."]
WRONG += [[], {}, [[]], {"": {"": 0}}, ["x"] * 5000, {"$ref": "#"}, {"a" * 9000: None}]


class Case(NamedTuple):
    """A message, its headers, and the id that the answer has to carry; None where there is none."""

    body: dict[str, Any]
    headers: dict[str, str]
    id: str | int | None


@pytest.fixture
def known(app: Flask, account: Any) -> dict[str, Any]:
    """What the account has, by the names of parameters."""
    with app.app_context():
        form, draft = make_form(account.id), make_draft(account.id)
        make_answer(form, "k" * 32)
    ids = {"formId": form.id, "draftId": draft.id, "responseId": "ses_x", "attachmentId": "att_x"}
    return ids | {"timeoutSeconds": 0}


@pytest.fixture
def foreign(app: Flask) -> list[str]:
    """What another account has, none of which may be told."""
    with app.app_context():
        stranger = make_account(name=FOREIGN)
        form = make_form(stranger.id, title=FOREIGN, questions=[FOREIGN])
        make_answer(form, "s" * 32, text=FOREIGN)
        draft = make_draft(stranger.id, title=FOREIGN)
    return [FOREIGN, form.share_token, form.id, draft.id]


def cases(known: dict[str, Any], foreign_ids: list[str]) -> Iterator[Case]:
    """Every method and tool of each era: one parameter wrong, all of them, or the envelope."""
    for version, (method, params) in product((MODERN, LEGACY), calls(known)):
        for made in [*wrong_parameters(method, params, foreign_ids), *WRONG]:
            yield message(version, method, made)
        for value in WRONG:
            wrong = {"name": value, "arguments": value, "requestState": value}
            yield message(version, method, params | wrong)
        for member, value in product(("jsonrpc", "method", "id"), WRONG):
            right = message(version, method, params)
            readable = isinstance(value, (str, int)) and not isinstance(value, bool)
            known_id = (value if readable else None) if member == "id" else 7
            yield Case(right.body | {member: value}, right.headers, known_id)


def calls(known: dict[str, Any]) -> Iterator[tuple[str, dict[str, Any]]]:
    """Every method and every tool, with all parameters that it takes."""
    delivery = {"mode": "webhook", "url": "http://127.0.0.1:9/", "secret": "whsec_" + "a" * 44}
    of_form = {"name": "response.submitted", "arguments": {"formId": known["formId"]}}
    taken: dict[str, dict[str, Any]] = {
        "initialize": {"protocolVersion": LEGACY, "capabilities": {}, "clientInfo": {}},
        "tools/list": {"cursor": None},
        "events/subscribe": of_form
        | {"delivery": delivery, "cursor": None, "ttlMs": 1, "maxAgeMs": 0},
        "events/unsubscribe": of_form | {"delivery": delivery},
    }
    for method in sorted(METHODS.keys() - {"tools/call"}):
        yield method, taken.get(method, {})
    for name, tool in sorted(TOOLS.items()):
        schema: Any = tool.listed(events=True)["inputSchema"]
        given = {each: known.get(each) for each in schema["properties"]}
        yield "tools/call", {"name": name, "arguments": given}


def wrong_parameters(
    method: str, params: dict[str, Any], foreign_ids: list[str]
) -> Iterator[dict[str, Any]]:
    """One parameter wrong, the others right; waiting tools keep their short time."""
    inside = params["arguments"] if method == "tools/call" else params
    right = {name: value for name, value in inside.items() if value is not None}
    wrong = [*product([*inside, "unknown"], WRONG)]
    wrong += product([name for name in inside if name.endswith("Id")], foreign_ids)
    for name, value in wrong:
        if name != "timeoutSeconds" or value not in (None, 1.5, "", []):  # these would wait
            changed = right | {name: value}
            yield {**params, "arguments": changed} if method == "tools/call" else changed


def message(version: str, method: str, params: Any) -> Case:
    headers = {"MCP-Protocol-Version": version}
    if version == MODERN:
        headers["Mcp-Method"] = method
        name = params.get("name") if isinstance(params, dict) else None
        if isinstance(name, str) and name.isascii() and name.isprintable() and len(name) < 100:
            headers["Mcp-Name"] = name
        if isinstance(params, dict):
            meta = {f"{META}protocolVersion": version, f"{META}clientCapabilities": {}}
            params = params | {"_meta": meta}
    return Case({"jsonrpc": "2.0", "id": 7, "method": method, "params": params}, headers, 7)


def assert_safe(host: Host, case: Case, foreign: list[str]) -> None:
    answer, sent = host.post(case.body, case.headers), json.dumps(case.body)
    assert answer.status_code in {200, 400, 404}, (sent[:300], answer.text[:500])
    found = json.loads(answer.data)
    assert found["jsonrpc"] == "2.0"
    assert found["id"] == case.id, (sent[:300], answer.text[:500])
    assert ("result" in found) != ("error" in found), sent[:300]
    assert found.get("error", {}).get("code") != -32603, (sent[:300], answer.text[:500])
    assert host.token not in answer.text
    assert not [each for each in foreign if each in answer.text and each not in sent], sent[:300]


@pytest.mark.parametrize("most", [300, pytest.param(None, marks=pytest.mark.prove)])
def test_wrong_bodies_are_answered_safely(
    hosted: Hosted, account: Any, known: dict[str, Any], foreign: list[str], most: int | None
) -> None:
    host, chosen = hosted(account.id, tuple(Scope)), list(cases(known, foreign[2:]))
    assert len(chosen) > 2000

    for case in random.Random(SEED).sample(chosen, most or len(chosen)):  # noqa: S311
        assert_safe(host, case, foreign)
