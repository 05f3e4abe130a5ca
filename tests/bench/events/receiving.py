"""A receiver in a process of its own, and which events it got when.

It answers each POST with 204 after a millisecond. With a secret it verifies first, by
standardwebhooks, and prints the id and the moment; what is not verified is answered 400.
"""

import asyncio
import ssl
import sys
import threading
import time
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from dataclasses import dataclass, field
from pathlib import Path
from subprocess import PIPE

import trustme
from standardwebhooks import Webhook, WebhookVerificationError

from tests.bench.servers import started
from tests.jobs.receiving import new_secret
from tests.services import free_port, wait_until
from webapp.base.database import utc_now
from webapp.base.outbound import Unreachable, fetch
from webapp.events.callbacks import callback_bounds
from webapp.events.signatures import signed_headers

ANSWER = b"HTTP/1.1 204 No Content\r\nConnection: close\r\n\r\n"
REFUSAL = b"HTTP/1.1 400 Bad Request\r\nConnection: close\r\nContent-Length: 0\r\n\r\n"


@dataclass
class Receiver:
    """Where it listens; the moments, by the monotonic clock of the machine, of verified events."""

    origin: str
    arrivals: dict[str, float] = field(default_factory=dict)

    def answers(self, secret: str) -> bool:
        with suppress(Unreachable):
            return send(self.origin, secret) == 204
        return False


@contextmanager
def receiving(secret: str = "", pem: Path | None = None) -> Iterator[Receiver]:
    """A receiver that answers; it verifies with a secret, and speaks TLS with a certificate."""
    port = free_port()
    found = Receiver(f"https://localhost:{port}" if pem else f"http://127.0.0.1:{port}")
    arguments = [str(port), secret, str(pem or "")]
    with started("tests.bench.events.receiving", *arguments, stdout=PIPE) as process:

        def read() -> None:
            for line in process.stdout or ():
                event_id, moment = line.split()
                found.arrivals.setdefault(event_id.decode(), float(moment))

        reading = threading.Thread(target=read)
        reading.start()
        wait_until(lambda: found.answers(secret or new_secret()), "starting the receiver")
        yield found
    reading.join()
    if process.stdout:
        process.stdout.close()


def certificate(folder: Path) -> tuple[Path, Path]:
    """A file of key and certificate for localhost, and one of the authority that signed it."""
    authority = trustme.CA()
    pem, ca_file = folder / "receiver.pem", folder / "authority.pem"
    issued = authority.issue_cert("localhost")
    issued.private_key_and_cert_chain_pem.write_to_path(str(pem))
    authority.cert_pem.write_to_path(str(ca_file))
    return pem, ca_file


def send(origin: str, secret: str) -> int:
    """One POST as the deliveries make them, without a queue."""
    body = b'{"eventId":"evt_1"}'
    headers = signed_headers("evt_1", body, [secret], subscription_id="sub_1", now=utc_now())
    bounds = callback_bounds(frozenset({origin}))
    return fetch(origin, headers=headers, body=body, bounds=bounds).status


async def main(port: str, secret: str, pem: str) -> None:
    verifier, tls = Webhook(secret) if secret else None, None
    if pem:
        tls = ssl.create_default_context(ssl.Purpose.CLIENT_AUTH)
        tls.load_cert_chain(pem)

    async def answer(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        lines = (await reader.readuntil(b"\r\n\r\n")).decode().split("\r\n")[1:]
        pairs = (line.partition(": ") for line in lines if line)
        headers = {name.lower(): value for name, _, value in pairs}
        body = await reader.readexactly(int(headers["content-length"]))
        try:
            if verifier:
                verifier.verify(body, headers)
                print(headers["webhook-id"], time.monotonic(), flush=True)
            await asyncio.sleep(0.001)
            writer.write(ANSWER)
        except WebhookVerificationError:
            writer.write(REFUSAL)
        await writer.drain()
        writer.close()

    server = await asyncio.start_server(answer, "127.0.0.1", int(port), backlog=256, ssl=tls)
    await server.serve_forever()


if __name__ == "__main__":
    asyncio.run(main(*sys.argv[1:]))
