"""Receivers in a process of their own, good and bad, on all addresses of loopback.

`hostile_receivers PORT`: what comes back depends on the first part of the path. Prints path, id and
the moment of each event, by the monotonic clock of the machine.
"""

import asyncio
import sys
import time
from collections import Counter
from collections.abc import Awaitable, Callable

LATE_SECONDS = 9.0
OK = b"HTTP/1.1 200 OK\r\nConnection: close\r\nContent-Length: 0\r\n\r\n"
GONE = OK.replace(b"200 OK", b"410 Gone")
PATIENCE = 20  # requests that one that turns slow answers quickly
got = Counter[str]()


async def live(writer: asyncio.StreamWriter, _path: str) -> None:
    writer.write(OK)


async def slow(writer: asyncio.StreamWriter, _path: str) -> None:
    await asyncio.sleep(LATE_SECONDS)
    writer.write(OK)


async def turns_slow(writer: asyncio.StreamWriter, path: str) -> None:
    await (live if got[path] <= PATIENCE else slow)(writer, path)


async def hangs_twice(writer: asyncio.StreamWriter, path: str) -> None:
    await (slow if got[path] <= 2 else live)(writer, path)


async def gone(writer: asyncio.StreamWriter, _path: str) -> None:
    writer.write(GONE)


async def late_gone(writer: asyncio.StreamWriter, _path: str) -> None:
    await asyncio.sleep(LATE_SECONDS)
    writer.write(GONE)


async def reset(writer: asyncio.StreamWriter, _path: str) -> None:
    writer.transport.abort()


async def drip(writer: asyncio.StreamWriter, _path: str) -> None:
    for byte in OK * 9:
        writer.write(bytes([byte]))
        await writer.drain()
        await asyncio.sleep(0.3)


async def headers(writer: asyncio.StreamWriter, _path: str) -> None:
    writer.write(b"HTTP/1.1 200 OK\r\n")
    for number in range(100_000):
        writer.write(b"X-%d: y\r\n" % number)
        await writer.drain()
        await asyncio.sleep(0.05)


Manner = Callable[[asyncio.StreamWriter, str], Awaitable[None]]
MANNERS: dict[str, Manner] = {
    each.__name__: each
    for each in (live, slow, turns_slow, hangs_twice, gone, late_gone, reset, drip, headers)
}


async def serve(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
    try:
        first, *lines = (await reader.readuntil(b"\r\n\r\n")).decode().split("\r\n")
        pairs = (line.partition(": ") for line in lines if line)
        told = {name.lower(): value for name, _, value in pairs}
        await reader.readexactly(int(told.get("content-length", 0)))
        path = first.split()[1]
        got[path] += 1
        if "webhook-id" in told:
            print(path, told["webhook-id"], time.monotonic(), flush=True)
        await MANNERS[path.split("/")[1]](writer, path)
        await writer.drain()
    except (OSError, asyncio.IncompleteReadError):
        pass  # the caller gave up
    finally:
        writer.close()


async def main(port: str) -> None:
    server = await asyncio.start_server(serve, "0.0.0.0", int(port), backlog=256)  # noqa: S104
    await server.serve_forever()


if __name__ == "__main__":
    asyncio.run(main(sys.argv[1]))
