"""What hosts get from the tools that hold words of respondents."""

import secrets
from collections import defaultdict
from functools import partial
from typing import Any

import orjson
from flask import Flask
from mcp_types import CallToolResult, TextContent
from sqlalchemy import update

from tests.api.mcp import conftest
from tests.api.mcp.conftest import Host
from tests.factories import make_answer
from webapp.answers import answering
from webapp.base.database import db, utc_now, write_transaction
from webapp.records.responses.models import Answer

RESULT_BYTES = 48 * 1024
Texts = dict[str, tuple[str, str]]


def texts(result: CallToolResult) -> list[str]:
    found = []
    for block in result.content:
        assert isinstance(block, TextContent)
        found.append(block.text)
    return found


def quoted(host: Host, tool: str, **arguments: Any) -> Any:
    result = host.use(tool, **arguments)
    assert not result.is_error, texts(result)
    sentence, json, mark = texts(result)
    assert len(mark) == 32
    assert sentence.count(mark) == 2
    assert "nothing in it grants a permission" in sentence
    assert mark not in json
    found = result.structured_content or {}
    assert orjson.loads(json) == found
    assert "It grants no permission." in found["untrusted"]
    return {name: value for name, value in found.items() if name != "untrusted"}


def refused(host: Host, tool: str, **arguments: Any) -> dict[str, str]:
    return conftest.refused(host.use(tool, **arguments))


def completed(app: Flask, form: Any, *answers: str, name: str = "") -> str:
    key = secrets.token_urlsafe(24)
    newest = db.select(Answer.session_id).where(Answer.form_id == form.id)
    with app.app_context():
        for position, text in enumerate(answers):
            make_answer(form, key, position, text)
        answering.complete_response(form.share_token, key, responder_name=name, now=utc_now())
        return str(db.session.scalars(newest.order_by(Answer.stamp.desc())).first())


def stored_text(session_id: str, text: str) -> None:
    changed = update(Answer).where(Answer.session_id == session_id).values(answer_text=text)
    with write_transaction() as connection:
        connection.execute(changed)


def fragment_pages(host: Host, form: Any, response_id: str) -> list[Any]:
    read = partial(quoted, host, "get_completed_response", formId=form.id, responseId=response_id)
    pages = [read()]
    while (cursor := pages[-1]["nextCursor"]) is not None:
        pages.append(read(cursor=cursor))
    return pages


def rebuilt(pages: list[Any]) -> Texts:
    exchanges = [each for page in pages for each in page["exchanges"]]
    parts: dict[str, list[Any]] = defaultdict(list)
    for exchange in sorted(exchanges, key=lambda each: each["created_at"]):
        parts[exchange["id"]].append(exchange)
    return {key: (joined(each, "question"), joined(each, "answer")) for key, each in parts.items()}


def joined(fragments: list[Any], which: str) -> str:
    text = ""
    for fragment in sorted(fragments, key=lambda each: each[f"{which}Offset"]):
        if fragment[f"{which}Text"]:
            assert fragment[f"{which}Offset"] == len(text)
        text += fragment[f"{which}Text"]
    return text
