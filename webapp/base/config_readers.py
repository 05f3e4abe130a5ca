"""Parsers of single settings, and checks of host names: pure functions of text.

A parser returns the value, or raises ValueError with a reason that contains no secret.
"""

import re
import sys
from base64 import b64decode
from importlib.util import find_spec
from ipaddress import ip_address
from pathlib import Path
from urllib.parse import SplitResult, urlsplit

from limits import parse_many

from webapp.base.public_addresses import may_be_private

DAY = 86_400  # seconds
UNSAFE_SECRETS = ("secret", "password", "change", "default", "example")
SECRET_MIN_CHARS = 32
SECRET_MIN_DISTINCT = 10  # a repeated or counted-up key has fewer
DATA_KEY_BYTES = 32  # of AES-256
HOST_NAME = re.compile(r"([a-z0-9_]([a-z0-9_-]*[a-z0-9])?\.)*[a-z]([a-z0-9-]*[a-z0-9])?", re.I)
DEFAULT_PORTS = {"http": 80, "https": 443}
OPERATIONS = ("/chat/completions", "/messages", "/audio/transcriptions")  # which clients append


def rate(text: str) -> str:
    """Check rate limits in the notation of the limits package, separated by semicolons."""
    try:
        parse_many(text)
    except ValueError:
        raise ValueError(f'"{text}" is not a rate limit') from None
    return text


def names(text: str) -> tuple[str, ...]:
    """Split a comma-separated list into words in lower case."""
    return tuple(word.strip() for word in text.lower().split(",") if word.strip())


def printable(text: str) -> str:
    """Check that the text is one line without control characters."""
    visible = text.replace("\u200c", "").replace("\u200d", "")  # joiners belong to spelling
    if not visible.isprintable():
        raise ValueError("it is not one line")
    return text


def contact(text: str) -> str:
    """Check that the text is an e-mail address or the https address of a page."""
    if not re.fullmatch(r"[^@\s<>\"]+@[^@\s<>\"]+\.[^@\s<>\"]+", text):
        parts = urlsplit(text) if text.isprintable() and " " not in text else urlsplit("")
        if parts.scheme != "https" or not parts.hostname:
            raise ValueError(f'"{text}" is neither an e-mail address nor an https address')
    return text


def security_contact(text: str) -> str:
    """Check that the text is a mailto: or https: address (RFC 9116, section 2.5.3)."""
    parts = urlsplit(text) if re.fullmatch(r"[\x21-\x7e]+", text) else urlsplit("")
    mail = parts.scheme == "mailto" and re.fullmatch("[^@]+@[^@]+", parts.path)
    if not (mail or (parts.scheme == "https" and parts.hostname)):
        raise ValueError(f'"{text}" begins neither with mailto: nor with https:')
    return text


def absolute(text: str) -> Path:
    """Return the absolute path of a folder, which need not exist."""
    try:
        return Path(text).expanduser().resolve()
    except (OSError, RuntimeError) as reason:  # no such user; links in a circle
        raise ValueError(f'"{text}" cannot be a folder: {reason}') from None


def address(text: str) -> str:
    """Return an IP address in its shortest notation."""
    try:
        return str(ip_address(text))
    except ValueError:
        raise ValueError("it is not an IP address") from None


def secret(text: str) -> str:
    """Check that a key is long and varied enough not to be guessed."""
    if len(text) < SECRET_MIN_CHARS:
        raise ValueError(f"it is shorter than {SECRET_MIN_CHARS} characters")
    guessable = any(word in text.lower() for word in UNSAFE_SECRETS)
    if guessable or len(set(text)) < SECRET_MIN_DISTINCT:
        raise ValueError("it looks like a placeholder; make a random one")
    return text


def data_keys(text: str) -> tuple[tuple[str, bytes], ...]:
    """Parse keys of 256 bits with their ids: `id:base64`, separated by commas."""
    keys = tuple(_data_key(each.strip()) for each in text.split(","))
    if len({key_id for key_id, _ in keys}) < len(keys):
        raise ValueError("two of its keys have the same id")
    return keys


def _data_key(text: str) -> tuple[str, bytes]:
    key_id, _, digits = text.partition(":")
    if not re.fullmatch(r"[A-Za-z0-9_-]{1,32}", key_id):
        raise ValueError("a key has no id of letters and digits before a colon")
    try:
        key = b64decode(digits, validate=True)
    except ValueError:
        raise ValueError("a key is not base64") from None
    if len(key) != DATA_KEY_BYTES:
        raise ValueError(f"a key has {len(key)} bytes; {DATA_KEY_BYTES} are needed")
    if len(set(key)) < SECRET_MIN_DISTINCT:
        raise ValueError("a key looks like a placeholder; make a random one")
    return key_id, key


