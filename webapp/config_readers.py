"""Types of settings: what the text of a variable may be, and the value it becomes.

A reader takes the text and raises ValueError; its message says what is wrong, without secrets.
"""

import re
from base64 import b64decode
from collections.abc import Callable
from ipaddress import ip_address
from pathlib import Path
from typing import Annotated
from urllib.parse import urlsplit

from limits import parse_many
from pydantic import BeforeValidator
from pydantic_settings import NoDecode

DAY = 86_400  # seconds
UNSAFE_SECRETS = ("secret", "password", "change", "default", "example")
NOT_UTF_8 = re.compile("[\ud800-\udfff]")  # what os.environ makes of other bytes
DIGITS_MAX = 20  # more than the largest bound has: reading a number takes the square of them
SECRET_MIN_CHARS = 32
SECRET_MIN_DISTINCT = 10  # a repeated or counted-up key has fewer
HOST_NAME = re.compile(r"([a-z0-9_]([a-z0-9_-]*[a-z0-9])?\.)*[a-z]([a-z0-9-]*[a-z0-9])?", re.I)
DATA_KEY_BYTES = 32  # of AES-256
BUCKET = re.compile(r"s3://[a-z0-9][a-z0-9.-]{1,61}[a-z0-9](/[A-Za-z0-9_-][A-Za-z0-9._-]{0,99})*/?")


def from_text(read: Callable[[str], object]) -> BeforeValidator:
    """A validator for texts of variables; values of other types pass as they are."""

    def validate(value: object) -> object:
        if not isinstance(value, str):
            return value
        if NOT_UTF_8.search(value):  # pydantic cannot repeat it, nor can what reads the value
            raise ValueError("it is not UTF-8")
        return read(value)

    return BeforeValidator(validate)


def whole_number(least: int, most: int) -> BeforeValidator:
    """A reader of decimal numbers from `least` to `most`, both included."""

    def read(text: str) -> int:
        digits = text.isascii() and text.isdigit() and len(text) <= DIGITS_MAX
        if not (digits and least <= int(text) <= most):
            raise ValueError(f'"{text}" is not a whole number from {least} to {most}')
        return int(text)

    return from_text(read)


def choice(*choices: str) -> BeforeValidator:
    """A reader of exactly one of `choices`."""
    return from_text(lambda text: one_of(text, *choices))


def one_of(text: str, *choices: str) -> str:
    """`text`, which has to be one of `choices`. Raises ValueError."""
    if text not in choices:
        raise ValueError(f'"{text}" is not one of {", ".join(choices)}')
    return text


def switch(text: str) -> bool:
    """`on` or `off`."""
    return one_of(text, "on", "off") == "on"


def rate(text: str) -> str:
    """Limits in the notation of the limits package, several separated by semicolons."""
    try:
        parse_many(text)
    except ValueError:
        raise ValueError(f'"{text}" is not a rate limit') from None
    return text


def host_names(text: str) -> tuple[str, ...]:
    """Names separated by commas, in lower case."""
    return tuple(word.strip() for word in text.lower().split(",") if word.strip())


def one_line(most: int) -> BeforeValidator:
    """A reader of words for people, at most so many code points, without control characters."""

    def read(text: str) -> str:
        visible = text.replace("\u200c", "").replace("\u200d", "")  # joiners belong to spelling
        if len(text) > most or not visible.isprintable():
            raise ValueError(f"it is not one line of at most {most} characters")
        return text

    return from_text(read)


def contact(text: str) -> str:
    """An e-mail address, or the https address of a page."""
    if not re.fullmatch(r"[^@\s<>\"]+@[^@\s<>\"]+\.[^@\s<>\"]+", text):
        parts = urlsplit(text) if text.isprintable() and " " not in text else urlsplit("")
        if parts.scheme != "https" or not parts.hostname:
            raise ValueError(f'"{text}" is neither an e-mail address nor an https address')
    return text


def security_contact(text: str) -> str:
    """The address of RFC 9116, section 2.5.3: a mailto: or an https: one."""
    parts = urlsplit(text) if re.fullmatch(r"[\x21-\x7e]+", text) else urlsplit("")
    mail = parts.scheme == "mailto" and re.fullmatch("[^@]+@[^@]+", parts.path)
    if not (mail or (parts.scheme == "https" and parts.hostname)):
        raise ValueError(f'"{text}" begins neither with mailto: nor with https:')
    return text


def host_name(text: str) -> str:
    """A name or an address to listen on."""
    if not re.fullmatch(r"[A-Za-z0-9_.:-]{1,253}", text):
        raise ValueError(f'"{text}" is not a host name or an IP address')
    return text


def absolute(text: str) -> Path:
    """The path of a folder, which need not exist."""
    try:
        return Path(text).expanduser().resolve()
    except (OSError, RuntimeError) as reason:  # no such user; links in a circle
        raise ValueError(f'"{text}" cannot be a folder: {reason}') from None


