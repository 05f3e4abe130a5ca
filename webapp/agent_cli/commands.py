"""The commands of agents: `askback sign-in`, `sign-out`, `ask`, `wait` and `connect`."""

import json
import re
import secrets
import shlex
import signal
import sys
from collections.abc import Callable, Iterator
from contextlib import contextmanager

import click

from webapp.agent_cli import asking, exits, hosts, sign_in
from webapp.agent_cli.progress import Progress, working

UNITS = {"": 1, "s": 1, "m": 60, "h": 3600, "d": 86_400}
GOES_ON = frozenset(exits.Exit) - {exits.Exit.WRONG_USE, exits.Exit.GONE}
STDIN = "-"


def _seconds(_ctx: click.Context, _param: click.Parameter, given: str) -> float:
    found = re.fullmatch(r"([0-9]{1,6})([smhd]?)", given)
    if found is None:
        raise click.BadParameter(f'"{given}" is not a duration such as 90, 10m, 2h or 1d')
    return float(int(found[1]) * UNITS[found[2]])


Command = Callable[..., None]
server_option = click.option(
    "--server", help="Its address; else ASKBACK_URL, else the installation of this folder."
)


def _waiting(command: Command) -> Command:
    """Add the options of commands that wait."""
    for option in (
        click.option("--timeout", callback=_seconds, default="1h", show_default=True),
        click.option("--responses", type=click.IntRange(1), default=1, show_default=True),
        click.option("--key", help="Goes on where a command with it has ended."),
        server_option,
    ):
        command = option(command)
    return command


@click.group()
@click.version_option(package_name="askback")
def main() -> None:
    """Askback for agents that have a terminal."""


@main.command("sign-in")
@server_option
@click.option("--no-browser", is_flag=True, help="Print the address, and open nothing.")
@click.option("--timeout", callback=_seconds, default="10m", show_default=True)
def sign_in_command(server: str | None, timeout: float, *, no_browser: bool) -> None:
    """Connect this computer to your account, in a browser."""
    with _ending():
        sign_in.sign_in(exits.server_address(server), browser=not no_browser, seconds=timeout)


@main.command("sign-out")
@server_option
def sign_out_command(server: str | None) -> None:
    """End the connection of this computer, and remove what is stored of it."""
    with _ending():
        sign_in.sign_out(exits.server_address(server))


@main.command("connect")
@click.argument("host", type=click.Choice(list(hosts.HOSTS)))
@server_option
@click.option("--name", default=hosts.NAME, show_default=True, help="In that host.")
@click.option("--yes", is_flag=True, help="Do not ask.")
def connect_command(host: str, server: str | None, name: str, *, yes: bool) -> None:
    """Add the MCP server to a host of agents, after showing what that changes."""
    with _ending():
        address = exits.server_address(server)
        sign_in.check_server(address)
        hosts.connect(hosts.HOSTS[host], f"{address}/mcp/app", name, yes=yes)


@main.command("ask")
@click.argument("words", nargs=-1, metavar="[TITLE QUESTION...]")
@click.option("--file", help="A draft as JSON, with the fields of the API; - for standard input.")
@_waiting
def ask_command(
    words: tuple[str, ...],
    file: str | None,
    server: str | None,
    key: str | None,
    responses: int,
    timeout: float,
) -> None:
    """Ask people, and print each answer as a line of JSON.

    Without words and file, standard input is read, or the command of the same key goes on.
    """
    deadline = exits.Deadline(timeout)
    with _ending(), _going_on("ask", server, key, responses) as (progress, address):
        body = _content(words, file, optional=bool(progress.digest))
        asking.ask(progress, asking.Api(address, deadline), body, responses)


def _content(words: tuple[str, ...], file: str | None, *, optional: bool) -> str:
    """Return the draft as JSON; empty when none is given and it is `optional`. Raises Stopped.

    Read standard input if `file` names it, or if nothing is given and it is not a terminal.
    """
    if words and file:
        raise _wrong("Give either a title and questions, or a file.")
    if words:
        title, *questions = words
        if not questions:
            raise _wrong("After the title, give at least one question.")
        return json.dumps({"title": title, "questions": questions})
    if not file and optional:
        return ""
    name = file if file and file != STDIN else "standard input"
    try:
        with click.open_file(file or STDIN, encoding="utf-8-sig") as opened:
            text = "" if not file and opened.isatty() else opened.read()
        if text.strip() or file:
            return json.dumps(json.loads(text))  # normalised, so that a repetition is the same
    except (OSError, ValueError, RecursionError) as problem:
        raise _wrong(f"{name} cannot be read as JSON: {problem}.") from problem
    raise _wrong("Give a title and at least one question, or a JSON file with --file.")


def _wrong(message: str) -> exits.Stopped:
    return exits.Stopped(exits.Exit.WRONG_USE, message)


@main.command("wait")
@click.argument("form")
@_waiting
def wait_command(
    form: str, server: str | None, key: str | None, responses: int, timeout: float
) -> None:
    """Print each answer to a form as a line of JSON, from the first one on."""
    deadline = exits.Deadline(timeout)
    with _ending(), _going_on("wait", server, key, responses, form) as (progress, address):
        if progress.form_id not in {"", form}:
            raise _wrong(f"The key {progress.key} belongs to {progress.form_id}.")
        progress.note(form_id=form)
        asking.wait(progress, asking.Api(address, deadline), responses)


@contextmanager
def _going_on(
    kind: str, server: str | None, given: str | None, responses: int, *words: str
) -> Iterator[tuple[Progress, str]]:
    """Provide the progress and the server; if the command ends early, say how to continue it.

    given  the key; without one, the command uses its own key and forgets its progress when done
    """
    address, key = exits.server_address(server), given or secrets.token_hex(6)
    again = [exits.called_as(), kind, *words, "--key", key, "--server", address]
    again += ["--responses", str(responses)] if responses > 1 else []
    with working(kind, address, key) as progress:
        try:
            yield progress, address
        except (KeyboardInterrupt, BrokenPipeError) as end:
            said = f"Interrupted. Go on with: {shlex.join(again)}"
            raise exits.Stopped(exits.Exit.INTERRUPTED, said) from end
        except exits.Stopped as end:
            if end.code not in GOES_ON:
                if given is None and not progress.draft_id:
                    progress.forget()
                raise
            said = f"{end} Go on with: {shlex.join(again)}"
            raise exits.Stopped(end.code, said) from end
        if given is None:
            progress.forget()


@contextmanager
def _ending() -> Iterator[None]:
    """Turn each end of a command into its exit code and one line for people."""
    before = signal.signal(signal.SIGTERM, signal.default_int_handler)
    try:
        yield
        return
    except exits.Stopped as end:
        code, said = end.code, str(end)
    except exits.NotNow as reason:  # from interactive commands, which do not retry
        said = str(reason)
        code = exits.Exit.NOT_SIGNED_IN if reason.reached else exits.Exit.NOT_REACHED
    except KeyboardInterrupt:
        code, said = exits.Exit.INTERRUPTED, "Interrupted."
    except OSError as problem:
        said = f"{problem.filename or 'A file'}: {problem.strerror or problem}"
        code = exits.Exit.WRONG_USE
    finally:
        signal.signal(signal.SIGTERM, before)
    exits.tell(said)
    sys.exit(code)
