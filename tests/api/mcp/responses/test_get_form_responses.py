"""`get_form_responses`: what REST answers, in pages that fit into the context of a model."""

import secrets
from typing import Any

import pytest
from flask import Flask

from tests.api.conftest import Agent
from tests.api.mcp.conftest import Host, Hosted
from tests.api.mcp.responses.reading import (
    RESULT_BYTES,
    completed,
    quoted,
    refused,
    texts,
)
from tests.databases import both_databases
from tests.factories import make_answer, make_form, make_response
from webapp.records.accounts.models import Account

TOOL = "get_form_responses"


def pages_of(host: Host, form: Any) -> list[Any]:
    """All pages, each from where the one before ended."""
    pages = [quoted(host, TOOL, formId=form.id)]
    while pages[-1]["truncated"]:
        assert len(pages) < 1_000
        pages.append(quoted(host, TOOL, formId=form.id, since=pages[-1]["nextSince"]))
    return pages


def answers_in(pages: list[Any]) -> list[Any]:
    return [answer for page in pages for each in page["responses"] for answer in each["answers"]]


def text_bytes(host: Host, form: Any, **more: Any) -> int:
    return sum(len(each.encode()) for each in texts(host.use(TOOL, formId=form.id, **more)))


@both_databases
def test_it_answers_what_rest_answers(app: Flask, hosted: Hosted, agent: Agent, form: Any) -> None:
    host = hosted(form.account_id)
    first = quoted(host, TOOL, formId=form.id, since=None)
    assert first == agent.get(f"/forms/{form.id}/responses").json
    with app.app_context():
        make_answer(form, "a" * 32, text="In progress")
        make_response(form, name="Kim")

    found = quoted(host, TOOL, formId=form.id)
    rest = quoted(host, TOOL, formId=form.id, since=found["nextSince"])

    assert found == agent.get(f"/forms/{form.id}/responses").json
    assert found["returnedAnswerCount"] == 2
    assert rest == agent.get(f"/forms/{form.id}/responses?since={found['nextSince']}").json
    assert (rest["responses"], rest["nextSince"]) == ([], found["nextSince"])


LENGTHS = {
    "short": ["Me"] * 300,
    "short and long": ["Me", "x" * 9_000, "🜂" * 5_000] * 20,
    "escaped": ['"\n\\' * 3_000, "\x01" * 6_000, "no"] * 12,
    "the longest": ["👩🏽‍🚒" * 5_000, "x" * 20_000, '"' * 20_000, "\x01" * 20_000],
}


@pytest.mark.parametrize("lengths", LENGTHS.values(), ids=LENGTHS)
def test_pages_fit_and_hold_every_answer_once(
    app: Flask, host: Host, form: Any, lengths: list[str]
) -> None:
    with app.app_context():
        for text in lengths:
            make_answer(form, secrets.token_urlsafe(24), text=text)

    pages = pages_of(host, form)

    answers = answers_in(pages)
    assert len({answer["id"] for answer in answers}) == len(answers) == len(lengths)
    for answer, text in zip(answers, lengths, strict=True):
        assert text.startswith(answer["answerText"])
        assert answer["answerTruncated"] == (answer["answerText"] != text)
        assert len(answer["answerText"]) > 5_000 or answer["answerText"] == text
    assert all(page["returnedAnswerCount"] for page in pages)
    sizes = [text_bytes(host, form)]
    sizes += [text_bytes(host, form, since=page["nextSince"]) for page in pages]
    assert max(sizes) <= RESULT_BYTES
    usual = RESULT_BYTES - 4_096 - max(len(text.encode()) * 6 for text in lengths)
    assert all(size > usual for size in sizes[:-2])


def test_one_answer_comes_however_long_the_questions_are(
    app: Flask, hosted: Hosted, account: Account
) -> None:
    with app.app_context():
        form = make_form(account.id, questions=["q" * 60_000, "r" * 60_000])
        for position in (0, 1):
            make_answer(form, "a" * 32, position, "🜂" * 20_000)

    host = hosted(account.id)
    pages = pages_of(host, form)
    nothing = quoted(host, TOOL, formId=form.id, since=pages[-1]["nextSince"])

    assert [page["returnedAnswerCount"] for page in pages] == [1, 1]
    assert (nothing["responses"], nothing["nextSince"]) == ([], pages[-1]["nextSince"])
    assert all(len(each["answerText"]) > 5_000 for each in answers_in(pages))
    assert text_bytes(host, form) <= RESULT_BYTES
    assert all(each["answerTruncated"] for each in answers_in(pages))


@pytest.mark.parametrize("tool", [TOOL, "watch_ask", "wait_for_form_responses"])
@pytest.mark.parametrize("question", ["q" * 3_000, "🜂" * 3_000, '"\n' * 1_500, "r" * 12_000])
def test_texts_too_long_for_a_result_are_cut_and_it_says_so(
    app: Flask, hosted: Hosted, account: Account, tool: str, question: str
) -> None:
    with app.app_context():
        form = make_form(account.id, questions=[*([question] * 19), "Who?"])
        completed(form, "🜂" * 2_000)

    result = hosted(account.id).use(tool, formId=form.id)

    found: Any = result.structured_content
    (answer,) = found["responses"][0]["answers"]
    kept = {len(each["text"]) for each in found["form"]["questions"][:19]}
    assert 40_000 < len("".join(texts(result)).encode()) <= RESULT_BYTES
    assert found["textsCut"] is True
    assert len(kept) == 1
    assert kept.pop() > 500
    assert found["form"]["questions"][19]["text"] == "Who?"
    assert answer["answerTruncated"] == (answer["answerText"] != "🜂" * 2_000)


@pytest.mark.parametrize("tool", [TOOL, "watch_ask", "wait_for_form_responses"])
def test_a_page_holds_as_many_items_as_asked_for(
    app: Flask, host: Host, form: Any, tool: str
) -> None:
    with app.app_context():
        for _ in range(3):
            completed(form, "Me")

    page = quoted(host, tool, formId=form.id, limit=2)
    rest = quoted(host, tool, formId=form.id, since=page["nextSince"], limit=1000)

    assert "textsCut" not in page
    assert (page["truncated"], rest["truncated"]) == (True, False)
    assert page["returnedAnswerCount"] + rest["returnedAnswerCount"] == 3
    assert page["returnedAnswerCount"] <= 2


@pytest.mark.parametrize("since", ["yesterday", " ", "2026-11-21", "\0", "\ud800", "9" * 10_000])
def test_a_bad_since_is_refused_as_by_rest(host: Host, form: Any, since: str) -> None:
    said = refused(host, TOOL, formId=form.id, since=since)

    assert said["code"] == "invalid_since"
    assert said["message"].startswith("since: ")
