"""Clients that other people's generators make of the OpenAPI document, against a live server.

Each makes one round trip through the operations and survives an error code that no document lists.
What takes packages of Node is a long proof, as in `tests/mcp_clients`: they are installed first.
"""

import importlib
import json
import subprocess
import sys
from collections.abc import Iterator
from dataclasses import dataclass
from http import HTTPStatus
from pathlib import Path
from typing import Any

import httpx
import pytest

from tests.command import ROOT, environment
from tests.factories import make_account, make_form, make_response
from tests.serving import new_app, serving
from webapp.base.config import Settings
from webapp.base.database import db, utc_now
from webapp.base.errors import ErrorCode, NotFound
from webapp.base.vocabulary import Scope
from webapp.oauth.tokens import issue_token
from webapp.records import forms

TOMORROW = str.__new__(ErrorCode, "code_of_tomorrow")
TOMORROW._value_, TOMORROW.status = "code_of_tomorrow", HTTPStatus.NOT_FOUND
GOT = {
    "questions": 2,
    "limit": "one",
    "forms": 2,
    "title": "Rota",
    "answer": "Me",
    "refused": "validation_failed",
    "unknown": TOMORROW,
}
SCRIPTS = ROOT / "tests" / "node"


@dataclass
class Live:
    """A server where an agent's word is enough to publish, with one answered form."""

    base_url: str
    token: str
    form_id: str


@pytest.fixture
def live(settings: Settings, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[Live]:
    own = settings.model_copy(
        update={
            "database_url": f"sqlite:///{tmp_path}/clients.sqlite3",
            "publish_confirmation": "agent",
        }
    )
    app = new_app(own)
    with app.app_context():
        db.create_all()
        account = make_account()
        form = make_form(account.id)
        make_response(form)
        base_url = app.config["SETTINGS"].api_url
        token = issue_token(account.id, tuple(Scope), base_url, now=utc_now())
    monkeypatch.setattr(forms, "get_form", answering_as_a_later_version)
    with serving(app):
        yield Live(base_url, token, form.id)


get_form = forms.get_form


def answering_as_a_later_version(account_id: str, form_id: str) -> Any:
    if form_id == "tomorrow":
        raise NotFound(TOMORROW, "This is new.", "Wait for a new client.")
    return get_form(account_id, form_id)


@pytest.fixture
def document(live: Live, tmp_path: Path) -> Path:
    """The served document as a file."""
    path = tmp_path / "openapi.json"
    path.write_bytes(httpx.get(f"{live.base_url}/openapi", trust_env=False).content)
    return path


def run(*command: object, cwd: Path) -> str:
    """Its standard output; nothing leaves this machine."""
    quiet = {"REDOCLY_TELEMETRY": "off", "REDOCLY_SUPPRESS_UPDATE_NOTICE": "true", "CI": "true"}
    ran = subprocess.run(
        list(map(str, command)),
        cwd=cwd,
        env=environment(quiet),
        capture_output=True,
        text=True,
        check=False,
    )
    assert ran.returncode == 0, ran.stdout + ran.stderr
    return ran.stdout


def test_the_python_client(
    live: Live, document: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    (tmp_path / "config.yaml").write_text("post_hooks: []\n")
    output = tmp_path / "askback_client"
    options = ["--path", document, "--output-path", output, "--meta", "none", "--fail-on-warning"]
    config = ["--config", tmp_path / "config.yaml"]
    run(sys.executable, "-m", "openapi_python_client", "generate", *options, *config, cwd=tmp_path)
    monkeypatch.syspath_prepend(tmp_path)

    assert round_trip_in_python(live) == GOT
    models = importlib.import_module("askback_client.models").__all__
    assert [name for name in models if "Error" in name] == ["Error"]


def round_trip_in_python(live: Live) -> dict[str, Any]:
    def operation(tag: str, name: str) -> Any:
        return importlib.import_module(f"askback_client.api.{tag}.{name}").sync

    models = importlib.import_module("askback_client.models")
    made = importlib.import_module("askback_client").AuthenticatedClient
    with made(live.base_url, live.token, raise_on_unexpected_status=True) as client:
        given = models.FormDraftInput(title="Rota", questions=["Who?"])
        draft = operation("drafts", "create_service_draft")(client=client, body=given)
        given = models.FormDraftInput(
            questions=["Who?", models.Question(text="Why?")],
            response_limit=models.ResponseLimit.ONE,
        )
        change = operation("drafts", "update_service_draft")
        changed = change(draft.draft_id, client=client, body=given)
        published = operation("drafts", "publish_service_draft")(draft.draft_id, client=client)
        read = operation("forms", "get_service")
        responses = operation("responses", "get_service_responses")(live.form_id, client=client)
        wrong = models.FormDraftInput(title="x" * 121)
        return {
            "questions": len(changed.questions),
            "limit": published.response_limit,
            "forms": operation("forms", "list_service")(client=client).form_count,
            "title": read(live.form_id, client=client).title,
            "answer": responses.responses[0].answers[0].answer_text,
            "refused": operation("drafts", "create_service_draft")(client=client, body=wrong).code,
            "unknown": read("tomorrow", client=client).code,
        }


@pytest.fixture
def typescript(node: Path, node_packages: Path, document: Path, tmp_path: Path) -> Path:
    """A folder with both clients and their round trips, compiled without a complaint."""
    folder = tmp_path / "typescript"
    folder.mkdir()
    (folder / "node_modules").symlink_to(node_packages / "node_modules")
    for name in ("openapi_fetch.ts", "hey_api.ts", "tsconfig.json"):
        (folder / name).write_bytes((SCRIPTS / name).read_bytes())
    packages, program = folder / "node_modules", node / "node"
    types = [packages / "openapi-typescript/bin/cli.js", document, "--output", "askback.d.ts"]
    run(program, *types, cwd=folder)
    client = [packages / "@hey-api/openapi-ts/bin/run.js", "--input", document, "--output", "hey"]
    run(program, *client, cwd=folder)
    run(program, packages / "typescript/bin/tsc", "--project", folder, cwd=folder)
    return folder


@pytest.mark.prove
def test_the_typescript_clients(live: Live, typescript: Path, node: Path) -> None:
    given = [live.base_url, live.token, live.form_id]

    first = run(node / "node", "out/openapi_fetch.js", *given, cwd=typescript)
    second = run(node / "node", "out/hey_api.js", *given, cwd=typescript)

    assert json.loads(first) == GOT
    assert json.loads(second) == GOT | {"forms": 3}


@pytest.mark.prove
def test_redocly_reports_no_problem(node: Path, node_packages: Path, document: Path) -> None:
    program = node_packages / "node_modules/@redocly/cli/bin/cli.js"

    report = run(node / "node", program, "lint", document, "--format", "json", cwd=document.parent)

    assert json.loads(report)["problems"] == []


@pytest.mark.prove
def test_spectral_reports_no_problem(node: Path, node_packages: Path, document: Path) -> None:
    program = node_packages / "node_modules/@stoplight/spectral-cli/dist/index.js"
    (document.parent / "rules.yaml").write_text('extends: ["spectral:oas"]\n')
    options = ["--ruleset", "rules.yaml", "--fail-severity", "hint", "--format", "json"]

    report = run(node / "node", program, "lint", *options, document, cwd=document.parent)

    assert json.loads(report.partition("]")[0] + "]") == []
