"""Every result of every tool is at most 48 KiB, and its pages hold everything once."""

from collections.abc import Iterator
from typing import Any

import orjson
import pytest
from flask import Flask
from mcp_types import CallToolResult, TextContent

from tests.api.mcp.conftest import Host, Hosted, refused
from tests.factories import make_account, make_answer, make_draft, make_form
from webapp.records.accounts.models import Account

RESULT_BYTES = 48 * 1024
LONG = {
    "one page": ["Who?"] * 20,
    "letters": ["q" * 9_000] * 20,
    "escaped": ['"\n\\' * 2_000] * 20,
    "one too long": ["🜂" * 40_000, "Who?"],
}
long = pytest.mark.parametrize("questions", LONG.values(), ids=LONG)


def bounded(result: CallToolResult) -> dict[str, Any]:
    """The object of a result that is not too large."""
    assert not result.is_error
    words = [block.text for block in result.content if isinstance(block, TextContent)]
    assert len("".join(words).encode()) <= RESULT_BYTES
    assert len(orjson.dumps(result.structured_content)) <= RESULT_BYTES
    assert result.structured_content is not None
    return result.structured_content


def pages(host: Host, tool: str, **arguments: Any) -> Iterator[dict[str, Any]]:
    """From `cursor` on, to the end."""
    page = bounded(host.use(tool, **arguments))
    yield page
    while cursor := page.get("nextCursor"):
        page = bounded(host.use(tool, **arguments | {"cursor": cursor}))
        yield page


@pytest.mark.parametrize("limit", [None, 7])
def test_forms_are_listed_in_pages(
    app: Flask, host: Host, agent: Any, account: Account, limit: int | None
) -> None:
    with app.app_context():
        for number in range(160):
            make_form(account.id, title=f"{number} " + "🜂" * 100)
    whole = agent.get("/forms").json

    found = list(pages(host, "list_forms", limit=limit))

    assert [form for page in found for form in page["forms"]] == whole["forms"]
    assert {page["formCount"] for page in found} == {160}
    assert all(len(page["forms"]) == limit for page in found[:-1]) or limit is None
    assert len(found) > 1


@long
def test_a_long_form_and_its_draft_come_in_pages(
    app: Flask, host: Host, agent: Any, account: Account, questions: list[str]
) -> None:
    with app.app_context():
        form_id = make_form(account.id, questions=questions).id
        draft_id = make_draft(account.id, questions=questions).id
    whole = agent.get(f"/forms/{form_id}").json

    of_form = list(pages(host, "get_form", formId=form_id))
    of_draft = list(pages(host, "get_form_draft", draftId=draft_id))

    assert [each["id"] for page in of_form for each in page["questions"]] == [
        each["id"] for each in whole["questions"]
    ]
    for found in (of_form, of_draft):
        read = [each["text"] for page in found for each in page["questions"]]
        cut = any(page.get("textsCut") for page in found)
        assert cut == (read != questions) == (max(map(len, questions)) == 40_000)
        assert all(text.startswith(each) for text, each in zip(questions, read, strict=True))
        assert len(read[0]) > 10_000 or read == questions


@long
def test_a_written_draft_is_echoed_in_part_and_read_on_with_its_cursor(
    host: Host, questions: list[str]
) -> None:
    made = bounded(host.use("create_form_draft", title="Rota", questions=questions))
    key = {"draftId": made["draftId"]}
    changed = bounded(host.use("update_form_draft", **key, goal="Why"))

    assert [each["id"] for each in changed["questions"]] == [
        each["id"] for each in made["questions"]
    ]
    cursor = changed.get("nextCursor")
    rest = list(pages(host, "get_form_draft", **key, cursor=cursor)) if cursor else []
    read = [each for page in (changed, *rest) for each in page["questions"]]
    assert len(read) == len(questions)


@pytest.mark.parametrize("more", range(2900, 3300, 50))
def test_nothing_is_cut_where_pages_hold_all(
    app: Flask, hosted: Hosted, account: Account, more: int
) -> None:
    host = hosted(account.id)
    with app.app_context():
        texts = ["q" * 15_000, "q" * (15_000 + more), "q" * 15_000, "Who?"]
        form = make_form(account.id, questions=texts)
        make_answer(form, "k" * 32, 3, "a" * (900 + more))

    of_form = list(pages(host, "get_form", formId=form.id))
    watched = bounded(host.use("watch_ask", formId=form.id))

    assert [each["text"] for page in of_form for each in page["questions"]] == texts
    assert not any("textsCut" in page for page in of_form)
    whole = [each["text"] for each in watched["form"]["questions"]] == texts
    assert ("textsCut" in watched) != whole


@pytest.mark.parametrize("limit", [0, -1, 1001, 1.5, "7", True])
def test_a_limit_is_at_least_one_item(host: Host, limit: Any) -> None:
    said = refused(host.use("list_forms", limit=limit))

    assert said["message"].startswith("limit: ")
    assert "from 1 to 1000" in said["message"]


def test_a_cursor_is_of_its_own_list(app: Flask, host: Host, account: Account) -> None:
    with app.app_context():
        mine = [make_form(account.id).id for _ in range(2)]
        foreign = make_form(make_account().id).id
        draft_id = make_draft(account.id).id
    question = bounded(host.use("get_form", formId=mine[0]))["questions"][1]["id"]

    assert bounded(host.use("get_form", formId=mine[0], cursor=question))["questions"]
    for tool, arguments in (
        ("list_forms", {"cursor": foreign}),
        ("list_forms", {"cursor": question}),
        ("get_form", {"formId": mine[1], "cursor": question}),
        ("get_form_draft", {"draftId": draft_id, "cursor": mine[0]}),
    ):
        assert refused(host.use(tool, **arguments))["code"] == "invalid_cursor"


def test_a_form_is_read_as_by_rest(
    hosted: Hosted, connect: Any, account: Any, form: Any, version: str
) -> None:
    agent, host = connect(account.id), hosted(account.id, version=version)

    found = host.use("get_form", formId=form.id)

    assert found.structured_content == agent.get(f"/forms/{form.id}").get_json()
    listed = host.use("list_forms").structured_content
    assert listed == agent.get("/forms").get_json()
