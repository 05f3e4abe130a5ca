"""`get_attachment`: a recording as audio, and its signed address, which ends soon."""

import base64
import secrets
from collections.abc import Callable
from datetime import datetime, timedelta
from typing import Any

import mcp_types
import pytest
from flask import Flask
from itsdangerous import URLSafeSerializer
from werkzeug.test import TestResponse

from api.mcp.tools import forms as tools
from tests.api.mcp.conftest import LEGACY, MODERN, Host, Hosted
from tests.factories import make_account, make_answer, make_form
from tests.voice.factories import make_spoken_answer, make_stored_answer
from webapp.answers import answering, trash
from webapp.base.database import utc_now
from webapp.oauth import connections
from webapp.oauth.tokens import COMMAND_LINE_CLIENT
from webapp.records.accounts.models import disable_account

TOOL = "get_attachment"
ORIGIN = "http://127.0.0.1:8000"
KEY = "k" * 32
SOUND = b"\x1aE\xdf\xa3sound" * 400
HEADERS = ("Content-Type", "Content-Length", "Content-Disposition", "Content-Security-Policy")
HEADERS += ("Cross-Origin-Resource-Policy", "Cache-Control", "Accept-Ranges")
HEADERS += ("X-Content-Type-Options", "Referrer-Policy")


@pytest.fixture
def attachment(app: Flask, form: Any) -> Any:
    with app.app_context():
        made = make_stored_answer(form, KEY, content=SOUND, duration_ms=42_195)
        return {"id": made.id, "answerId": made.answer_id}


def opened(result: mcp_types.CallToolResult, host: Host, **headers: str) -> TestResponse:
    return fetch(host, (result.structured_content or {})["url"], headers=headers)


def fetch(host: Host, url: str, method: str = "GET", **request: Any) -> TestResponse:
    path = url.removeprefix(ORIGIN)
    return host.app.test_client(use_cookies=False).open(path, method=method, **request)


@pytest.mark.parametrize("version", [MODERN, LEGACY, "2025-06-18"])
def test_a_recording_comes_as_audio_with_its_facts_and_its_address(
    hosted: Hosted, form: Any, attachment: Any, version: str
) -> None:
    host = hosted(form.account_id, version=version)

    result = host.use(TOOL, formId=form.id, attachmentId=attachment["id"])

    found = result.structured_content or {}
    made = ("untrusted", "name", "url", "expiresAt")
    assert found == attachment | {name: found[name] for name in made} | {
        "type": "audio/webm",
        "size": len(SOUND),
        "contentOmitted": False,
        "formId": form.id,
        "durationSeconds": 42.195,
        "agentUrl": f"{ORIGIN}/api/agent/asks/{form.id}/attachments/{attachment['id']}",
    }
    _, _, audio, link, _ = result.content  # the marks stand around all of it
    assert isinstance(audio, mcp_types.AudioContent)
    assert (base64.b64decode(audio.data), audio.mime_type) == (SOUND, "audio/webm")
    assert opened(result, host).data == SOUND
    assert isinstance(link, mcp_types.ResourceLink)
    assert (str(link.uri), link.name) == (found["url"], found["name"])
    assert (link.mime_type, link.size) == ("audio/webm", len(SOUND))


@pytest.mark.parametrize("version", ["2025-03-26", "2024-11-05", None])
def test_an_early_version_or_none_gets_the_address_alone(
    hosted: Hosted, form: Any, attachment: Any, version: str | None
) -> None:
    host = hosted(form.account_id)
    arguments = {"formId": form.id, "attachmentId": attachment["id"]}
    params = {"name": TOOL, "arguments": arguments}
    headers = {"MCP-Protocol-Version": version} if version else {}

    body = {"jsonrpc": "2.0", "id": 7, "method": "tools/call", "params": params}
    found = host.post(body, headers).json["result"]

    result = mcp_types.CallToolResult.model_validate(found)
    assert [block.type for block in result.content] == ["text"] * 3
    assert found["structuredContent"]["contentOmitted"] is True
    assert opened(result, host).data == SOUND


