"""`askback connect`: each host's settings new, full, with comments, read-only; its own command."""

import json
import re
import stat
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pytest
from click.testing import CliRunner, Result

from tests.agent_cli.site import Site, site
from tests.command import DATA_KEYS
from webapp.agent_cli.commands import main
from webapp.base.config import Settings

FILES = {
    "claude": (".claude.json", "mcpServers", {"type": "http"}),
    "cursor": (".cursor/mcp.json", "mcpServers", {}),
    "vscode": (".config/Code/User/mcp.json", "servers", {"type": "http"}),
}
ADDED = {
    "claude": ["mcp", "add", "--transport", "http", "--scope", "user", "askback", "URL"],
    "vscode": ["--add-mcp", '{"name": "askback", "type": "http", "url": "URL"}'],
    "codex": ["mcp", "add", "askback", "--url", "URL"],
}
PROGRAMS = {"claude": "claude", "vscode": "code", "codex": "codex"}
FULL: dict[str, Any] = {
    "theme": "dunkel – 暗い",
    "mcpServers": {"other": {"command": "npx", "args": ["x"], "env": {"A": "1"}}},
    "servers": {"other": {"type": "stdio", "command": "npx"}},
    "inputs": [{"id": "token", "type": "promptString"}],
}
by_file = pytest.mark.parametrize("host", FILES)


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
    for variable in ("CLAUDE_CONFIG_DIR", "CODEX_HOME", "XDG_CONFIG_HOME"):
        monkeypatch.delenv(variable, raising=False)
    monkeypatch.setenv("HOME", str(tmp_path / "home"))
    monkeypatch.setenv("PATH", f"{tmp_path}/programs")
    monkeypatch.setenv("ASKBACK_URL", served.origin)
    (tmp_path / "programs").mkdir()
    return Person(served.origin, tmp_path / "home")


def settings_of(person: Person, host: str) -> Path:
    return person.home / FILES[host][0]


def written(path: Path, text: str) -> Path:
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(text)
    return path


def url_of(person: Person) -> str:
    return f"{person.origin}/mcp/app"


def entry_of(person: Person, host: str) -> dict[str, str]:
    return {**FILES[host][2], "url": url_of(person)}


@by_file
def test_a_new_file_is_made(person: Person, host: str) -> None:
    connected = person.run("connect", host, typed="y\n")
    path = settings_of(person, host)

    assert connected.exit_code == 0
    assert json.loads(path.read_text()) == {FILES[host][1]: {"askback": entry_of(person, host)}}
    assert str(path) in connected.stderr
    assert url_of(person) in connected.stderr


@by_file
def test_everything_else_in_the_file_is_kept_and_a_copy_beside_it(
    person: Person, host: str
) -> None:
    before = json.dumps(FULL, indent="\t", ensure_ascii=False)
    path = written(settings_of(person, host), before)
    path.chmod(0o640)

    assert person.run("connect", host, typed="y\n").exit_code == 0

    section = FILES[host][1]
    expected = FULL | {section: FULL[section] | {"askback": entry_of(person, host)}}
    assert json.loads(path.read_text()) == expected
    assert list(json.loads(path.read_text())) == list(FULL)
    assert path.read_text().startswith('{\n\t"theme": "dunkel – 暗い"')
    assert stat.S_IMODE(path.stat().st_mode) == 0o640
    (copy,) = path.parent.glob(f"{path.name}.*.bak")
    assert copy.read_text() == before


@by_file
def test_again_makes_no_second_entry(person: Person, host: str) -> None:
    person.run("connect", host, "--yes")
    before = settings_of(person, host).read_text()
    again = person.run("connect", host, "--yes")

    assert again.exit_code == 0
    assert "already, as askback" in again.stderr
    assert settings_of(person, host).read_text() == before


@by_file
def test_another_installation_gets_a_name_of_its_own(person: Person, host: str) -> None:
    section = FILES[host][1]
    known = {"type": "http", "url": "https://ask.example.org/mcp/app"}
    path = written(settings_of(person, host), json.dumps({section: {"askback": known}}))
    person.run("connect", host, "--yes")

    port = person.origin.rpartition(":")[2]
    assert json.loads(path.read_text())[section] == {
        "askback": known,
        f"askback-127-0-0-1-{port}": entry_of(person, host),
    }


@by_file
def test_an_entry_of_such_a_name_is_kept(person: Person, host: str) -> None:
    section, port = FILES[host][1], person.origin.rpartition(":")[2]
    name = f"askback-127-0-0-1-{port}"
    known = {each: {"url": f"https://{each}.example.org/"} for each in ("askback", name)}
    path = written(settings_of(person, host), json.dumps({section: known}))

    assert person.run("connect", host, "--yes").exit_code == 0
    added = {f"{name}-2": entry_of(person, host)}
    assert json.loads(path.read_text())[section] == known | added


