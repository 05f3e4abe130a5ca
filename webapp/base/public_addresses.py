"""Tells public network addresses from private ones."""

from ipaddress import IPv6Address, ip_address, ip_network

# Explicit, because `is_global` of the interpreter accepts several of these.
CLOSED = [
    ip_network(block)
    for block in (
        *("0.0.0.0/8", "10.0.0.0/8", "100.64.0.0/10", "127.0.0.0/8", "168.63.129.16/32"),
        *("169.254.0.0/16", "172.16.0.0/12", "192.0.0.0/24", "192.0.2.0/24", "192.88.99.0/24"),
        *("192.168.0.0/16", "198.18.0.0/15", "198.51.100.0/24", "203.0.113.0/24"),
        *("224.0.0.0/4", "240.0.0.0/4"),
        *("2001::/23", "2001:db8::/32", "2002::/16", "2620:4f:8000::/48", "3fff::/20"),
    )
]
OPEN_IPV6 = ip_network("2000::/3")
PRIVATE = [
    ip_network(block)
    for block in (
        *("127.0.0.0/8", "10.0.0.0/8", "172.16.0.0/12", "192.168.0.0/16"),
        *("::1/128", "fc00::/7"),
    )
]
# names of machines, and names that no public zone contains (RFC 6761, RFC 6762, RFC 8375, ICANN)
PRIVATE_NAMES = (".localhost", ".local", ".home.arpa", ".internal")


def is_public(address: str) -> bool:
    """Return whether the address belongs to the public internet, by the tables above."""
    if "%" in address:
        return False
    ip = ip_address(address)
    if isinstance(ip, IPv6Address) and ip.ipv4_mapped is not None:
        ip = ip.ipv4_mapped
    if isinstance(ip, IPv6Address) and ip not in OPEN_IPV6:
        return False
    return not any(ip in block for block in CLOSED)


def is_private(address: str) -> bool:
    """Return whether the address is loopback or private (RFC 1918, RFC 4193)."""
    ip = ip_address(address)
    return any(ip in block for block in PRIVATE)


def may_be_private(host: str) -> bool:
    """Return whether the host is a private address, or a name of private networks only."""
    try:
        return is_private(host)
    except ValueError:
        return "." not in host or host.endswith(PRIVATE_NAMES)
