"""One web process of a production installation, on PostgreSQL and Redis."""

import json
import signal
import subprocess
import time
import urllib.request
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor

import pytest

from tests.command import DATA_KEYS, askback, askback_here, start
from tests.services import free_port, wait_until

POSTGRESQL = pytest.mark.parametrize("empty_database_url", ["postgresql"], indirect=True)


@pytest.fixture
def variables(empty_database_url: str, redis_url: str) -> dict[str, str]:
    port = free_port()
    return {
        "DATABASE_URL": empty_database_url,
        "REDIS_URL": redis_url,
        "SECRET_KEY": "kX3vQ9wLz7Bn2Rt5Yh8Mj4Gf6Pd1Sc0Ae",
        "DATA_KEYS": DATA_KEYS,
        "PUBLIC_URL": f"http://127.0.0.1:{port}",
        "PORT": str(port),
    }


@pytest.fixture
def web(variables: dict[str, str]) -> Iterator[subprocess.Popen[str]]:
    """`askback web` on a migrated database."""
    assert askback_here("migrate", **variables).returncode == 0
    process = start("web", **variables)
    try:
        wait_until(lambda: answers(variables) or process.poll() is not None, "starting")
        yield process
    finally:
        process.kill()
        process.communicate()


def call(variables: dict[str, str], path: str, token: str = "", body: object = None) -> object:
    """The JSON that a GET, or a POST of `body`, is answered with."""
    sent = urllib.request.Request(variables["PUBLIC_URL"] + path)
    if token:
        sent.add_header("Authorization", f"Bearer {token}")
    if body is not None:
        sent.data = json.dumps(body).encode()
        sent.add_header("Content-Type", "application/json")
    with urllib.request.urlopen(sent, timeout=30) as answer:
        return json.load(answer)


def answers(variables: dict[str, str]) -> bool:
    try:
        return bool(call(variables, "/healthz"))
    except OSError:
        return False


@POSTGRESQL
def test_without_the_schema_it_names_the_command_to_run(variables: dict[str, str]) -> None:
    refused = askback("web", **variables)

    assert (refused.returncode, refused.stdout) == (1, "")
    assert refused.stderr == (
        "Error: Askback cannot start on this database: it has no tables yet; run: askback migrate\n"
    )


def test_it_waits_for_an_unavailable_database(redis_url: str, variables: dict[str, str]) -> None:
    away = variables | {"DATABASE_URL": f"postgresql://askback@127.0.0.1:{free_port()}/askback"}
    process = start("web", **away)
    try:
        wait_until(lambda: answers(away) or process.poll() is not None, "starting")
    finally:
        process.terminate()
        out, _ = process.communicate(timeout=10)

    lines = [json.loads(line) for line in out.splitlines()]
    assert lines[0]["message"] == "the database does not answer yet"
    assert process.returncode == 0


@POSTGRESQL
def test_a_stop_ends_a_long_wait_with_a_response(
    web: subprocess.Popen[str], variables: dict[str, str]
) -> None:
    email = ("--email", "ann@example.com")
    create = ("creator", "create", *email, "--password-stdin")
    askback_here(*create, typed="a long dull day\n", **variables)
    issue = ("token", "issue", *email, "--scope", "forms:write")
    token = askback_here(*issue, **variables).stdout.strip()
    draft = call(variables, "/api/drafts", token, {"title": "Rota"})
    with ThreadPoolExecutor() as pool:
        waiting = pool.submit(call, variables, f"/api/drafts/{draft['draftId']}?wait=25", token)
        time.sleep(0.5)
        web.send_signal(signal.SIGTERM)
        out, _ = web.communicate(timeout=5)

        assert waiting.result(1)["draftId"] == draft["draftId"]
    assert web.returncode == 0
    assert json.loads(out.splitlines()[-1])["message"].endswith("everything answered is saved.")


@POSTGRESQL
def test_every_log_line_is_json(web: subprocess.Popen[str], variables: dict[str, str]) -> None:
    assert call(variables, "/readyz") == {"status": "ok", "database": "ok", "redis": "ok"}
    with pytest.raises(OSError, match="401"):
        call(variables, "/api/forms?access_token=canary")
    web.send_signal(signal.SIGTERM)
    out, errors = web.communicate(timeout=5)

    *lines, last = [json.loads(line) for line in out.splitlines()]
    requests = [line for line in lines if line["logger"] == "askback.requests"]
    assert [(line["route"], line["status"]) for line in requests] == [("/api/forms", 401)]
    assert f"Askback runs on {variables['PUBLIC_URL']}" in [line["message"] for line in lines]
    assert last["message"] == "Askback has stopped; everything answered is saved."
    assert (errors, out.count("canary")) == ("", 0)
