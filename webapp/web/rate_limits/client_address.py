"""The network address of the client, and the key under which limits count it."""

import re
from ipaddress import IPv4Address, IPv6Address, IPv6Network, ip_address

from flask import request

UNREADABLE_ADDRESS = "an address that cannot be read"
WITH_PORT = re.compile(r"\[([^\[\]]+)\](?::\d+)?|([\d.]+):\d+")


def client_network() -> str:
    """The key of limits by address: an IPv4 address, or the /64 network of an IPv6 address.

    Requests with an unreadable address share one key.
    """
    address = client_address()
    if isinstance(address, IPv6Address):
        return str(IPv6Network((int(address), 64), strict=False))
    return str(address or UNREADABLE_ADDRESS)


def client_address() -> IPv4Address | IPv6Address | None:
    """The network address of this request; None when it cannot be read."""
    return read_address(request.remote_addr or "")


def read_address(text: str) -> IPv4Address | IPv6Address | None:
    """An address as proxies write it, with or without port and brackets; None for anything else.

    An IPv4 address mapped into IPv6 is returned as IPv4.
    """
    written = WITH_PORT.fullmatch(text)
    try:
        address = ip_address((written[1] or written[2]) if written else text)
    except ValueError:
        return None
    return (address.ipv4_mapped if isinstance(address, IPv6Address) else None) or address
