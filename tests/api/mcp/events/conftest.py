"""Hosts that subscribe: each tells the numbers of errors by its era and what it declares."""

from typing import Any

import pytest

from tests.api.mcp.conftest import META, Host, Hosted
from tests.webhook_receiver import SECRET, URL
from webapp.base.vocabulary import Scope

EVENT = "response.submitted"
DECLARED = {"extensions": {f"{META}events": {}}}
PLAIN_CODES = {
    "NotFound": -32011,
    "Forbidden": -32012,
    "ResourceExhausted": -32013,
    "Unsupported": -32014,
    "CallbackEndpointError": -32015,
}
EXTENSION_CODES = {name: code - 12 for name, code in PLAIN_CODES.items()}


@pytest.fixture(params=["plain", "extension"])
def host(request: pytest.FixtureRequest, hosted: Hosted, account: Any) -> Host:
    found = hosted(account.id, tuple(Scope))
    found.capabilities = DECLARED if request.param == "extension" else {}
    return found


def asked(form: Any, **changed: Any) -> dict[str, Any]:
    delivery = {"mode": "webhook", "url": URL, "secret": SECRET}
    delivery |= {name: changed.pop(name) for name in ("url", "secret", "mode") if name in changed}
    given = {"name": EVENT, "arguments": {"formId": form.id}, "delivery": delivery}
    return given | changed


def held(form: Any, url: str = URL) -> dict[str, Any]:
    return {"name": EVENT, "arguments": {"formId": form.id}, "delivery": {"url": url}}


def subscribe(host: Host, form: Any, **changed: Any) -> dict[str, Any]:
    found = host.result("events/subscribe", asked(form, **changed))
    return {name: value for name, value in found.items() if name not in ("resultType", "_meta")}


def error(host: Host, method: str, params: dict[str, Any]) -> dict[str, Any]:
    answer = host.send(method, params)
    body: dict[str, Any] = answer.get_json()
    assert body["id"] == 7
    found: dict[str, Any] = body["error"]
    assert answer.status_code == (400 if found["code"] == -32602 else 200), answer.text
    return found


def named(host: Host, name: str, **data: Any) -> dict[str, Any]:
    codes = EXTENSION_CODES if host.capabilities == DECLARED else PLAIN_CODES
    return {"code": codes[name], "message": name, "data": data}
