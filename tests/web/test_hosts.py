"""Under which names the installation answers."""

import pytest
from flask.testing import FlaskClient

PAGE, API = "/docs/nowhere?a=b", "/api/nowhere"


def ask(client: FlaskClient, path: str, host: str, method: str = "GET") -> tuple[int, str | None]:
    answer = client.open(path, method=method, headers={"Host": host})
    return answer.status_code, answer.headers.get("Location")


@pytest.mark.parametrize("host", ["localhost:8000", "127.0.0.1", "[::1]:8000", "127.8.8.8:8000"])
def test_pages_under_other_loopback_names_redirect_to_the_public_address(
    client: FlaskClient, host: str
) -> None:
    assert ask(client, PAGE, host) == (302, "http://127.0.0.1:8000/docs/nowhere?a=b")


def test_a_line_end_in_the_path_stays_in_the_path(client: FlaskClient) -> None:
    asked = "/docs/a%0D%0ASet-Cookie:%20a=b"

    assert ask(client, asked, "localhost:8000") == (302, f"http://127.0.0.1:8000{asked}")


@pytest.mark.parametrize(
    ("path", "method"), [(API, "GET"), ("/.well-known/nowhere", "GET"), ("/docs/nowhere", "POST")]
)
def test_other_requests_are_not_redirected(client: FlaskClient, path: str, method: str) -> None:
    assert ask(client, path, "localhost:8000", method)[1] is None


def test_a_page_under_the_public_address_is_not_redirected(client: FlaskClient) -> None:
    assert ask(client, PAGE, "127.0.0.1:8000") == (404, None)


@pytest.mark.parametrize("path", [PAGE, API])
@pytest.mark.parametrize("host", ["evil.example", "127.0.0.1.evil.example", "a b", "[::1", "\xff"])
def test_a_foreign_host_name_is_refused(client: FlaskClient, path: str, host: str) -> None:
    assert ask(client, path, host) == (400, None)


def test_a_page_under_a_foreign_name_names_the_setting(client: FlaskClient) -> None:
    page = client.get("/login", headers={"Host": "10.0.0.7:8000"}).text

    assert "Open it at http://127.0.0.1:8000." in page
    assert "TRUSTED_HOSTS" in page


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
def test_probes_may_use_any_host_name(client: FlaskClient) -> None:
    assert ask(client, "/healthz", "10.0.0.7:8000") == (200, None)


@pytest.mark.settings(public_url="https://ask.example.org")
@pytest.mark.parametrize("path", ["/healthz/x", "/readyz/"])
def test_what_is_no_probe_may_not(client: FlaskClient, path: str) -> None:
    assert ask(client, path, "10.0.0.7:8000") == (400, None)