KEPT = {  # « and » enclose what is added
    "comments": """{
  // mine
  "mcpServers": {«
    ENTRY,»
    "a": {"url": "x"} // first
    /* end */
  }
}""",
    "trailing commas, tabs": '{\n\t"mcpServers": {«\n\t\tENTRY,»\n\t\t"a": [1,],\n\t},\n}',
    "CRLF, byte order mark": '\ufeff{\r\n  "mcpServers": {«\r\n  ENTRY,»\r\n  "a": {}\r\n  }\r\n}',
    "an empty section": '{\n    "mcpServers": {«ENTRY»},\n    "b": 1.50\n}',
    "a section of a comment": '{"mcpServers": {«\n    ENTRY»\n    // none yet\n  }\n}',
    "a comment behind the brace": '{"mcpServers": {« ENTRY,» // {\n  "a": {}}}',
    "one line": '{"mcpServers":{«ENTRY,»"a":{"url":"x"} /* { */}, "b":"\\u00e9 é"}',
    "one line with a comma": '{"mcpServers": {«ENTRY,»"a": {}, }}',
    "the word elsewhere": '{"x": {"mcpServers": {}}, "y": "\\"mcpServers\\": {",\n'
    ' "mcpServers": {«ENTRY,»"z": {}}}',
    "no section": """// all of it
{«
  "mcpServers": {ENTRY},»
  "b": "// no comment, \\"not\\" one"
}  // the end""",
    "no section, the word elsewhere": '{«"mcpServers": {ENTRY},»"x": {"mcpServers": {}}}',
    "an empty object": '{«"mcpServers": {ENTRY}»}\n',
    "nothing": '«{\n  "mcpServers": {\n    "askback": {\n      "url": "URL"\n    }\n  }\n}\n»',
}
TOML_KEPT = {
    "a new file": '«[mcp_servers.askback]\nurl = "URL"\n»',
    "comments": '# mine\nmodel = "x"  # y\n\n[mcp_servers.a]\ncommand = "b"\n'
    '«\n[mcp_servers.askback]\nurl = "URL"\n»',
    "CRLF, no last line end": 'a = "x"\r\n[b]\r\nc = 1'
    '«\r\n\r\n[mcp_servers.askback]\r\nurl = "URL"\r\n»',
}


@pytest.mark.parametrize(
    ("host", "text"),
    [
        *(pytest.param("cursor", text, id=kind) for kind, text in KEPT.items()),
        *(pytest.param("codex", text, id=f"TOML, {kind}") for kind, text in TOML_KEPT.items()),
    ],
)
def test_every_other_byte_of_a_file_is_kept(person: Person, host: str, text: str) -> None:
    path = person.home / (".codex/config.toml" if host == "codex" else FILES[host][0])
    path.parent.mkdir(parents=True)
    path.write_bytes(re.sub("«.*»", "", text, flags=re.DOTALL).encode())
    connected = person.run("connect", host, "--yes")
    again = person.run("connect", host, "--yes")
    added = text.replace("ENTRY", '"askback": {"url": "URL"}').replace("URL", url_of(person))

    assert connected.exit_code == 0, connected.stderr
    assert "already, as askback" in again.stderr
    assert path.read_bytes().decode() == re.sub("[«»]", "", added)


@pytest.mark.parametrize(
    ("host", "text"),
    [
        *(
            (host, text)
            for host in ("claude", "vscode")
            for text in ("[]", "// a comment alone", '{"SECTION": []}', "\udcff", "{'SECTION': {}}")
        ),
        *(
            ("cursor", text)
            for text in ("{SECTION: {}}", '{"a": 1 /* no end }', '{"SECTION": {} "a": 1}')
        ),
        ("cursor", "{" * 100_000),
        *(
            ("codex", text)
            for text in ("SECTION = {}\n", "[SECTION\n", "SECTION = 1\n", "\ufeffa = 1\n", "\udcff")
        ),
    ],
)
def test_a_file_that_is_not_understood_is_refused(person: Person, host: str, text: str) -> None:
    file, section, _ = FILES.get(host, (".codex/config.toml", "mcp_servers", {}))
    path = person.home / file
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_bytes(text.replace("SECTION", section).encode(errors="surrogateescape"))
    before = path.read_bytes()
    refused = person.run("connect", host, "--yes")

    assert refused.exit_code == 2
    assert "Nothing was changed" in refused.stderr
    assert str(path) in refused.stderr
    assert [each.name for each in path.parent.iterdir() if each.is_file()] == [path.name]
    assert path.read_bytes() == before


