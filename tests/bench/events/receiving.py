"""The receiver in a process of its own, and which events it got when."""

import threading
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from dataclasses import dataclass, field
from pathlib import Path
from subprocess import PIPE
from typing import IO, cast

import trustme

from tests.bench.servers import started
from tests.jobs.receiving import new_secret
from tests.services import free_port, wait_until
from webapp.base.database import utc_now
from webapp.base.outbound import Unreachable
from webapp.events.callbacks import callback_bounds, post, signed_headers


@dataclass
class Receiver:
    """Where it listens; the moments, by the monotonic clock of the machine, of verified events."""

    port: int
    scheme: str
    arrivals: dict[str, float] = field(default_factory=dict)

    @property
    def origin(self) -> str:
        host = "localhost" if self.scheme == "https" else "127.0.0.1"
        return f"{self.scheme}://{host}:{self.port}"

    def read(self, lines: IO[bytes]) -> None:
        with lines:
            for line in lines:
                event_id, moment = line.split()
                self.arrivals.setdefault(event_id.decode(), float(moment))

    def answers(self, secret: str) -> bool:
        with suppress(Unreachable):
            return send(self.origin, secret) == 204
        return False


@contextmanager
def receiving(secret: str = "", pem: Path | None = None) -> Iterator[Receiver]:
    """A receiver that answers; it verifies with a secret, and speaks TLS with a certificate."""
    found = Receiver(free_port(), "https" if pem else "http")
    arguments = [str(found.port), secret, *([str(pem)] if pem else [])]
    with started("tests.bench.events.receiver", *arguments, stdout=PIPE) as process:
        reading = threading.Thread(target=found.read, args=(cast(IO[bytes], process.stdout),))
        reading.start()
        wait_until(lambda: found.answers(secret or new_secret()), "starting the receiver")
        yield found
    reading.join()


def certificate(folder: Path) -> tuple[Path, Path]:
    """A file of key and certificate for localhost, and one of the authority that signed it."""
    authority = trustme.CA()
    issued = authority.issue_cert("localhost")
    pem, ca_file = folder / "receiver.pem", folder / "authority.pem"
    issued.private_key_and_cert_chain_pem.write_to_path(str(pem))
    authority.cert_pem.write_to_path(str(ca_file))
    return pem, ca_file


def send(origin: str, secret: str) -> int:
    """One POST as the deliveries make them, without a queue."""
    body = b'{"eventId":"evt_1"}'
    headers = signed_headers("evt_1", body, [secret], subscription_id="sub_1", now=utc_now())
    return post(origin, headers, body, bounds=callback_bounds(frozenset({origin}))).status
