"""`askback connect`: the command of a host, and Cursor's file: new, full, strange, read-only."""

import json
import shlex
import stat
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

import pytest
from click.testing import CliRunner, Result

from tests.agent_cli.site import Site, site
from tests.command import DATA_KEYS
from webapp.agent_cli.commands import main
from webapp.base.config import Settings

COMMANDS = {
    "claude": ["claude", "mcp", "add", "--transport", "http", "--scope", "user", "askback", "URL"],
    "vscode": ["code", "--add-mcp", '{"name": "askback", "type": "http", "url": "URL"}'],
    "codex": ["codex", "mcp", "add", "askback", "--url", "URL"],
}
by_command = pytest.mark.parametrize("host", COMMANDS)


@dataclass
class Person:
    """Somebody with a home folder, who types commands for one server."""

    origin: str
    home: Path

    def run(self, *arguments: str, typed: str = "") -> Result:
        return CliRunner().invoke(main, arguments, input=typed)


@pytest.fixture(scope="module")
def served(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Site]:
    folder: Path = tmp_path_factory.mktemp("connect")
    settings = Settings(
        secret_key="only-for-tests-only-for-tests-only-for-tests",
        data_keys=DATA_KEYS,
        data_folder=folder,
    )
    with site(settings) as running:
        yield running


