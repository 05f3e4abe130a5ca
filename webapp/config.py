"""One typed settings object, read once from the environment."""

from dataclasses import dataclass
from pathlib import Path
from typing import cast

from flask import current_app


@dataclass(frozen=True, slots=True, kw_only=True)
class Settings:
    """Everything an operator can set; addresses carry no trailing slash."""

    public_url: str
    database_url: str
    secret_key: str
    data_folder: Path
    host: str = "127.0.0.1"
    port: int = 8000
    redis_url: str | None = None
    publish_confirmation: str = "browser"
    write_limits: bool = True

    @property
    def secure(self) -> bool:
        """True when browsers reach us over https: cookies get Secure and the `__Host-` prefix."""
        return self.public_url.startswith("https://")

    @property
    def api_url(self) -> str:
        """The contract's `{base_url}`."""
        return f"{self.public_url}/api"

    @property
    def mcp_url(self) -> str:
        """The second protected resource."""
        return f"{self.public_url}/mcp/app"


def settings() -> Settings:
    """The settings of the current application."""
    return cast(Settings, current_app.config["SETTINGS"])
