"""The OAuth half of the official MCP client, and what it remembers."""

import asyncio
from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Any
from urllib.parse import parse_qsl, urlsplit

from mcp.client.auth import OAuthClientProvider
from mcp.shared.auth import (
    AuthorizationCodeResult,
    OAuthClientInformationFull,
    OAuthClientMetadata,
    OAuthToken,
)


@dataclass
class Storage:
    """What the client remembers between runs; `history` is every token it got."""

    tokens: OAuthToken | None = None
    client: OAuthClientInformationFull | None = None
    history: list[OAuthToken] = field(default_factory=list)

    async def get_tokens(self) -> OAuthToken | None:
        return self.tokens

    async def set_tokens(self, tokens: OAuthToken) -> None:
        self.tokens = tokens
        self.history.append(tokens)

    async def get_client_info(self) -> OAuthClientInformationFull | None:
        return self.client

    async def set_client_info(self, client_info: OAuthClientInformationFull) -> None:
        self.client = client_info

    @property
    def scopes(self) -> set[str]:
        """What its token grants."""
        return set(self.tokens.scope.split()) if self.tokens and self.tokens.scope else set()


def official_provider(
    server_url: str, storage: Storage, allow: Callable[[str], str], **changed: Any
) -> OAuthClientProvider:
    """The client's OAuth for one server; `allow` is the person whom it sends to an address, and
    answers where the browser came back to.
    """
    answers: list[str] = []

    async def go(address: str) -> None:
        answers.append(await asyncio.to_thread(allow, address))

    async def come_back() -> AuthorizationCodeResult:
        return AuthorizationCodeResult(**dict(parse_qsl(urlsplit(answers.pop()).query)))

    metadata = {
        "client_name": "Official MCP client",
        "redirect_uris": [changed.pop("redirect_uri", "http://127.0.0.1:3000/callback")],
        "grant_types": ["authorization_code", "refresh_token"],
        "token_endpoint_auth_method": changed.pop("method", None),
    }
    model = OAuthClientMetadata.model_validate(metadata)
    return OAuthClientProvider(server_url, model, storage, go, come_back, **changed)
