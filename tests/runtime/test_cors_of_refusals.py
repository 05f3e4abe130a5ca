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
@pytest.mark.parametrize(
    ("path", "origins", "allowed"),
    [
        ("/mcp/app", [PAGE], PAGE),
        ("/mcp/app/x", [PAGE], PAGE),
        ("/mcp/app", [], None),
        ("/mcp/app", [STRANGER], None),
        ("/mcp/app", [f"{PAGE}.example.org"], None),
        ("/mcp/app", [PAGE, PAGE], None),
        ("/oauth/token", [STRANGER], "*"),
        ("/oauth/register", [STRANGER], "*"),
        ("/.well-known/oauth-authorization-server", [STRANGER], "*"),
        ("/api/forms", [PAGE], None),
        ("/account", [PAGE], None),
        ("/r/x", [PAGE], None),
        ("/api/agent/asks/x/events", [PAGE], None),
    ],
)
def test_a_refusal_is_readable_where_the_route_is(
    served: Flask, path: str, origins: list[str], allowed: str | None, line: str, status: int
) -> None:
    found, headers = headers_of(served, path, *(f"Origin: {each}" for each in origins), line)

    assert found == (400 if path.startswith("/api/") else status)
    assert headers.get("access-control-allow-origin") == allowed
    assert (headers.get("vary") == "Origin") == path.startswith("/mcp/")
    if allowed:
        assert headers["access-control-expose-headers"] == "WWW-Authenticate"


def test_a_fault_of_the_application_is_readable_too(
    served: Flask, monkeypatch: pytest.MonkeyPatch
) -> None:
    def broken(*_given: object) -> None:
        raise RuntimeError("before the view")

    monkeypatch.setattr(served, "wsgi_app", broken)
    status, headers = headers_of(served, "/mcp/app", f"Origin: {PAGE}", "Content-Length: 0")

    assert status == 500
    assert headers["access-control-allow-origin"] == PAGE
