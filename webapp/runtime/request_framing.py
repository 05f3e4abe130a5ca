"""Which heads of requests are refused because servers could read them differently (RFC 9112)."""

import re
from collections.abc import Collection, Iterable
from http import HTTPStatus

VERSIONS = {"1.0", "1.1"}
# RFC 3986 section 3.2: an address in brackets, else a name or an IPv4 address; and a port
HOST = re.compile(
    rb"(?:\[[0-9A-Fa-f:.]+\]|(?:[A-Za-z0-9._~!$&'()*+;=-]|%[0-9A-Fa-f]{2})+)(?::([0-9]{0,5}))?"
)
LENGTH = re.compile(rb"[0-9]{1,18}")
CHUNKED = b"chunked"


def refused_framing(
    version: str, fields: Collection[tuple[bytes, bytes]], authority: bytes | None = None
) -> HTTPStatus | None:
    """The status of the refusal, after which the connection has to close; None: it is fine.

    fields     names in lower case, values without white space around them
    authority  of an absolute request target
    """
    hosts, lengths, codings = (
        [value for name, value in fields if name == wanted]
        for wanted in (b"host", b"content-length", b"transfer-encoding")
    )
    required = 1 if version == "1.1" else 0
    if version not in VERSIONS or not required <= len(hosts) <= 1:  # section 3.2
        return HTTPStatus.BAD_REQUEST
    if not all(map(_is_host, hosts if authority is None else [*hosts, authority])):
        return HTTPStatus.BAD_REQUEST
    if len(lengths) + len(codings) > 1 or not all(map(LENGTH.fullmatch, lengths)):  # section 6
        return HTTPStatus.BAD_REQUEST
    return _refused_coding(version, codings)


def _is_host(value: bytes) -> bool:
    found = HOST.fullmatch(value)
    return found is not None and int(found[1] or 0) < 65_536


def _refused_coding(version: str, codings: Iterable[bytes]) -> HTTPStatus | None:
    """Nothing but `chunked`, once, and not of HTTP/1.0 (section 6.1)."""
    for coding in codings:
        named = [each.strip(b" \t") for each in coding.lower().split(b",")]
        if version == "1.0" or named.count(CHUNKED) > 1 or b"" in named:
            return HTTPStatus.BAD_REQUEST
        if named != [CHUNKED]:
            return HTTPStatus.NOT_IMPLEMENTED
    return None