@pytest.mark.parametrize("known", ["ORIGIN/mcp/app/", "http://localhost:PORT/mcp/app"])
def test_the_same_server_by_another_address_is_no_second_entry(person: Person, known: str) -> None:
    port = person.origin.rpartition(":")[2]
    url = known.replace("PORT", port).replace("ORIGIN", person.origin)
    path = written(
        settings_of(person, "cursor"), json.dumps({"mcpServers": {"people": {"url": url}}})
    )
    before = path.read_bytes()

    assert "already, as people" in person.run("connect", "cursor", "--yes").stderr
    assert path.read_bytes() == before


@by_file
def test_a_read_only_file_is_left_alone(person: Person, host: str) -> None:
    path = written(settings_of(person, host), "{}")
    path.chmod(0o400)
    refused = person.run("connect", host, "--yes")

    assert refused.exit_code == 2
    assert "Nothing was changed" in refused.stderr
    assert path.read_text() == "{}"


@by_file
def test_a_link_goes_on_leading_to_the_file(person: Person, host: str, tmp_path: Path) -> None:
    real = written(tmp_path / "dotfiles" / "mcp.json", "{}")
    link = settings_of(person, host)
    link.parent.mkdir(parents=True, exist_ok=True)
    link.symlink_to(real)

    assert person.run("connect", host, "--yes").exit_code == 0
    assert link.is_symlink()
    assert "askback" in real.read_text()


@pytest.mark.parametrize("host", PROGRAMS)
def test_the_own_command_of_a_host_is_preferred(person: Person, host: str, tmp_path: Path) -> None:
    connected = with_program(person, host, tmp_path, "exit 0")
    arguments = [word.replace("URL", url_of(person)) for word in ADDED[host]]

    assert connected.exit_code == 0
    assert (tmp_path / "arguments").read_text().splitlines() == arguments
    assert "This command will be run" in connected.stderr
    assert not (host in FILES and settings_of(person, host).exists())


@pytest.mark.parametrize("host", PROGRAMS)
def test_1_when_the_own_command_fails(person: Person, host: str, tmp_path: Path) -> None:
    assert with_program(person, host, tmp_path, "exit 3").exit_code == 1


@pytest.mark.parametrize("host", PROGRAMS)
def test_the_own_command_is_not_run_for_a_server_it_knows(
    person: Person, host: str, tmp_path: Path
) -> None:
    if host == "codex":
        toml = f'# mine\n[mcp_servers.people]\nurl = "{url_of(person)}"\n'
        written(person.home / ".codex/config.toml", toml)
    else:
        known = {FILES[host][1]: {"people": entry_of(person, host)}}
        written(settings_of(person, host), json.dumps(known))
    connected = with_program(person, host, tmp_path, "exit 3")

    assert connected.exit_code == 0
    assert "already, as people" in connected.stderr
    assert not (tmp_path / "arguments").exists()


def test_the_own_command_copes_with_comments(person: Person, tmp_path: Path) -> None:
    written(settings_of(person, "vscode"), "{ // mine\n}")

    assert with_program(person, "vscode", tmp_path, "exit 0").exit_code == 0


def test_nobody_is_sent_to_a_sign_in_that_the_host_has_begun(
    person: Person, tmp_path: Path
) -> None:
    """`codex mcp add` signs in where a server offers it."""
    added = with_program(person, "codex", tmp_path, "exit 0").stderr
    toml = f'[mcp_servers.people]\nurl = "{url_of(person)}"\n'
    written(person.home / ".codex/config.toml", toml)
    known = person.run("connect", "codex", "--yes").stderr

    assert "Codex has begun the sign-in itself. Only if it did not end:" in added
    assert "Sign in with:" not in added
    assert "Sign in with: codex mcp login people" in known


def test_claude_desktop_is_told_where_to_click(person: Person) -> None:
    connected = person.run("connect", "claude", "--yes")

    assert "Add custom connector" in connected.stderr
    assert "an address of this computer is not reached" in connected.stderr


@pytest.mark.parametrize("typed", ["n\n", "", "\n"])
def test_1_and_nothing_is_changed_without_a_yes(person: Person, typed: str) -> None:
    declined = person.run("connect", "cursor", typed=typed)

    assert declined.exit_code == 1
    assert not settings_of(person, "cursor").exists()


def test_2_for_an_unknown_host_and_7_for_an_unknown_server(person: Person) -> None:
    assert person.run("connect", "emacs").exit_code == 2
    nowhere = ("--server", "http://127.0.0.1:9")
    assert person.run("connect", "cursor", "--yes", *nowhere).exit_code == 7
    assert not settings_of(person, "cursor").exists()


def with_program(person: Person, host: str, tmp_path: Path, end: str) -> Result:
    """The command of the host, which writes down its arguments, is on the path."""
    program = tmp_path / "programs" / PROGRAMS[host]
    program.write_text(f'#!/bin/sh\nprintf "%s\\n" "$@" > {tmp_path}/arguments\n{end}\n')
    program.chmod(0o755)
    return person.run("connect", host, "--yes")
