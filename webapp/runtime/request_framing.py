"""Which heads of requests are refused because servers could read them differently (RFC 9112)."""

import re
from collections.abc import Mapping
from http import HTTPStatus
from typing import Any

HEAD_BYTES = 64 * 1024
OLD_VERSIONS = {"1", "1.0"}
VERSIONS = {*OLD_VERSIONS, "1.1"}
# RFC 3986 section 3.2: an address in brackets, else a name or an IPv4 address; and a port
HOST = re.compile(
    rb"(?:\[[0-9A-Fa-f:.]+\]|(?:[A-Za-z0-9._~!$&'()*+;=-]|%[0-9A-Fa-f]{2})+)(?::([0-9]{0,5}))?"
)
LENGTH = re.compile(rb"[0-9]{1,18}")


def refused_framing(scope: Mapping[str, Any]) -> HTTPStatus | None:
    """The status of the refusal for an ASGI scope, whose header names are in lower case.

    The connection has to close then. None: it is fine.
    """
    version, fields = scope["http_version"], scope["headers"]
    size = sum(len(name) + len(value) + 4 for name, value in fields)
    if size + len(scope["raw_path"]) + len(scope["query_string"]) > HEAD_BYTES:
        return HTTPStatus.REQUEST_HEADER_FIELDS_TOO_LARGE
    hosts, lengths, codings = (
        [value for name, value in fields if name == wanted]
        for wanted in (b"host", b"content-length", b"transfer-encoding")
    )
    if version in OLD_VERSIONS and hosts in ([], [b""]):  # granian says so that there is none
        hosts = [b"none"]
    if version not in VERSIONS or len(hosts) != 1 or not _is_host(hosts[0]):  # section 3.2
        return HTTPStatus.BAD_REQUEST
    if len(lengths) + len(codings) > 1 or not all(map(LENGTH.fullmatch, lengths)):  # section 6
        return HTTPStatus.BAD_REQUEST
    if codings and codings[0].strip().lower() != b"chunked":
        return HTTPStatus.NOT_IMPLEMENTED
    return None


def _is_host(value: bytes) -> bool:
    found = HOST.fullmatch(value)
    return found is not None and int(found[1] or 0) < 65_536
