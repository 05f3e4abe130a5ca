"""`get_attachment`: what a recording is and where its bytes are, never the bytes."""

import secrets
from typing import Any

import mcp_types
import pytest
from flask import Flask

from tests.api.mcp.conftest import LEGACY, MODERN, Hosted, refused
from tests.factories import make_account, make_form
from tests.voice.factories import make_spoken_answer

TOOL = "get_attachment"
ORIGIN = "http://127.0.0.1:8000"


@pytest.fixture
def attachment(app: Flask, form: Any) -> Any:
    with app.app_context():
        made = make_spoken_answer(form, secrets.token_urlsafe(24), duration_ms=42_195)
        return {"id": made.id, "answerId": made.answer_id}


@pytest.mark.parametrize("version", [MODERN, LEGACY, "2025-06-18"])
def test_the_facts_stand_beside_a_link(
    hosted: Hosted, form: Any, attachment: Any, version: str
) -> None:
    host = hosted(form.account_id, version=version)

    result = host.use(TOOL, formId=form.id, attachmentId=attachment["id"])

    found = result.structured_content or {}
    path = f"{form.id}/attachments/{attachment['id']}"
    assert found == attachment | {
        "name": found["name"],
        "type": "audio/webm",
        "size": 4000,
        "contentOmitted": True,
        "formId": form.id,
        "durationSeconds": 42.195,
        "url": f"{ORIGIN}/api/forms/{path}",
        "agentUrl": f"{ORIGIN}/api/agent/asks/{path}",
    }
    _, link = result.content
    assert isinstance(link, mcp_types.ResourceLink)
    assert (str(link.uri), link.name) == (found["url"], found["name"])
    assert (link.mime_type, link.size) == ("audio/webm", 4000)


def test_a_version_without_links_gets_the_facts_alone(
    hosted: Hosted, form: Any, attachment: Any
) -> None:
    host = hosted(form.account_id, version="2025-03-26")

    result = host.use(TOOL, formId=form.id, attachmentId=attachment["id"])

    assert [block.type for block in result.content] == ["text"]


def test_a_host_that_names_no_version_gets_the_facts_alone(
    hosted: Hosted, form: Any, attachment: Any
) -> None:
    params = {
        "name": TOOL,
        "arguments": {"formId": form.id, "attachmentId": attachment["id"]},
    }
    body = {"jsonrpc": "2.0", "id": 7, "method": "tools/call", "params": params}

    answer = hosted(form.account_id).post(body)

    assert [block["type"] for block in answer.json["result"]["content"]] == ["text"]


def test_attachments_of_others_are_not_found(
    app: Flask, hosted: Hosted, form: Any, attachment: Any
) -> None:
    with app.app_context():
        stranger = make_form(make_account().id)
        foreign = make_spoken_answer(stranger, secrets.token_urlsafe(24)).id
    host = hosted(form.account_id)
    asked = (form.id, foreign), (stranger.id, foreign), (stranger.id, attachment["id"])

    codes = [
        refused(host.use(TOOL, formId=form_id, attachmentId=found_id))["code"]
        for form_id, found_id in asked
    ]

    assert codes == ["not_found", "form_not_found", "form_not_found"]
