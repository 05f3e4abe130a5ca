"""Which installation a command talks to."""

from collections.abc import Mapping
from urllib.parse import urlsplit

from webapp.agent_cli.exits import Exit, Stopped
from webapp.config_readers import absolute, is_loopback, origin
from webapp.data_folder import DEFAULT_FOLDER, served_address


def server_address(given: str | None, environ: Mapping[str, str]) -> str:
    """The origin of the server: given, else `ASKBACK_URL`, else the installation of this folder.

    Raises Stopped.
    """
    text = given or environ.get("ASKBACK_URL") or environ.get("PUBLIC_URL") or _of_folder(environ)
    try:
        address = origin(text.strip())
    except ValueError as problem:
        raise Stopped(Exit.WRONG_USE, f"The address of the server: {problem}.") from None
    if not is_safe(address):
        raise Stopped(
            Exit.WRONG_USE,
            f"{address} is plain http, which others can read; only this computer is reached so.",
        )
    return address


def is_safe(address: str) -> bool:
    """True for https, and for plain http that does not leave this computer."""
    scheme = urlsplit(address).scheme
    return scheme == "https" or (scheme == "http" and is_local(address))


def is_local(address: str) -> bool:
    """True for an address of this computer."""
    return is_loopback(urlsplit(address).hostname or "")


def _of_folder(environ: Mapping[str, str]) -> str:
    """Where `askback run` serves, or last served, with the same settings in this folder."""
    host, port = environ.get("HOST"), environ.get("PORT")
    served = None
    if not (host or port):
        served = served_address(absolute(environ.get("ASKBACK_DATA", "").strip() or DEFAULT_FOLDER))
    host = host or "127.0.0.1"
    return served or f"http://{f'[{host}]' if ':' in host else host}:{port or 8000}"
