"""When Redis goes away, people still sign in and guessing is still limited."""

import re
from collections.abc import Iterator
from pathlib import Path

import pytest
import requests

from tests.command import askback_here, start
from tests.services import free_port, redis_server, wait_until

EMAIL = "ann@example.com"
PASSWORD = "four plain words here"


def is_ready(origin: str) -> bool:
    try:
        return requests.get(f"{origin}/healthz", timeout=2).ok
    except requests.ConnectionError:
        return False


def sign_in(origin: str, password: str, email: str = EMAIL) -> int:
    """The status of one try in a fresh browser."""
    with requests.Session() as browser:
        page = browser.get(f"{origin}/login", timeout=10)
        token = re.search(r'name="csrf_token" value="([^"]+)"', page.text)
        assert token is not None
        form = {"email": email, "password": password, "csrf_token": token[1]}
        answer = browser.post(f"{origin}/login", data=form, allow_redirects=False, timeout=10)
        return answer.status_code


@pytest.fixture(scope="module")
def origin(tmp_path_factory: pytest.TempPathFactory) -> Iterator[str]:
    """A server whose Redis has died after one sign-in."""
    data: Path = tmp_path_factory.mktemp("data")
    askback_here("migrate", ASKBACK_DATA=str(data))
    create = ("creator", "create", "--email", EMAIL, "--password-stdin")
    askback_here(*create, typed=PASSWORD, ASKBACK_DATA=str(data))
    port = free_port()
    origin = f"http://127.0.0.1:{port}"
    with redis_server() as redis_url:
        server = start("run", ASKBACK_DATA=str(data), PORT=str(port), REDIS_URL=redis_url)
        wait_until(lambda: is_ready(origin) or server.poll() is not None, "starting")
        assert sign_in(origin, PASSWORD) == 303
    yield origin
    server.kill()
    server.communicate()


def test_people_still_sign_in_and_guessing_is_still_limited(origin: str) -> None:
    guesses = [sign_in(origin, "wrong", "bob@example.com") for _ in range(6)]
    form = {"grant_type": "authorization_code"}
    answer = requests.post(f"{origin}/oauth/token", data=form, timeout=10)

    assert sign_in(origin, PASSWORD) == 303
    assert guesses == [422] * 5 + [429]
    assert (answer.status_code, answer.json()["error"]) == (401, "invalid_client")
