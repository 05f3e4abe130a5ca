"""Redirect URIs: which a client may register and which a request may name.

Compared as exact strings, except for the port of a loopback address (RFC 8252 section 7.3).
"""

import re
from collections.abc import Iterable
from urllib.parse import SplitResult, urlsplit

from webapp.config_readers import is_loopback as is_loopback_host
from webapp.domain.shared.limits import REDIRECT_URI_MAX_CHARS

LOOPBACK_HOSTS = frozenset({"127.0.0.1", "localhost", "::1"})
PRIVATE_SCHEMES = frozenset({"cursor", "vscode", "vscode-insiders"})
SCRIPT_SCHEMES = frozenset({"javascript", "data", "file", "blob", "about", "vbscript"})
PRINTABLE_ASCII = re.compile(r"[\x21-\x7e]+")
SCHEME = re.compile(r"[a-z][a-z0-9+.-]*:", re.IGNORECASE)


def redirect_matches(registered: str, asked: str) -> bool:
    """True for equal strings, or the same loopback http address on another port."""
    return registered == asked or _same_but_port(registered, asked)


def redirect_problem(uri: object) -> str | None:
    """Why this address cannot be registered, as a sentence; None when it can."""
    if not isinstance(uri, str) or not PRINTABLE_ASCII.fullmatch(uri):
        return "A redirect URI has to be printable ASCII text."
    if len(uri) > REDIRECT_URI_MAX_CHARS:
        return f"A redirect URI is at most {REDIRECT_URI_MAX_CHARS} characters long."
    parts = _split(uri)
    if parts is None or not SCHEME.match(uri):
        return "A redirect URI has to be an absolute address."
    if "#" in uri or "@" in parts.netloc or any(char in uri for char in '\\"'):
        return "A redirect URI has no fragment, user name, quote or backslash."
    return _scheme_problem(parts)


def is_loopback(uri: str) -> bool:
    """True if only a program on the same computer can receive this redirect."""
    parts = _split(uri)
    return parts is not None and parts.scheme == "http" and parts.hostname in LOOPBACK_HOSTS


def stays_on_this_computer(uri: str) -> bool:
    """True for the addresses of this computer, with https too, which only an exact match takes."""
    parts = _split(uri)
    if parts is None or parts.scheme not in {"http", "https"}:
        return False
    host = parts.hostname or ""
    return is_loopback_host(host) or host.endswith(".localhost")


def redirect_host(uri: str) -> str:
    """What is shown of the address to a person: its host, else its scheme.

    A scheme with a dot looks like a host, so it is shown as a scheme.
    """
    scheme = urlsplit(uri).scheme
    program = f"a program on this device ({scheme}:)" if "." in scheme else scheme
    return web_host(uri) or program


def shared_host(uris: Iterable[str]) -> str | None:
    """The one host that every address leads to; None for several, and for private schemes."""
    hosts = {web_host(uri) for uri in uris}
    return hosts.pop() if len(hosts) == 1 else None


def web_host(uri: str) -> str | None:
    """The host of an http or https address; None for any other."""
    parts = urlsplit(uri)
    return parts.hostname if parts.scheme in {"http", "https"} else None


def _scheme_problem(parts: SplitResult) -> str | None:
    if parts.scheme == "https":
        return None if parts.hostname else "An https redirect URI needs a host."
    if parts.scheme == "http":
        loopback = parts.hostname in LOOPBACK_HOSTS
        return None if loopback else "An http redirect URI has to point at this computer."
    if parts.scheme in SCRIPT_SCHEMES:
        return f"The scheme {parts.scheme} cannot receive a redirect."
    if "." in parts.scheme or parts.scheme in PRIVATE_SCHEMES:
        return None
    return "A private scheme needs a dot, as in com.example.app."


def _same_but_port(registered: str, asked: str) -> bool:
    one, other = _split(registered), _split(asked)
    if one is None or other is None or any(char in asked for char in "#\\@"):
        return False
    if not PRINTABLE_ASCII.fullmatch(asked) or not is_loopback(registered):
        return False
    return (one.scheme, one.hostname, one.path, one.query) == (
        other.scheme,
        other.hostname,
        other.path,
        other.query,
    ) and _plain_authority(other)


def _plain_authority(parts: SplitResult) -> bool:
    """The authority is spelled host or host:port and nothing else (upper case is not equal)."""
    host = f"[{parts.hostname}]" if ":" in (parts.hostname or "") else parts.hostname
    return parts.netloc in {host, f"{host}:{parts.port}"}


def _split(uri: str) -> SplitResult | None:
    """The parts; None if the address or its port is malformed."""
    try:
        parts = urlsplit(uri)
        _ = parts.port
    except ValueError:
        return None
    return parts
