"""The page about connecting an agent: its commands, pasted as they are written."""

import json
from pathlib import Path
from urllib.parse import parse_qs, urlsplit

from tests.docs.terminal import Terminal, blocks_of, filled
from tests.oauth.live import Installation


def test_the_commands_work_as_written(running: Installation, tmp_path: Path) -> None:
    register, ask, exchange, call, refresh, end = blocks_of(running, "connect")
    terminal = Terminal(tmp_path / "folder")

    client = json.loads(terminal.paste(register))
    address = terminal.paste(filled(ask, "client_…", client["client_id"]))
    answer = parse_qs(urlsplit(running.person().allow(address)).query)
    assert answer["iss"] == [running.origin]
    tokens = json.loads(terminal.paste(filled(exchange, "askac_…", answer["code"][0])))
    forms = json.loads(terminal.paste(filled(call, "askat_…", tokens["access_token"])))
    renewed = json.loads(terminal.paste(filled(refresh, "askrt_…", tokens["refresh_token"])))
    ended = terminal.paste(end)
    refused = json.loads(terminal.paste(filled(call, "askat_…", renewed["access_token"])))
    terminal.close()

    assert forms["forms"] == []
    assert tokens["scope"] == "forms:read forms:write responses:read offline_access"
    assert (ended, refused["code"]) == ("{}", "authentication_required")
