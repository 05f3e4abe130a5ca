"""HTTP requests as bytes, and what any server of ours answers: data, without a server.

`@host` stands for our own host and port, `@id` for what marks the requests that are executed.
"""

from collections.abc import Collection
from typing import NamedTuple

ID = "X-Request-Id: @id"
HOST = "Host: @host"
API, MCP, PAGE = "/api/forms", "/mcp/app", "/login"
BAD = {400}
UNKNOWN = {400, 501}  # a coding that no server of ours knows; 400 where our errors have no 501
LARGE = {400, 413, 431}
# one route for each kind of request
ROUTES = (API, MCP, PAGE, "/healthz", "/r/unknown", "/static/x.css", "/oauth/token")


class Sent(NamedTuple):
    """What is sent on one connection.

    statuses  of the last response
    executed  how many requests reach the application
    closed    whether the server closes then; else it answers the next request
    """

    name: str
    data: bytes
    statuses: Collection[int] = BAD
    executed: int = 0
    closed: bool = True


def head(*lines: str, method: str = "GET", path: str = API, version: str = " HTTP/1.1") -> bytes:
    return "\r\n".join([f"{method} {path}{version}", ID, *lines, "", ""]).encode("latin-1")


def post(*lines: str, body: bytes = b"", path: str = API) -> bytes:
    return head(HOST, *lines, method="POST", path=path) + body


SECOND = head(HOST)  # a whole request, which a refused one before it may want to smuggle
CHUNKED = "Transfer-Encoding: chunked"
FIVE = b"5\r\nhello\r\n0\r\n\r\n"


def refused(name: str, data: bytes, statuses: Collection[int] = BAD) -> Sent:
    """Nothing of it is executed, and nothing behind it."""
    return Sent(name, data + SECOND, statuses)


def taken(name: str, data: bytes, executed: int = 1) -> Sent:
    """401, as nobody signs in; the connection stays open."""
    return Sent(name, data, {401, 405}, executed, closed=False)


def ended(name: str, data: bytes) -> Sent:
    """It is executed as its chunks say, and nothing behind it (RFC 9112 section 6.3)."""
    return Sent(name, data + SECOND, {401, 405}, executed=1)


def field(name: str, line: str) -> Sent:
    return refused(name, head(HOST, line))


def length(value: str) -> Sent:
    return refused(f"length {value[:20]!r}", post(f"Content-Length: {value}", body=b"hello"))


def coding(value: str, statuses: Collection[int] = BAD) -> Sent:
    name = f"coding {value!r}"
    return refused(name, post(f"Transfer-Encoding:{value}", body=FIVE), statuses)


def host(value: str) -> Sent:
    return refused(f"host {value!r}", head(f"Host:{value}"))


def chunks(name: str, body: bytes, statuses: Collection[int] = BAD, path: str = API) -> Sent:
    return refused(f"chunks: {name}", post(CHUNKED, body=body, path=path), statuses)


def foreign(name: str, path: str, line: str = HOST) -> Sent:
    """Refused by the application."""
    return Sent(name, head(line, path=path), BAD, 1, closed=False)


FRAMING = (
    ended("both lengths", post("Content-Length: 5", CHUNKED, body=FIVE)),
    ended("both lengths, the other first", post(CHUNKED, "Content-Length: 0", body=FIVE)),
    ended("both lengths at MCP", post(CHUNKED, "Content-Length: 5", body=FIVE, path=MCP)),
    refused("both lengths of 1.0", head(HOST, CHUNKED, "Content-Length: 5", version=" HTTP/1.0")),
    refused("chunks of 1.0", head(HOST, CHUNKED, version=" HTTP/1.0") + FIVE),
    refused("two lengths", post("Content-Length: 5", "Content-Length: 6", body=b"hello")),
    refused("a length and none", post("Content-Length: 5", "Content-Length:", body=b"hello")),
    *map(length, ("5, 5", "5, 6", "+5", "-5", "0x5", "5 5", "", "\xb2", "5\x00", "5" * 5000)),
    *map(coding, (" chunked, chunked", "", " ,", " ,chunked", " chunked\x00")),
    *(
        coding(value, UNKNOWN)
        for value in (" gzip", " gzip, chunked", " chunked, gzip", " xchunked", " chunked;q=1")
    ),
    refused("two codings", post(CHUNKED, CHUNKED, body=FIVE)),
    refused("two codings, one unknown", post(CHUNKED, "Transfer-Encoding: gzip", body=FIVE)),
    refused("a coding on two lines", post("Transfer-Encoding:", " chunked", body=FIVE)),
    refused("an unknown coding at MCP", post("Transfer-Encoding: x", path=MCP), UNKNOWN),
    refused("an unknown coding at a page", post("Transfer-Encoding: x", path=PAGE), UNKNOWN),
    taken("one length twice", post("Content-Length: 5", "Content-Length: 5", body=b"hello")),
    taken("chunks in capitals", post("TRANSFER-ENCODING: \t Chunked \t", body=FIVE)),
    taken("two requests", head(HOST) + head(HOST), executed=2),
    taken("a request behind chunks", post(CHUNKED, body=FIVE) + head(HOST), executed=2),
)