def address(text: str) -> str:
    """An IP address in its shortest spelling."""
    try:
        return str(ip_address(text))
    except ValueError:
        raise ValueError(f'"{text}" is not an IP address') from None


def secret(text: str) -> str:
    """A key that cannot be guessed."""
    if len(text) < SECRET_MIN_CHARS:
        raise ValueError(f"it is shorter than {SECRET_MIN_CHARS} characters")
    guessable = any(word in text.lower() for word in UNSAFE_SECRETS)
    if guessable or len(set(text)) < SECRET_MIN_DISTINCT:
        raise ValueError("it looks like a placeholder; make a random one")
    return text


def data_keys(text: str) -> tuple[tuple[str, bytes], ...]:
    """Keys of 256 bits with their ids, as `id:base64`, separated by commas."""
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


def origin(text: str) -> str:
    """`scheme://host[:port]`, lower case, without default port or trailing slash."""
    try:
        parts = urlsplit(text)
        port = parts.port
    except ValueError:
        raise ValueError(f'"{text}" is not an address') from None
    if parts.scheme not in ("http", "https") or not parts.hostname or parts.username is not None:
        raise ValueError(f'"{text}" is not an http or https address')
    if parts.path not in ("", "/") or parts.query or parts.fragment:
        raise ValueError(f'"{text}" has a path; Askback has the whole origin to itself')
    host = f"[{parts.hostname}]" if ":" in parts.hostname else parts.hostname
    default_port = {"http": 80, "https": 443}[parts.scheme]
    return f"{parts.scheme}://{host}" + (f":{port}" if port and port != default_port else "")


def origins(text: str) -> frozenset[str]:
    """Exact origins, separated by commas."""
    return frozenset(_named_origin(word.strip()) for word in text.split(",") if word.strip())


def _named_origin(text: str) -> str:
    found = origin(text)
    if not is_host(urlsplit(found).hostname or ""):
        raise ValueError(f'"{text}" has neither a host name nor an IP address as others write it')
    return found


def database(text: str) -> str:
    """A SQLAlchemy URL of PostgreSQL (through psycopg) or of a SQLite file."""
    scheme, separator, rest = text.partition("://")
    if scheme in ("postgres", "postgresql", "postgresql+psycopg") and separator:
        return f"postgresql+psycopg://{rest}"
    if scheme == "sqlite" and rest.startswith("/") and len(rest) > 1 and ":memory:" not in rest:
        return text
    raise ValueError("it is neither a postgresql:// address nor a sqlite:/// file")


def redis(text: str) -> str:
    """The address of a Redis server, as its client takes it."""
    if not text.startswith(("redis://", "rediss://", "unix://")):
        raise ValueError("it is not a redis://, rediss:// or unix:// address")
    return text


def bucket(text: str) -> str:
    """`s3://bucket/prefix`, the prefix of any depth or left out."""
    if not BUCKET.fullmatch(text):
        raise ValueError(f'"{text}" is not an address as s3://bucket/prefix')
    return text.rstrip("/")


def is_host(host: str) -> bool:
    """True for a name, and for an address in its shortest spelling: resolvers know others."""
    try:
        found = ip_address(host)
    except ValueError:
        return HOST_NAME.fullmatch(host) is not None
    other = getattr(found, "ipv4_mapped", None) or getattr(found, "scope_id", None)
    return str(found) == host and other is None


def is_loopback(host: str) -> bool:
    """True for the names and addresses under which only this machine reaches itself."""
    if host == "localhost":
        return True
    try:
        return ip_address(host.strip("[]")).is_loopback
    except ValueError:
        return False


def leads_to_loopback(host: str) -> bool:
    """True for all by which a connection reaches this machine, also those nobody listens on."""
    if host.endswith(".localhost") or is_loopback(host):
        return True
    try:
        found = ip_address(host.strip("[]"))
    except ValueError:
        return False
    return found.is_loopback or found.is_unspecified


Address = Annotated[str, from_text(address)]
Bucket = Annotated[str, from_text(bucket)]
Contact = Annotated[str, from_text(contact)]
DataKeys = Annotated[tuple[tuple[str, bytes], ...], NoDecode, from_text(data_keys)]
DatabaseUrl = Annotated[str, from_text(database)]
Folder = Annotated[Path, from_text(absolute)]
HostName = Annotated[str, from_text(host_name)]
HostNames = Annotated[tuple[str, ...], NoDecode, from_text(host_names)]
Origin = Annotated[str, from_text(origin)]
Origins = Annotated[frozenset[str], NoDecode, from_text(origins)]
Rate = Annotated[str, from_text(rate)]
RedisUrl = Annotated[str, from_text(redis)]
Secret = Annotated[str, from_text(secret)]
SecurityContact = Annotated[str, from_text(security_contact)]
Switch = Annotated[bool, from_text(switch)]
