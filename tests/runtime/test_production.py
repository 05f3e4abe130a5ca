"""One web process of a production installation, on PostgreSQL and Redis."""

import json
import signal
import subprocess
import time
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager

import httpx
import pytest

from tests.command import DATA_KEYS, askback_here, start
from tests.services import free_port, wait_until

on_postgresql = pytest.mark.parametrize("empty_database_url", ["postgresql"], indirect=True)


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


@contextmanager
def web(variables: dict[str, str]) -> Iterator[tuple[subprocess.Popen[str], httpx.Client]]:
    """`askback web` that answers, and a client of it."""
    process = start("web", **variables)
    with httpx.Client(base_url=variables["PUBLIC_URL"], timeout=30) as client:

        def answers() -> bool:
            try:
                return client.get("/healthz").status_code == 200
            except httpx.TransportError:
                return False

        try:
            wait_until(lambda: answers() or process.poll() is not None, "starting")
            yield process, client
        finally:
            process.kill()
            process.communicate()


def stopped(process: subprocess.Popen[str]) -> list[dict[str, str]]:
    """The lines of its log, once it was told to stop."""
    process.send_signal(signal.SIGTERM)
    out, errors = process.communicate(timeout=10)
    assert (process.returncode, errors) == (0, "")
    return [json.loads(line) for line in out.splitlines()]


def test_it_waits_for_an_unavailable_database(variables: dict[str, str]) -> None:
    away = {"DATABASE_URL": f"postgresql://askback@127.0.0.1:{free_port()}/askback"}
    with web(variables | away) as (process, _):
        assert stopped(process)[0]["message"] == "the database does not answer yet"


@on_postgresql
def test_a_stop_ends_a_long_wait_and_every_log_line_is_json(variables: dict[str, str]) -> None:
    email = ("--email", "ann@example.com")
    askback_here("migrate", **variables)
    create = ("creator", "create", *email, "--password-stdin")
    askback_here(*create, typed="a long dull day\n", **variables)
    issued = askback_here("token", "issue", *email, "--scope", "forms:write", **variables)
    bearer = {"Authorization": f"Bearer {issued.stdout.strip()}"}
    with web(variables) as (process, client), ThreadPoolExecutor() as pool:
        ready = client.get("/readyz").json()
        refused = client.get("/api/forms?access_token=canary")
        draft = client.post("/api/drafts", json={"title": "Rota"}, headers=bearer).json()
        path = f"/api/drafts/{draft['draftId']}?wait=25"
        waiting = pool.submit(client.get, path, headers=bearer)
        time.sleep(0.5)
        lines = stopped(process)
        waited = waiting.result(1)

    assert ready == {"status": "ok", "database": "ok", "redis": "ok"}
    assert (refused.status_code, waited.json()["draftId"]) == (401, draft["draftId"])
    requests = [line for line in lines if line["logger"] == "askback.requests"]
    assert (requests[0]["route"], requests[0]["status"]) == ("/api/forms", 401)
    assert f"Askback runs on {variables['PUBLIC_URL']}" in [line["message"] for line in lines]
    assert lines[-1]["message"] == "Askback has stopped; everything answered is saved."
    assert "canary" not in json.dumps(lines)
