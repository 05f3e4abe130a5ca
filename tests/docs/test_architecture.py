"""The paths and layers of the architecture document exist."""

import ast
import inspect
import re
from collections.abc import Callable
from itertools import pairwise
from pathlib import Path
from typing import Any

import pytest

from tests.command import ROOT
from webapp.database import execute_autocommit
from webapp.domain.respondents.answer_writes import store_answer
from webapp.domain.respondents.answering import answer_question
from webapp.pages.respondent.routes import answer

PAGE = (ROOT / "templates/docs/architecture.md").read_text()
SECTIONS = dict(re.findall(r"^##+ ([^\n]+)\n\n(.*?)(?=\n##|\Z)", PAGE, re.MULTILINE | re.DOTALL))
ROWS = re.findall(r"^- (.+?): (`.*)$", SECTIONS["Where is…?"], re.MULTILINE)
ASKED = (
    "409 of a stale confirmation",
    "write limit of PATCH",
    "cursor stamp",
    "language of a respondent page",
    "CSV escaping",
    "honeypot",
    "a new draft setting",
    "exchange of an OAuth code",
    "somebody speaks in a recording",
    "bytes of a recording",
    "quotas of transcription and model calls",
    "erasing of recordings",
    "told of spoken answers and of follow-up questions",
    "share page",
    "answer that is too long",
    "respondent’s cookie",
    "deletion of an account",
    "deletion of single responses",
    "`Idempotency-Key`",
    "says beside a change",
    "below a question of a draft",
    "QR code",
    "registration of a client, and which two are the same",
    "check of a bearer token",
    "content security policy",
    "a long wait",
    "ambiguous HTTP request",
    "told that a form has changed",
    "page that keeps an answer that could not be saved",
    "own-path rule after sign-in",
    "a new error code",
    "event of a completed response",
    "end of a subscription",
    "retry schedule",
    "how accounts, endpoints and hosts share the places for sending",
    "challenge of a callback",
    "callbacks that their creator confirms",
    "page of deliveries",
    "agent token",
    "tool of the MCP endpoint",
    "request to confirm a draft that an MCP host shows",
)
MOST_FILES = {"Publish": 7, "Answer": 10, "Retrieve": 6, "Wake": 8, "Speak": 9}
ENTRIES = ("api/", "jobs/", "webapp/pages/")  # reached by an address, or by the queue


def paths(text: str) -> list[str]:
    return re.findall(r"`([\w/]+\.\w+)`", text)


@pytest.mark.parametrize("asked", ASKED)
def test_every_question_is_answered_by_files_that_exist(asked: str) -> None:
    (found,) = [where for what, where in ROWS if what.endswith(asked)]

    assert paths(found)
    assert [path for path in paths(found) if not (ROOT / path).is_file()] == []


def test_there_are_no_other_questions() -> None:
    assert len(ROWS) == len(ASKED)


@pytest.mark.parametrize("journey", MOST_FILES)
def test_a_journey_is_short_and_each_file_leads_to_the_next(journey: str) -> None:
    files = paths("\n".join(re.findall(r"^\d+\. (`[^`]+`)", SECTIONS[journey], re.MULTILINE)))

    assert 0 < len(files) <= MOST_FILES[journey]
    assert [path for path in files if not (ROOT / path).is_file()] == []
    reached = set[str]().union(*(imported(ROOT / path) for path in files))
    unreached = [path for path in files if path[:-3].replace("/", ".") not in reached]
    assert [path for path in unreached if not path.startswith(ENTRIES)] == []


def imported(path: Path) -> set[str]:
    """Modules that a file imports, in full."""
    found = set()
    for node in ast.walk(ast.parse(path.read_text())):
        if isinstance(node, ast.ImportFrom):
            found |= {f"{node.module}.{name.name}" for name in node.names} | {str(node.module)}
    return found


def test_an_answer_takes_four_calls_to_its_statement() -> None:
    calls: list[Callable[..., Any]] = [answer, answer_question, store_answer, execute_autocommit]

    assert [
        called.__name__
        for caller, called in pairwise(calls)
        if f"{called.__name__}(" not in inspect.getsource(caller)
    ] == []
    assert "an answer takes four calls" in PAGE


def test_every_folder_of_the_application_has_a_line() -> None:
    listed = re.findall(r"^- `([\w/]+)`: ", SECTIONS["Folders"], re.MULTILINE)
    folders = {
        str(path.parent.relative_to(ROOT))
        for package in ("webapp", "api", "jobs")
        for path in (ROOT / package).rglob("*.py")
        if "versions" not in path.parts
    }

    assert folders - set(listed) == set()
    assert [path for path in listed if not (ROOT / path).is_dir()] == []
    assert len(listed) == len(set(listed))


def test_layers_stand_in_the_order_that_is_checked() -> None:
    contracts = (ROOT / "pyproject.toml").read_text()
    order = re.search(r'name = "imports run one way".*?layers = \[(.*?)\]', contracts, re.DOTALL)
    assert order is not None
    checked = re.findall(r"\w+(?=[\s\"|])", order[1].replace("webapp.", ""))
    lines = re.findall(r"^\d+\. (.+?):", SECTIONS["Layers"], re.MULTILINE)

    written = [name for line in lines for name in re.findall(r"`(\w+)`", line)]
    assert sorted(written, key=checked.index) == written


def test_the_domain_stands_in_the_order_that_is_checked() -> None:
    contracts = (ROOT / "pyproject.toml").read_text()
    order = re.search(r'"the domain has an order".*?layers = \[(.*?)\]', contracts, re.DOTALL)
    written = re.search(r"In the domain: (.+)", SECTIONS["Layers"])
    assert order is not None
    assert written is not None

    layers = [re.findall(r"\w+", line) for line in re.findall(r'"(.+?)"', order[1])]
    assert [re.findall(r"`(\w+)`", part) for part in written[1].split(";")] == layers


def test_every_path_on_the_page_exists() -> None:
    named = {path for path in paths(PAGE) if "/" in path}

    assert [path for path in sorted(named) if not (ROOT / path).is_file()] == []
