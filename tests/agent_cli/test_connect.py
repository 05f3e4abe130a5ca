"""`askback connect`: the command of a host, and Cursor's file: new, full, strange, read-only."""

import json
import shlex
import stat
from collections.abc import Iterator
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


@pytest.fixture(scope="module")
def served(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Site]:
    key = "only-for-tests-only-for-tests-only-for-tests"
    folder: Path = tmp_path_factory.mktemp("connect")
    with site(Settings(secret_key=key, data_keys=DATA_KEYS, data_folder=folder)) as running:
        yield running


@pytest.fixture
def url(served: Site, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> str:
    """For somebody with a home folder, without any host's own command."""
    monkeypatch.setenv("HOME", str(tmp_path / "home"))
    monkeypatch.setenv("PATH", f"{tmp_path}/programs")
    monkeypatch.setenv("ASKBACK_URL", served.origin)
    (tmp_path / "programs").mkdir()
    return f"{served.origin}/mcp/app"


def connect(host: str, *options: str, typed: str = "") -> Result:
    return CliRunner().invoke(main, ["connect", host, *options], input=typed)


@pytest.fixture
def file(url: str, tmp_path: Path) -> Path:
    """The settings of Cursor, in a folder that is there."""
    path = tmp_path / "home/.cursor/mcp.json"
    path.parent.mkdir(parents=True)
    return path


@pytest.mark.parametrize("host", COMMANDS)
@pytest.mark.parametrize(("end", "code"), [("exit 0", 0), ("exit 3", 1), ("", 1)])
def test_the_command_of_a_host_is_run_or_shown(
    url: str, host: str, tmp_path: Path, end: str, code: int
) -> None:
    named = [word.replace("askback", "work") for word in COMMANDS[host]]
    program, *words = [word.replace("URL", url) for word in named]
    if end:  # it writes down its arguments; else there is none
        path = tmp_path / "programs" / program
        path.write_text(f'#!/bin/sh\nprintf "%s\\n" "$@" > {tmp_path}/arguments\n{end}\n')
        path.chmod(0o755)

    connected = connect(host, "--yes", "--name", "work")

    assert connected.exit_code == code
    assert shlex.join([program, *words]) in connected.stderr
    if end:
        assert (tmp_path / "arguments").read_text().splitlines() == words


def test_a_new_file_is_made_once(url: str, tmp_path: Path) -> None:
    path = tmp_path / "home/.cursor/mcp.json"
    connected, before, again = connect("cursor", typed="y\n"), path.read_bytes(), connect("cursor")

    assert connected.exit_code == again.exit_code == 0
    assert json.loads(before) == {"mcpServers": {"askback": {"url": url}}}
    assert str(path) in connected.stderr
    assert "already, as askback" in again.stderr
    assert path.read_bytes() == before


def test_everything_else_in_the_file_is_kept_with_a_copy(url: str, file: Path) -> None:
    other = {"command": "npx", "args": ["x"], "env": {"A": "1"}}
    settings = {"theme": "dunkel – 暗い", "mcpServers": {"other": other}, "inputs": [1.5]}
    file.write_text(before := "\ufeff" + json.dumps(settings, indent="\t", ensure_ascii=False))
    file.chmod(0o640)

    assert connect("cursor", typed="y\n").exit_code == 0

    settings["mcpServers"] = {"other": other, "askback": {"url": url}}
    assert json.loads(file.read_text()) == settings
    assert list(json.loads(file.read_text())) == list(settings)
    assert stat.S_IMODE(file.stat().st_mode) == 0o640
    (copy,) = file.parent.glob(f"{file.name}.*.bak")
    assert copy.read_text() == before


@pytest.mark.parametrize(
    "text",
    ["[]", "{ // mine\n}", '{"mcpServers": []}', "\udcff", '{"a": 1,}', "{" * 100_000],
)
def test_a_file_that_is_not_plain_json_is_left_alone(url: str, file: Path, text: str) -> None:
    file.write_bytes(before := text.encode(errors="surrogateescape"))
    refused = connect("cursor", "--yes")

    assert refused.exit_code == 2
    assert str(file) in refused.stderr
    assert f'{{"askback": {{"url": "{url}"}}}}' in refused.stderr
    assert file.read_bytes() == before
    assert [each.name for each in file.parent.iterdir()] == [file.name]


@pytest.mark.parametrize(
    ("host", "options", "typed", "code"),
    [
        *(("cursor", (), typed, 1) for typed in ("n\n", "", "\n")),
        ("emacs", (), "", 2),
        ("cursor", ("--yes", "--server", "http://127.0.0.1:9"), "", 7),
    ],
)
def test_nothing_is_changed_without_a_yes_a_host_and_a_server(
    url: str, tmp_path: Path, host: str, options: tuple[str, ...], typed: str, code: int
) -> None:
    assert connect(host, *options, typed=typed).exit_code == code
    assert not (tmp_path / "home/.cursor").exists()
