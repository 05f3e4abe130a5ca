"""The page about asking from a terminal: its commands, pasted as they are written."""

import json
import re
from collections.abc import Iterator
from concurrent.futures import Future, ThreadPoolExecutor
from contextlib import closing
from pathlib import Path
from typing import Any

import pytest
from flask.testing import FlaskClient

from tests.agent_cli.site import site
from tests.agent_cli.terminal import User
from tests.docs.terminal import Terminal, blocks_of, filled
from tests.services import wait_until
from webapp.agent_cli.exits import Exit
from webapp.agent_cli.hosts import HOSTS
from webapp.base.config import Settings
from webapp.records.drafts import Draft
from webapp.web.limiter import limiter


@pytest.fixture
def user(settings: Settings, tmp_path: Path) -> Iterator[User]:
    own = settings.model_copy(update={"database_url": f"sqlite:///{tmp_path}/terminal.sqlite3"})
    with site(own) as running, closing(User(running, tmp_path / "home")) as user:
        limiter.reset()
        yield user


def test_the_commands_work_as_written(user: User, tmp_path: Path) -> None:
    blocks = blocks_of(user.running, "command-line")
    sign_in, sign_out, ask, file, go_on, wait, connect = blocks
    terminal = Terminal(tmp_path / "folder", HOME=str(user.home))
    assert user.sign_in().code == 0
    terminal.paste(sign_in.partition("\n")[0])

    with ThreadPoolExecutor(1) as pool:
        asked = answered(user, pool.submit(terminal.paste, ask), drafts=1, responses=1)
        more = answered(user, pool.submit(terminal.paste, file), drafts=2, responses=3)
    again = events(terminal.paste(go_on))
    waited = events(terminal.paste(filled(wait, "frm_…", asked[1]["formId"])))
    terminal.paste(f"{connect.strip()} <<< y")
    signed_out = terminal.paste(sign_out)
    terminal.close()

    assert [event["event"] for event in asked] == ["draft", "published", "answer", "completed"]
    assert [event["event"] for event in more].count("completed") == 3
    assert again == []
    assert waited == asked[2:]
    assert f"You are signed out of {user.running.origin}" in signed_out
    settings = json.loads((user.home / ".cursor/mcp.json").read_text())
    assert settings["mcpServers"]["askback"]["url"] == f"{user.running.origin}/mcp/app"


def answered(
    user: User, printing: "Future[str]", *, drafts: int, responses: int
) -> list[dict[str, Any]]:
    """The events of a command, while its creator publishes and people answer."""
    wait_until(lambda: user.count(Draft) == drafts, "the draft")
    user.publish()
    for _ in range(responses):
        user.respond()
    return events(printing.result(30))


def events(printed: str) -> list[dict[str, Any]]:
    """The lines of standard output among all that a terminal shows."""
    return [json.loads(line) for line in printed.splitlines() if line.startswith("{")]


def test_the_page_lists_every_exit_code_event_and_host(client: FlaskClient) -> None:
    page = client.get("/docs/command-line.md").text
    codes = re.findall(r"^- (\d+): ", page.partition("## Exit codes")[2], re.M)

    assert [int(code) for code in codes] == sorted(Exit)
    assert re.findall(r"^- `(draft|published|answer|completed)`: ", page, re.M) == [
        *("draft", "published", "answer", "completed")
    ]
    assert all(f"`{host}`" in page for host in HOSTS)