HOSTS = (
    *(refused(f"no host: {path}", head(path=path)) for path in ROUTES),
    *(refused(f"one host twice: {path}", head(HOST, HOST, path=path)) for path in ROUTES),
    refused("two hosts", head(HOST, "Host: evil.example")),
    refused("two hosts, the other first", head("Host: evil.example", HOST)),
    refused("a host and none", head(HOST, "Host:")),
    *map(host, ("", " a b", " @host, @host", " x:99999", " [::1", " me@x", " x/y", " x\x00")),
    refused("two hosts of 1.0", head(HOST, HOST, version=" HTTP/1.0")),
    Sent("no host of 1.0", head(version=" HTTP/1.0"), {400, 401}, 1),
    Sent("a host of 1.0", head(HOST, version=" HTTP/1.0"), {401}, 1),
    foreign("a foreign host", API, "Host: evil.example"),
    taken("our address as target", head(HOST, path=f"http://@host{API}")),
    foreign("our address and a foreign host", f"http://@host{API}", "Host: evil.example"),
    taken("a foreign target with our host", head(HOST, path=f"http://evil.example{API}")),
    refused("a target with two hosts", head(HOST, HOST, path=f"http://@host{API}")),
    refused("half an address as target", head(HOST, path=f"http://[::1{API}")),
)

LINES = (
    field("a blank before the colon", "Content-Length : 0"),
    field("no colon", "no colon"),
    field("a bare CR", "X-A: b\rX-B: c"),
    field("NUL in a value", "X-A: b\x00c"),
    field("NUL in a name", "X\x00A: b"),
    field("a folded line", "X-A: b\r\n c"),
    refused("bare CRs", head(HOST).replace(b"\r\n", b"\r")),
    refused("two blanks", head(HOST, method="GET ")),
    refused("NUL in the target", head(HOST, path="/api/\x00forms")),
    refused("no version", head(HOST, version=""), {400, 505}),
    *(
        refused(f"version {version}", head(HOST, version=f" {version}"), {400, 505})
        for version in ("HTTP/0.9", "HTTP/1.2", "HTTP/2.0", "X")
    ),
    *(
        refused(
            f"headers of 70,000 bytes: {path}", head(HOST, f"A: {'a' * 70_000}", path=path), LARGE
        )
        for path in (API, MCP, PAGE)
    ),
    *(
        refused(f"a body too large: {path}", post("Content-Length: 99999999", path=path), LARGE)
        for path in (API, f"/{API}", MCP, PAGE)
    ),
    refused("a target of 70,000 bytes", head(HOST, path=f"/api/{'a' * 70_000}"), {*LARGE, 414}),
    taken("a name with an underscore", head(HOST, "Content_Length: 5")),
    taken("letters of Latin 1", head(HOST, "X-A: \xe9")),
)

BLANKS = " " * 60_000
NONE = "\0"
SLOW = (  # to read for regular expressions that go back, some of them minutes
    refused("digits and two blanks", head(HOST, path=f"http://{'1' * 60_000} x"), {*LARGE, 414}),
    field("a value of blanks and NUL", f"X-A:{BLANKS}a{NONE}"),
    field("a language of blanks and NUL", f"Accept-Language:{BLANKS}{NONE}"),
    field("an origin of blanks and NUL", f"Origin:{BLANKS}{NONE}"),
    taken("blanks behind a value", head(HOST, f"X-A: a{BLANKS}")),
    refused("thousands of one field", head(HOST, *["X-A:"] * 10_000), LARGE),
)

BOUNDS = (
    Sent("chunks: no end of a chunk", post(CHUNKED, body=FIVE[:8] + b"x" * 5_000), LARGE),
    chunks("many trailers", b"0\r\n" + b"A: b\r\n" * 2_000 + b"\r\n", LARGE),
    chunks("thousands of one byte", b"1\r\nx\r\n" * 4_000 + b"0\r\n\r\n"),
    taken(
        "thousands", post(CHUNKED, body=(b"50\r\n" + b"x" * 80 + b"\r\n") * 4_000 + b"0\r\n\r\n")
    ),
    chunks("a size that is none", b"z\r\nhello\r\n0\r\n\r\n"),
    chunks("a negative size", b"-5\r\nhello\r\n0\r\n\r\n"),
    chunks("a bare LF behind the size", b"5\nhello\r\n0\r\n\r\n"),
    chunks("a bare LF behind a chunk", b"5\r\nhello\n0\r\n\r\n"),
    chunks("more than the size", b"5\r\nhello!\r\n0\r\n\r\n"),
    chunks("less than the size", b"6\r\nhello\r\n0\r\n\r\n"),
    taken("trailers", post(CHUNKED, body=FIVE[:-2] + b"A: b\r\nHost: c\r\n\r\n") + SECOND, 2),
    taken("chunks of one byte", post(CHUNKED, body=b"1\r\nx\r\n" * 2_000 + b"0\r\n\r\n")),
)

REQUESTS = (*FRAMING, *HOSTS, *LINES, *SLOW, *BOUNDS)
