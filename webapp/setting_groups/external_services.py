"""What settings of services have in common that speech or answers are sent to."""

import sys
from importlib.util import find_spec
from urllib.parse import urlsplit

from webapp.config_readers import is_host
from webapp.public_addresses import may_be_private

DEFAULT_PORTS = {"http": 80, "https": 443}
OPERATIONS = ("/chat/completions", "/messages", "/audio/transcriptions")  # which clients append


def service_url(text: str) -> str:
    """An address without query and trailing slash; plain http only where it stays private."""
    try:
        parts = urlsplit(text)
        port = parts.port
    except ValueError:
        raise ValueError("it is not an address") from None
    host = parts.hostname or ""
    if parts.scheme not in DEFAULT_PORTS or not is_host(host) or "@" in parts.netloc:
        raise ValueError("it is not an http or https address")
    if parts.query or parts.fragment or not (text.isascii() and text.isprintable()):
        raise ValueError("it holds more than a scheme, a host, a port and a path")
    if operation := next(filter(parts.path.rstrip("/").endswith, OPERATIONS), ""):
        raise ValueError(f"it goes on after the address of the service: leave {operation} out")
    if parts.scheme == "http" and not may_be_private(host):
        raise ValueError("plain http is refused except to loopback and private addresses")
    in_url = f"[{host}]" if ":" in host else host
    shown = "" if port in (None, DEFAULT_PORTS[parts.scheme]) else f":{port}"
    return f"{parts.scheme}://{in_url}{shown}{parts.path.rstrip('/')}"


def with_version(url: str) -> str:
    """The address up to `/v1`, which stands for a path that is missing."""
    return url if urlsplit(url).path else f"{url}/v1"


def api_key(text: str) -> str:
    """Text that a header of a request may hold."""
    if not (text.isascii() and text.isprintable() and len(text) <= 1000):
        raise ValueError("it is not one line of ASCII characters")
    return text


def lacking_package(provider: str, package: str, extra: str) -> str:
    """What installs the extra that this provider needs, with the reason; "" where it is there."""
    if find_spec(package):
        return ""
    tool = f"{sys.executable} -m pip" if find_spec("pip") else "uv pip"
    command = f'{tool} install --editable ".[{extra}]"'
    return f"{provider} needs a package that is not installed: run {command}"
