"""What the HTTP server itself refuses can be read by the pages that may read the route."""

from collections.abc import Iterator

import pytest
from flask import Flask

from tests.serving import exchange, new_app, serving
from webapp.base.config import Settings

PAGE = "https://host.example.org"
STRANGER = "https://stranger.example.org"
REFUSED = [
    ("Content-Length: 99999999", 413),
    ("Host: example.org", 400),
    (f"A: {'a' * 70_000}", 431),
    ("Transfer-Encoding: chunked\r\n\r\nz", 400),
]


@pytest.fixture
def served(settings: Settings) -> Iterator[Flask]:
    app = new_app(settings.model_copy(update={"mcp_allowed_origins": frozenset({PAGE})}))
    with serving(app):
        yield app


def headers_of(served: Flask, path: str, *lines: str) -> tuple[int, dict[str, str]]:
    """Status and headers, their names in lower case."""
    sent = "\r\n".join([f"POST {path} HTTP/1.1", "Host: 127.0.0.1", *lines, "", ""])
    head, *_ = exchange(served, sent.encode()).partition(b"\r\n\r\n")
    first, *rest = head.decode().split("\r\n")
    named = (line.split(": ", 1) for line in rest)
    return int(first.split()[1]), {name.lower(): value for name, value in named}


@pytest.mark.parametrize(("line", "status"), REFUSED)
@pytest.mark.parametrize("path", ["/mcp/app", "/mcp/app/x"])
def test_an_allowed_page_reads_why_its_message_failed(
    served: Flask, path: str, line: str, status: int
) -> None:
    found, headers = headers_of(served, path, f"Origin: {PAGE}", line)

    assert found == status
    assert headers["access-control-allow-origin"] == PAGE
    assert headers["access-control-expose-headers"] == "WWW-Authenticate"
    assert headers["vary"] == "Origin"


@pytest.mark.parametrize(("line", "status"), REFUSED)
@pytest.mark.parametrize("lines", [(), (f"Origin: {STRANGER}",), (f"Origin: {PAGE}.example.org",)])
def test_no_other_page_does(served: Flask, lines: tuple[str, ...], line: str, status: int) -> None:
    found, headers = headers_of(served, "/mcp/app", *lines, line)

    assert found == status
    assert "access-control-allow-origin" not in headers
    assert headers["vary"] == "Origin"


def test_two_origins_are_none(served: Flask) -> None:
    lines = (f"Origin: {PAGE}", f"Origin: {PAGE}", f"A: {'a' * 70_000}")
    status, headers = headers_of(served, "/mcp/app", *lines)

    assert status == 431
    assert "access-control-allow-origin" not in headers


@pytest.mark.parametrize(("line", "status"), REFUSED)
@pytest.mark.parametrize(
    "path", ["/oauth/token", "/oauth/register", "/.well-known/oauth-authorization-server"]
)
def test_every_page_reads_the_refusals_of_sign_in(
    served: Flask, path: str, line: str, status: int
) -> None:
    found, headers = headers_of(served, path, f"Origin: {STRANGER}", line)

    assert found == status
    assert headers["access-control-allow-origin"] == "*"
    assert headers["access-control-expose-headers"] == "WWW-Authenticate"


@pytest.mark.parametrize("path", ["/api/forms", "/account", "/r/x", "/api/agent/asks/x/events"])
def test_nothing_else_is_opened(served: Flask, path: str) -> None:
    status, headers = headers_of(served, path, f"Origin: {PAGE}", "Host: example.org")

    assert status == 400
    assert "access-control-allow-origin" not in headers


def test_a_fault_of_the_application_is_readable_too(
    served: Flask, monkeypatch: pytest.MonkeyPatch
) -> None:
    def broken(*_given: object) -> None:
        raise RuntimeError("before the view")

    monkeypatch.setattr(served, "wsgi_app", broken)
    status, headers = headers_of(served, "/mcp/app", f"Origin: {PAGE}", "Content-Length: 0")

    assert status == 500
    assert headers["access-control-allow-origin"] == PAGE
