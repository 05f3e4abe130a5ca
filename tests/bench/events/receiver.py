"""A receiver in a process of its own: answers each POST with 204 after a millisecond.

`receiver PORT [SECRET [PEM]]`: with a secret it verifies first, by standardwebhooks, and prints the
id and the moment; what is not verified is answered 400. With a file of key and certificate it
speaks TLS.
"""

import asyncio
import ssl
import sys
import time
from functools import partial

from standardwebhooks import Webhook, WebhookVerificationError

ANSWER = b"HTTP/1.1 204 No Content\r\nConnection: close\r\n\r\n"
REFUSAL = b"HTTP/1.1 400 Bad Request\r\nConnection: close\r\nContent-Length: 0\r\n\r\n"


async def serve(
    secret: Webhook | None, reader: asyncio.StreamReader, writer: asyncio.StreamWriter
) -> None:
    lines = (await reader.readuntil(b"\r\n\r\n")).decode().split("\r\n")[1:]
    pairs = (line.partition(": ") for line in lines if line)
    headers = {name.lower(): value for name, _, value in pairs}
    body = await reader.readexactly(int(headers["content-length"]))
    writer.write(ANSWER if await taken(secret, headers, body) else REFUSAL)
    await writer.drain()
    writer.close()


async def taken(secret: Webhook | None, headers: dict[str, str], body: bytes) -> bool:
    if secret:
        try:
            secret.verify(body, headers)
        except WebhookVerificationError:
            return False
        print(headers["webhook-id"], time.monotonic(), flush=True)
    await asyncio.sleep(0.001)
    return True


async def main(port: str, secret: str = "", pem: str = "") -> None:
    tls = ssl.create_default_context(ssl.Purpose.CLIENT_AUTH) if pem else None
    if tls:
        tls.load_cert_chain(pem)
    verifier = Webhook(secret) if secret else None
    server = await asyncio.start_server(
        partial(serve, verifier), "127.0.0.1", int(port), backlog=256, ssl=tls
    )
    await server.serve_forever()


if __name__ == "__main__":
    asyncio.run(main(*sys.argv[1:]))