def _split(text: str, named: str) -> tuple[SplitResult, str]:
    """Return the parts of a web address, and its origin in the shortest notation."""
    try:
        parts = urlsplit(text)
        found = origin_of(parts)
    except ValueError:
        raise ValueError(f"{named} is not an address") from None
    if parts.scheme not in DEFAULT_PORTS or not parts.hostname or "@" in parts.netloc:
        raise ValueError(f"{named} is not an http or https address")
    return parts, found


def port_of(parts: SplitResult) -> int:
    """Return the port of a URL, by default the port of its scheme. Raises ValueError."""
    return DEFAULT_PORTS.get(parts.scheme, 443) if parts.port is None else parts.port


def origin_of(parts: SplitResult) -> str:
    """Return `scheme://host[:port]` without a default port. Raises ValueError."""
    port = port_of(parts)
    shown = "" if port == DEFAULT_PORTS.get(parts.scheme) else f":{port}"
    return f"{parts.scheme}://{in_url(parts.hostname or '')}{shown}"


def in_url(host: str) -> str:
    """Return a host as it is written in a URL: IPv6 addresses in brackets."""
    return f"[{host}]" if ":" in host else host


def origin(text: str) -> str:
    """Return `scheme://host[:port]` in lower case, without default port or trailing slash."""
    parts, found = _split(text, f'"{text}"')
    if parts.path not in ("", "/") or parts.query or parts.fragment:
        raise ValueError(f'"{text}" has a path; Askback has the whole origin to itself')
    return found


def origins(text: str) -> frozenset[str]:
    """Parse exact origins, separated by commas."""
    return frozenset(_named_origin(word.strip()) for word in text.split(",") if word.strip())


def _named_origin(text: str) -> str:
    found = origin(text)
    if not is_host(urlsplit(found).hostname or ""):
        raise ValueError(f'"{text}" has neither a host name nor an IP address as others write it')
    return found


def database(text: str) -> str:
    """Return a SQLAlchemy URL of PostgreSQL (through psycopg) or of a SQLite file."""
    scheme, separator, rest = text.partition("://")
    if scheme in ("postgres", "postgresql", "postgresql+psycopg") and separator:
        return f"postgresql+psycopg://{rest}"
    if scheme == "sqlite" and rest.startswith("/") and len(rest) > 1 and ":memory:" not in rest:
        return text
    raise ValueError("it is neither a postgresql:// address nor a sqlite:/// file")


def service_url(text: str) -> str:
    """Return the URL without a trailing slash; plain http is for private hosts only."""
    parts, found = _split(text, "it")
    host, path = parts.hostname or "", parts.path.rstrip("/")
    if not is_host(host):
        raise ValueError("it is not an http or https address")
    if parts.query or parts.fragment or not (text.isascii() and text.isprintable()):
        raise ValueError("it holds more than a scheme, a host, a port and a path")
    if operation := next(filter(path.endswith, OPERATIONS), ""):
        raise ValueError(f"it goes on after the address of the service: leave {operation} out")
    if parts.scheme == "http" and not may_be_private(host):
        raise ValueError("plain http is refused except to loopback and private addresses")
    return found + path


def with_version(url: str) -> str:
    """Return the URL, with the path `/v1` if it has none."""
    return url if urlsplit(url).path else f"{url}/v1"


def lacking_whisper() -> str:
    """Say how to install faster-whisper; "" if it is installed."""
    if find_spec("faster_whisper"):
        return ""
    tool = f"{sys.executable} -m pip" if find_spec("pip") else "uv pip"
    command = f'{tool} install --editable ".[whisper]"'
    return f"whisper needs a package that is not installed: run {command}"


def is_host(host: str) -> bool:
    """True for a host name, and for an IP address in its shortest notation; resolvers take more."""
    try:
        found = ip_address(host)
    except ValueError:
        return HOST_NAME.fullmatch(host) is not None
    other = getattr(found, "ipv4_mapped", None) or getattr(found, "scope_id", None)
    return str(found) == host and other is None


def is_loopback(host: str) -> bool:
    """True for `localhost` and loopback addresses, which only this machine reaches."""
    if host == "localhost":
        return True
    try:
        return ip_address(host.strip("[]")).is_loopback
    except ValueError:
        return False
