"""A receiver in a process of its own: answers each POST with 204 after a millisecond."""

import asyncio
import sys

ANSWER = b"HTTP/1.1 204 No Content\r\nConnection: close\r\n\r\n"


async def serve(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
    head = await reader.readuntil(b"\r\n\r\n")
    length = int(head.lower().partition(b"content-length:")[2].split(b"\r\n")[0])
    await reader.readexactly(length)
    await asyncio.sleep(0.001)
    writer.write(ANSWER)
    await writer.drain()
    writer.close()


async def main(port: int) -> None:
    server = await asyncio.start_server(serve, "127.0.0.1", port, backlog=256)
    await server.serve_forever()


if __name__ == "__main__":
    asyncio.run(main(int(sys.argv[1])))
