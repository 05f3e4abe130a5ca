"""Any official Python SDK, as a host that signs in by the SDK's own OAuth; a program of its own.

One JSON command per line in, one JSON line out, as `tests/node/commands.mjs`.
"""

import asyncio
import json
import sys
import time
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from importlib import metadata
from typing import Any
from urllib.parse import parse_qsl, urlsplit

import pydantic._internal._typing_extra as typing_extra

# the server half of old SDKs, which is imported but not used here, asks pydantic for it
vars(typing_extra).setdefault("eval_type_backport", None)

from mcp.client import streamable_http  # noqa: E402
from mcp.client.auth import OAuthClientProvider  # noqa: E402
from mcp.shared import auth  # noqa: E402

url, version, name, callback, scope = sys.argv[1:]
assert metadata.version("mcp") == version
IS_OLD = version.startswith("1.")


class Memory:
    """What the host keeps, and its creator's browser: addresses go there, and answers come back."""

    def __init__(self) -> None:
        self.tokens: Any = None
        self.client: Any = None
        self.addresses: asyncio.Queue[str] = asyncio.Queue()
        self.answers: asyncio.Queue[dict[str, str]] = asyncio.Queue()
        self.consents = 0

    async def get_tokens(self) -> Any:
        return self.tokens

    async def set_tokens(self, tokens: Any) -> None:
        self.tokens = tokens

    async def get_client_info(self) -> Any:
        return self.client

    async def set_client_info(self, client_info: Any) -> None:
        self.client = client_info

    async def go(self, address: str) -> None:
        self.consents += 1
        self.addresses.put_nowait(address)

    async def come_back(self) -> Any:
        answer = await self.answers.get()
        if IS_OLD:
            return answer["code"], answer.get("state")
        return auth.AuthorizationCodeResult(**answer)


@asynccontextmanager
async def connected(provider: Any) -> AsyncIterator[Any]:
    if IS_OLD:
        from mcp import ClientSession

        async with (
            streamable_http.streamablehttp_client(url, auth=provider) as (read, write, _),
            ClientSession(read, write) as session,
        ):
            await session.initialize()
            yield session
        return
    import httpx2
    from mcp.client.client import Client

    async with (
        httpx2.AsyncClient(auth=provider, trust_env=False) as http,
        Client(streamable_http.streamable_http_client(url, http_client=http)) as client,
    ):
        yield client


class Host:
    """The commands."""

    def __init__(self) -> None:
        self._memory = Memory()
        self._session: asyncio.Future[Any] = asyncio.get_running_loop().create_future()
        self._left = asyncio.Event()
        self._connection = asyncio.create_task(self._connect())

    async def _connect(self) -> None:
        memory = self._memory
        described = {"client_name": name, "redirect_uris": [callback], "scope": scope or None}
        model = auth.OAuthClientMetadata.model_validate(described)
        provider = OAuthClientProvider(url, model, memory, memory.go, memory.come_back)
        try:
            async with connected(provider) as session:
                self._session.set_result(session)
                await self._left.wait()
        except BaseException as error:
            if self._session.done():
                raise
            self._session.set_exception(error)

    async def sign_in(self) -> str:
        address = asyncio.create_task(self._memory.addresses.get())
        await asyncio.wait([address, self._session], return_when=asyncio.FIRST_COMPLETED)
        if not address.done():
            await self._session
        return await address

    async def come_back(self, address: str) -> None:
        self._memory.answers.put_nowait(dict(parse_qsl(urlsplit(address).query)))
        await self._session

    async def tools(self) -> list[str]:
        session = await self._session
        return [tool.name for tool in (await session.list_tools()).tools]

    async def use(self, tool: str, given: dict[str, Any]) -> Any:
        session = await self._session
        return (await session.call_tool(tool, given)).model_dump(mode="json", by_alias=True)

    async def later(self, seconds: int) -> None:
        """The SDK refreshes by this clock; a refused token makes it ask for consent."""
        now = time.time
        time.time = lambda: now() + seconds

    async def token(self) -> Any:
        return self._memory.tokens.access_token

    async def consents(self) -> int:
        return self._memory.consents

    async def leave(self) -> None:
        self._left.set()
        await self._connection


async def answer(host: Host, name: str, given: dict[str, Any]) -> dict[str, Any]:
    try:
        return {"result": await getattr(host, name)(**given)}
    except Exception as error:
        cause: BaseException = error
        while isinstance(cause, BaseExceptionGroup):
            cause = cause.exceptions[0]
        return {"error": {"name": type(cause).__name__, "message": str(cause), "code": None}}


async def main() -> None:
    host = Host()
    while line := await asyncio.to_thread(sys.stdin.readline):
        print(json.dumps(await answer(host, **json.loads(line))), flush=True)
    await host.leave()


asyncio.run(main())
