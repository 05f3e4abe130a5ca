"""What a request to a callback may cost, and how its failure is called."""

from webapp.domain.shared.vocabulary import DeliveryFailure
from webapp.outbound import Bounds, Pinned, Reply, Unreachable, checked_url, fetch, port_of

PORTS = frozenset({443, 8443})
CONNECT_SECONDS = 5.0  # our choice
DELIVERY_SECONDS = 10.0  # our choice, as ChatGPT's own example and Outpost have it
CHALLENGE_SECONDS = 8.0  # our choice: an agent waits for it
REPLY_MAX_BYTES = 64 * 1024  # our choice
FAILURES = {
    "timed_out": DeliveryFailure.TIMEOUT,
    "tls_failed": DeliveryFailure.TLS_ERROR,
}


def callback_bounds(
    allowed_origins: frozenset[str] = frozenset(),
    *,
    pinned: tuple[Pinned, ...] = (),
    seconds: float = DELIVERY_SECONDS,
) -> Bounds:
    """The bounds of one request to a callback."""
    return Bounds(
        body_bytes=REPLY_MAX_BYTES,
        connect_seconds=CONNECT_SECONDS,
        socket_seconds=seconds,
        total_seconds=seconds,
        ports=PORTS,
        allowed_origins=allowed_origins,
        pinned=pinned,
    )


def check_callback_url(url: str, allowed_origins: frozenset[str] = frozenset()) -> str:
    """Host and port of an address that may be a callback. Raises Unreachable `invalid_url`."""
    parts = checked_url(url, PORTS, allowed_origins)
    host = parts.hostname or ""
    return f"[{host}]:{port_of(parts)}" if ":" in host else f"{host}:{port_of(parts)}"


def post(url: str, headers: dict[str, str], body: bytes, *, bounds: Bounds) -> Reply:
    """POST signed bytes to a callback, once. Raises Unreachable."""
    return fetch(url, headers={"User-Agent": "Askback", **headers}, body=body, bounds=bounds)


def failure_of(outcome: Unreachable | int) -> DeliveryFailure:
    """How agents are told that there was no reply, or one whose status is not 2xx.

    A redirect is the fault of the receiver, as other statuses below 500 are. Why there was no
    connection is not told: it would say which addresses exist inside the network.
    """
    if isinstance(outcome, Unreachable):
        return FAILURES.get(outcome.reason, DeliveryFailure.CONNECTION_REFUSED)
    return DeliveryFailure.HTTP_5XX if outcome >= 500 else DeliveryFailure.HTTP_4XX