@pytest.fixture
def person(served: Site, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Person:
    """Without any host's own command, unless the test makes one."""
    monkeypatch.setenv("HOME", str(tmp_path / "home"))
    monkeypatch.setenv("PATH", f"{tmp_path}/programs")
    monkeypatch.setenv("ASKBACK_URL", served.origin)
    (tmp_path / "programs").mkdir()
    return Person(served.origin, tmp_path / "home")


@pytest.fixture
def file(person: Person) -> Path:
    """The settings of Cursor, in a folder that is there."""
    path = person.home / ".cursor/mcp.json"
    path.parent.mkdir(parents=True)
    return path


def url_of(person: Person) -> str:
    return f"{person.origin}/mcp/app"


def with_program(person: Person, host: str, tmp_path: Path, end: str, *options: str) -> Result:
    """The command of the host, which writes down its arguments, is on the path."""
    program = tmp_path / "programs" / COMMANDS[host][0]
    program.write_text(f'#!/bin/sh\nprintf "%s\\n" "$@" > {tmp_path}/arguments\n{end}\n')
    program.chmod(0o755)
    return person.run("connect", host, "--yes", *options)


@by_command
@pytest.mark.parametrize("name", ["askback", "work"])
def test_the_command_of_a_host_is_run(person: Person, host: str, name: str, tmp_path: Path) -> None:
    connected = with_program(person, host, tmp_path, "exit 0", "--name", name)
    _, *wanted = COMMANDS[host]

    assert connected.exit_code == 0
    assert (tmp_path / "arguments").read_text().splitlines() == [
        word.replace("askback", name).replace("URL", url_of(person)) for word in wanted
    ]
    assert "This command will be run" in connected.stderr


@by_command
def test_1_and_the_command_where_its_program_is_missing(person: Person, host: str) -> None:
    shown = person.run("connect", host, "--yes")

    assert shown.exit_code == 1
    command = [word.replace("URL", url_of(person)) for word in COMMANDS[host]]
    assert shlex.join(command) in shown.stderr


@by_command
def test_1_when_the_command_fails(person: Person, host: str, tmp_path: Path) -> None:
    assert with_program(person, host, tmp_path, "exit 3").exit_code == 1


def test_a_new_file_is_made_once(person: Person) -> None:
    path = person.home / ".cursor/mcp.json"
    connected = person.run("connect", "cursor", typed="y\n")
    before = path.read_bytes()
    again = person.run("connect", "cursor", "--yes")

    assert connected.exit_code == again.exit_code == 0
    assert json.loads(before) == {"mcpServers": {"askback": {"url": url_of(person)}}}
    assert str(path) in connected.stderr
    assert "already, as askback" in again.stderr
    assert path.read_bytes() == before


def test_everything_else_in_the_file_is_kept_with_a_copy(person: Person, file: Path) -> None:
    other = {"command": "npx", "args": ["x"], "env": {"A": "1"}}
    settings = {"theme": "dunkel – 暗い", "mcpServers": {"other": other}, "inputs": [1.5]}
    file.write_text(before := "\ufeff" + json.dumps(settings, indent="\t", ensure_ascii=False))
    file.chmod(0o640)

    assert person.run("connect", "cursor", typed="y\n").exit_code == 0

    settings["mcpServers"] = {"other": other, "askback": {"url": url_of(person)}}
    assert json.loads(file.read_text()) == settings
    assert list(json.loads(file.read_text())) == list(settings)
    assert stat.S_IMODE(file.stat().st_mode) == 0o640
    (copy,) = file.parent.glob(f"{file.name}.*.bak")
    assert copy.read_text() == before


@pytest.mark.parametrize(
    "text",
    ["[]", "{ // mine\n}", '{"mcpServers": []}', "\udcff", '{"a": 1,}', "{" * 100_000],
)
def test_a_file_that_is_not_plain_json_is_left_alone(person: Person, file: Path, text: str) -> None:
    file.write_bytes(before := text.encode(errors="surrogateescape"))
    refused = person.run("connect", "cursor", "--yes")

    assert refused.exit_code == 2
    assert str(file) in refused.stderr
    assert f'{{"askback": {{"url": "{url_of(person)}"}}}}' in refused.stderr
    assert file.read_bytes() == before
    assert [each.name for each in file.parent.iterdir()] == [file.name]


@pytest.mark.parametrize("known", ["ORIGIN/mcp/app/", "http://localhost:PORT/mcp/app"])
def test_the_same_server_by_another_address_is_no_second_entry(
    person: Person, file: Path, known: str
) -> None:
    port = person.origin.rpartition(":")[2]
    url = known.replace("PORT", port).replace("ORIGIN", person.origin)
    file.write_text(json.dumps({"mcpServers": {"people": {"url": url}}}))
    before = file.read_bytes()

    assert "already, as people" in person.run("connect", "cursor", "--yes").stderr
    assert file.read_bytes() == before


def test_another_installation_needs_another_name(person: Person, file: Path) -> None:
    known = {"askback": {"url": "https://ask.example.org/mcp/app"}}
    file.write_text(json.dumps({"mcpServers": known}))
    refused = person.run("connect", "cursor", "--yes")

    assert (refused.exit_code, "--name" in refused.stderr) == (2, True)
    assert person.run("connect", "cursor", "--yes", "--name", "here").exit_code == 0
    added = known | {"here": {"url": url_of(person)}}
    assert json.loads(file.read_text()) == {"mcpServers": added}


def test_a_read_only_file_is_left_alone(person: Person, file: Path) -> None:
    file.write_text("{}")
    file.chmod(0o400)

    assert person.run("connect", "cursor", "--yes").exit_code == 2
    assert file.read_text() == "{}"


def test_a_link_goes_on_leading_to_the_file(person: Person, file: Path, tmp_path: Path) -> None:
    real = tmp_path / "mcp.json"
    real.write_text("{}")
    file.symlink_to(real)

    assert person.run("connect", "cursor", "--yes").exit_code == 0
    assert file.is_symlink()
    assert "askback" in real.read_text()


def test_claude_desktop_is_connected_by_hand(person: Person, tmp_path: Path) -> None:
    connected = with_program(person, "claude", tmp_path, "exit 0")

    assert "Add custom connector" in connected.stderr
    assert "an address of this computer is not reached" in connected.stderr


@pytest.mark.parametrize("typed", ["n\n", "", "\n"])
def test_1_and_nothing_is_changed_without_a_yes(person: Person, typed: str) -> None:
    declined = person.run("connect", "cursor", typed=typed)

    assert declined.exit_code == 1
    assert not (person.home / ".cursor").exists()


def test_2_for_an_unknown_host_and_7_for_an_unknown_server(person: Person) -> None:
    assert person.run("connect", "emacs").exit_code == 2
    assert person.run("connect", "cursor", "--name", "a b").exit_code == 2
    nowhere = ("--server", "http://127.0.0.1:9")
    assert person.run("connect", "cursor", "--yes", *nowhere).exit_code == 7
    assert not (person.home / ".cursor").exists()