@pytest.mark.parametrize("more", [0, 1, None])
def test_a_recording_above_1_mib_or_lost_is_at_its_address_alone(
    app: Flask, hosted: Hosted, form: Any, more: int | None
) -> None:
    sound, key = b"s" * (1024**2 + (more or 0)), secrets.token_urlsafe(24)
    with app.app_context():
        lost = more is None  # from the store
        made = (
            make_spoken_answer(form, key) if lost else make_stored_answer(form, key, content=sound)
        )
        recording_id = made.id
    host = hosted(form.account_id)

    result = host.use(TOOL, formId=form.id, attachmentId=recording_id)

    audio = ["audio"] if more == 0 else []
    kinds = ["text", "text", *audio, "resource_link", "text"]
    assert [block.type for block in result.content] == kinds
    assert (result.structured_content or {})["contentOmitted"] == (not audio)
    answer = opened(result, host)
    assert answer.status_code == 500 if lost else answer.data == sound


@pytest.fixture
def got(hosted: Hosted, form: Any, attachment: Any) -> tuple[Host, mcp_types.CallToolResult]:
    host = hosted(form.account_id)
    return host, host.use(TOOL, formId=form.id, attachmentId=attachment["id"])


def test_the_address_holds_no_token_and_ends_after_minutes(
    got: tuple[Host, mcp_types.CallToolResult], monkeypatch: pytest.MonkeyPatch
) -> None:
    host, result = got
    found = result.structured_content or {}
    ends_at = datetime.fromisoformat(found["expiresAt"])

    assert host.token not in found["url"]
    assert timedelta() < ends_at - utc_now() <= timedelta(minutes=5)
    monkeypatch.setattr(tools, "utc_now", lambda: ends_at - timedelta(milliseconds=1))
    assert opened(result, host).status_code == 200
    monkeypatch.setattr(tools, "utc_now", lambda: ends_at)
    assert opened(result, host).status_code == 404


ENDS: dict[str, Callable[[Any], object]] = {
    "connection": lambda form: connections.disconnect_all(form.account_id, now=utc_now()),
    "client": lambda _form: connections.disable_client(COMMAND_LINE_CLIENT, now=utc_now()),
    "account": lambda form: disable_account(form.account_id, now=utc_now()),
    "correction": lambda form: make_answer(form, KEY, 0, "Typed instead"),
    "withdrawal": lambda form: answering.withdraw_response(form.share_token, KEY, now=utc_now()),
    "deletion": lambda form: trash.delete_form(form.account_id, form.id, now=utc_now()),
}


@pytest.mark.parametrize("end", ENDS)
def test_an_address_is_void_with_its_connection_and_with_its_recording(
    got: tuple[Host, mcp_types.CallToolResult], form: Any, end: str
) -> None:
    host, result = got
    assert opened(result, host).status_code == 200

    with host.app.app_context():
        ENDS[end](form)

    answer = opened(result, host)
    assert answer.status_code == 404
    assert SOUND not in answer.data


def test_an_address_is_of_one_recording(
    got: tuple[Host, mcp_types.CallToolResult], app: Flask, form: Any, attachment: Any
) -> None:
    host, result = got
    url = (result.structured_content or {})["url"]
    base, _, signed = url.rpartition("rec_")
    payload, _, mac = signed.rpartition(".")
    with app.app_context():
        other = make_stored_answer(form, secrets.token_urlsafe(24), content=b"other").id
        signer = tools._signer()
        named = signer.loads(signed)
        foreign = make_form(make_account().id)
        of_foreign = make_stored_answer(foreign, secrets.token_urlsafe(24), content=b"foreign").id
        signed_for = [
            signer.dumps([2, *named[1:]]),
            signer.dumps([named[0], "gra_unknown", *named[2:]]),
            signer.dumps([*named[:2], foreign.id, of_foreign, named[4]]),
            signer.dumps([*named[:3], of_foreign, named[4]]),
            signer.dumps(named[:4]),
            URLSafeSerializer(b"k" * 32, salt="address of a recording").dumps(named),
        ]
        swapped = signer.dumps([*named[:3], other, named[4]]).rpartition(".")[0]

    altered = [f"{swapped}.{mac}", f"{payload}.{mac[::-1]}", payload, attachment["id"], "x", "%00"]
    for each in (*signed_for, *altered):
        assert fetch(host, f"{base}rec_{each}").status_code == 404, each
