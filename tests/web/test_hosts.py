"""Under which names the installation answers."""

import pytest
from flask.testing import FlaskClient

PAGE, API = "/docs/nowhere?a=b", "/api/nowhere"
LINE_END = "/docs/a%0D%0ASet-Cookie:%20a=b"


def ask(client: FlaskClient, path: str, host: str, method: str = "GET") -> tuple[int, str | None]:
    answer = client.open(path, method=method, headers={"Host": host})
    return answer.status_code, answer.headers.get("Location")


@pytest.mark.parametrize(
    ("path", "method", "host", "status", "location"),
    [
        *(
            (PAGE, "GET", host, 302, f"http://127.0.0.1:8000{PAGE}")
            for host in ("localhost:8000", "127.0.0.1", "[::1]:8000", "127.8.8.8:8000")
        ),
        (LINE_END, "GET", "localhost:8000", 302, f"http://127.0.0.1:8000{LINE_END}"),
        (API, "GET", "localhost:8000", 404, None),
        ("/.well-known/nowhere", "GET", "localhost:8000", 404, None),
        ("/docs/nowhere", "POST", "localhost:8000", 404, None),
        (PAGE, "GET", "127.0.0.1:8000", 404, None),
        *(
            (path, "GET", host, 400, None)
            for path in (PAGE, API)
            for host in ("evil.example", "127.0.0.1.evil.example", "a b", "[::1", "\xff")
        ),
    ],
)
def test_on_loopback_pages_move_to_the_public_name_and_other_names_are_refused(
    client: FlaskClient, path: str, method: str, host: str, status: int, location: str | None
) -> None:
    assert ask(client, path, host, method) == (status, location)


@pytest.mark.settings(public_url="https://ask.example.org", trusted_hosts=("10.0.0.7",))
@pytest.mark.parametrize(
    ("host", "status"),
    [
        ("ask.example.org", 404),
        ("ASK.example.org:443", 404),
        ("10.0.0.7:8000", 404),
        ("127.0.0.1", 400),
        ("evil.example", 400),
    ],
)
def test_a_public_installation_knows_its_names(client: FlaskClient, host: str, status: int) -> None:
    assert ask(client, API, host) == (status, None)


@pytest.mark.settings(public_url="https://ask.example.org")
@pytest.mark.parametrize(
    ("path", "status"), [("/healthz", 200), ("/healthz/x", 400), ("/readyz/", 400)]
)
def test_probes_alone_may_use_any_host_name(client: FlaskClient, path: str, status: int) -> None:
    assert ask(client, path, "10.0.0.7:8000") == (status, None)
