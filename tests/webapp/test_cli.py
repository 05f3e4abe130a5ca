"""What an operator does on the command line."""

import json
import shutil
import signal
import subprocess
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import Any

import httpx
import pytest
from click.testing import CliRunner, Result

from tests.command import askback_here, start
from tests.pages.respondent_client import session_in
from tests.services import free_port, wait_until
from webapp.app.cli import main

PASSWORD = "correct horse battery staple"
ANSWER = "It was Mira, on Tuesday."
Agent = Callable[..., httpx.Response]
ANN = ("creator", "create", "--email", "ann@example.com", "--password-stdin")


class Here(CliRunner):
    """Commands on a data folder of the test, in this process."""

    def __init__(self, data: Path) -> None:
        super().__init__(env={"ASKBACK_DATA": str(data)})

    def __call__(self, *arguments: str, typed: str = "") -> Result:
        return self.invoke(main, arguments, input=typed)


@pytest.fixture(scope="module")
def migrated(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A migrated data folder, to be copied."""
    data = tmp_path_factory.mktemp("migrated") / "data"
    assert askback_here("migrate", ASKBACK_DATA=str(data)).returncode == 0
    return data


@pytest.fixture
def here(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, migrated: Path) -> Here:
    """A migrated data folder."""
    names = ("DATABASE_URL", "REDIS_URL", "PUBLIC_URL", "HOST", "PORT", "SECRET_KEY", "DATA_KEYS")
    for name in names:
        monkeypatch.delenv(name, raising=False)
    return Here(Path(shutil.copytree(migrated, tmp_path / "data")))


@contextmanager
def running(data: Path, port: int, **variables: str) -> Iterator[subprocess.Popen[str]]:
    """`askback run`, reached under its address."""
    server = start("run", ASKBACK_DATA=str(data), PORT=str(port), **variables)
    try:
        wait_until(lambda: is_healthy(port) or server.poll() is not None, "starting")
        yield server
    finally:
        server.kill()
        server.communicate()


def is_healthy(port: int) -> bool:
    with suppress(httpx.TransportError):
        return httpx.get(f"http://127.0.0.1:{port}/healthz", timeout=2).status_code == 200
    return False


def stop(server: subprocess.Popen[str], number: signal.Signals) -> str:
    """What it printed, ended well within 5 seconds."""
    server.send_signal(number)
    out, errors = server.communicate(timeout=5)
    assert (server.returncode, errors) == (0, "")
    assert out.endswith("everything answered is saved.\n")
    return out


def test_a_start_prints_a_link_until_somebody_has_an_account_and_keeps_everything(
    tmp_path: Path,
) -> None:
    data, port = tmp_path / "data", free_port()
    with running(data, port, PUBLISH_CONFIRMATION="agent") as server:
        askback_here(*ANN, typed=f"{PASSWORD}\n", ASKBACK_DATA=str(data))
        agent = agent_of(data, port)
        ids = write_and_answer(agent)
        before = stored(agent, *ids)
        first = stop(server, signal.SIGINT)
    with running(data, port) as server:
        after = stored(agent, *ids)
        second = stop(server, signal.SIGTERM)

    links = [f"http://127.0.0.1:{port}/join/" in text for text in (first, second)]
    assert links == [True, False]
    assert after == before
    assert [status for status, _ in after] == [200] * 3
    assert ANSWER in json.dumps(after[2])


def agent_of(data: Path, port: int) -> Agent:
    scopes = "forms:read forms:write responses:read"
    arguments = ("--email", "ann@example.com", "--scope", scopes)
    token = askback_here("token", "issue", *arguments, ASKBACK_DATA=str(data)).stdout.strip()

    def call(method: str, path: str, **sent: Any) -> httpx.Response:
        headers = {"Authorization": f"Bearer {token}"}
        url = f"http://127.0.0.1:{port}{path}"
        return httpx.request(method, url, headers=headers, timeout=30, **sent)

    return call


def write_and_answer(agent: Agent) -> tuple[str, str]:
    """The ids of a draft and of a form that somebody has answered."""
    content = {"title": "Rota", "questions": ["Who changed it?"]}
    draft_id, published = (
        agent("POST", "/api/drafts", json=content).json()["draftId"] for _ in range(2)
    )
    form = agent("POST", f"/api/drafts/{published}/publish").json()
    link = f"/r/{form['shareUrl'].rpartition('/')[2]}"
    session = session_in(agent("POST", f"{link}/another").text)
    fields = {"session": session, "answer_key": "k" * 22, "answer": ANSWER}
    assert agent("POST", f"{link}/q/1", data=fields).status_code == 200
    return draft_id, form["formId"]


def stored(agent: Agent, draft_id: str, form_id: str) -> list[tuple[int, object]]:
    """The draft, the forms and the answers as the agent reads them."""
    paths = (f"/api/drafts/{draft_id}", "/api/forms", f"/api/forms/{form_id}/responses")
    return [(got.status_code, got.json()) for got in (agent("GET", path) for path in paths)]


def test_alongside_a_server_commands_use_its_address_and_a_second_one_is_refused(
    tmp_path: Path,
) -> None:
    data, port = tmp_path / "data", free_port()
    with running(data, port):
        second = askback_here("run", ASKBACK_DATA=str(data), PORT=str(free_port()))
        other = askback_here("run", ASKBACK_DATA=str(tmp_path / "other"), PORT=str(port))
        link = askback_here("creator", "link", ASKBACK_DATA=str(data))

    assert link.stdout.startswith(f"http://127.0.0.1:{port}/join/")
    assert second.returncode == 78
    assert f"already runs on {data}, at http://127.0.0.1:{port}" in second.stderr
    # above all no link that leads to the other program
    assert (other.returncode, other.stdout) == (1, "")
    last = other.stderr.splitlines()[-1]
    assert last.startswith(f"Error: Cannot listen on 127.0.0.1 port {port}")


def test_a_token_is_alone_on_standard_output(here: Here) -> None:
    here(*ANN, typed=f"{PASSWORD}\n")
    options = ("--email", "Ann@example.com", "--scope", "forms:read", "--resource", "mcp")

    issued = here("token", "issue", *options)

    assert issued.stdout.startswith("askat_")
    assert (len(issued.stdout.split()), issued.stderr) == (1, "")
    assert here("token", "issue", *options, "--scope", "forms:delete").exit_code == 2


def audited(here: Here, *arguments: str) -> list[dict[str, Any]]:
    """The audit trail, newest first."""
    printed = here("audit", "--json", *arguments)
    assert printed.exit_code == 0, printed.output
    return [json.loads(line) for line in printed.stdout.splitlines()]


def test_commands_are_in_the_audit_trail(here: Here, tmp_path: Path) -> None:
    here(*ANN, typed=f"{PASSWORD}\n")
    here("creator", "link", "--email", "ann@example.com")
    here("client", "create", "--name", "Desk", "--redirect-uri", "https://a.example/cb")
    here("token", "issue", "--email", "ann@example.com", "--scope", "forms:read")
    here("backup", str(tmp_path / "backup"))
    here("restore", str(tmp_path / "backup"), "--yes")

    events = audited(here)

    assert [event["event"] for event in reversed(events)] == [
        *("account_created", "link_made", "client_created", "token_issued", "backup_restored")
    ]
    assert {event["actor"] for event in events} == {"operator"}
    assert {event["address"] for event in events} == {None}


def test_clients_are_listed_disabled_and_enabled(here: Here) -> None:
    create = ("client", "create", "--name", "Desk", "--redirect-uri")
    made = here(*create, "https://a.example/cb").stdout.splitlines()
    assert [line.partition("=")[0] for line in made] == ["client_id", "client_secret"]
    assert here(*create, "javascript:alert(1)").exit_code == 1
    client_id, *listed = here("client", "list").stdout.split("\t")
    states = [listed[3]]
    for command in ("disable", "enable"):
        assert here("client", command, client_id).exit_code == 0
        states.append(here("client", "list").stdout.split("\t")[4])

    assert (listed[0], states) == ("Desk", ["active", "disabled", "active"])
    assert here("client", "disable", "x").exit_code == 1


def test_the_audit_trail_is_filtered_by_account_time_and_number(here: Here) -> None:
    for name in ("ann", "bob"):
        here(*ANN[:3], f"{name}@example.com", "--password-stdin", typed=f"{PASSWORD}\n")
    here("creator", "link", "--email", "ann@example.com")

    found = [
        len(audited(here, *arguments))
        for arguments in (
            (),
            ("--email", "ann@example.com"),
            ("--limit", "1"),
            ("--since", "2020-01-01"),
            ("--since", "2999-01-01T00:00:00+02:00"),
        )
    ]

    assert found == [3, 2, 1, 3, 0]


def test_creators_are_disabled_enabled_and_deleted_once_confirmed(here: Here) -> None:
    here(*ANN, typed=f"{PASSWORD}\n")
    of_ann = ("--email", "ann@example.com")
    states = []
    for command in ("disable", "enable"):
        assert here("creator", command, *of_ann).exit_code == 0
        states.append(here("creator", "list").stdout.split("\t")[4])

    refused, done = (here("creator", "delete", *of_ann, typed=typed) for typed in ("n\n", "y\n"))

    assert states == ["disabled", "active"]
    assert (refused.exit_code, done.exit_code) == (1, 0)
    newest = audited(here)[0]
    assert (newest["event"], newest["actor"], newest["address"]) == (
        *("account_deleted", "operator", None),
    )
    assert here("creator", "list").stdout == ""
    assert here("creator", "disable", *of_ann).exit_code == 1
