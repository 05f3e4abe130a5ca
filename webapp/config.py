"""The settings: one typed object, whose fields also say what operators are told of them."""

from collections.abc import Mapping
from typing import Annotated, Any, NamedTuple, cast
from urllib.parse import urlsplit

from flask import current_app
from pydantic import AliasGenerator, Field
from pydantic.fields import FieldInfo
from pydantic_settings import BaseSettings, PydanticBaseSettingsSource, SettingsConfigDict

from webapp.config_readers import (
    DAY,
    Address,
    Contact,
    DatabaseUrl,
    DataKeys,
    Folder,
    HostName,
    HostNames,
    Origin,
    Origins,
    RedisUrl,
    Secret,
    SecurityContact,
    Switch,
    absolute,
    choice,
    is_loopback,
    one_line,
    whole_number,
)
from webapp.data_folder import DATABASE, DEFAULT_FOLDER
from webapp.setting_groups.events import EventSettings


class SettingDescription(NamedTuple):
    """One setting for people; `default` and `text` are Markdown."""

    variable: str
    default: str
    text: str
    example: str


def _own_address(values: Mapping[str, Any]) -> str:
    """Empty where people cannot reach the address that is listened on."""
    host, port = values["host"], values["port"]
    in_url = f"[{host}]" if ":" in host else host
    return f"http://{in_url}:{port}" if is_loopback(host) else ""


class Settings(EventSettings):
    """Everything an operator can set; addresses carry no trailing slash, durations are seconds.

    The variable of a field is its name in capitals. `shown` tells people of a default that is
    not a value. Fields that may hold secrets are left out of representations.
    """

    model_config = SettingsConfigDict(
        frozen=True,
        validate_default=False,
        hide_input_in_errors=True,
        alias_generator=AliasGenerator(validation_alias=str.upper),
        validate_by_name=True,
        validate_by_alias=True,
        case_sensitive=True,
    )

    host: HostName = Field("127.0.0.1", description="The address to listen on")
    port: Annotated[int, whole_number(1, 65_535)] = Field(8000, description="The port to listen on")
    public_url: Origin = Field(
        default_factory=_own_address,
        description="The address under which people and agents reach Askback. Required, and "
        "https, unless `HOST` is a loopback address",
        examples=["https://ask.example.org"],
        json_schema_extra={"shown": "`http://HOST:PORT`"},
    )
    data_folder: Folder = Field(
        default_factory=lambda: absolute(DEFAULT_FOLDER),
        validation_alias="ASKBACK_DATA",
        description="The data folder of `askback run`: database, keys made at first start, lock",
        examples=[DEFAULT_FOLDER],
        json_schema_extra={"shown": f"`{DEFAULT_FOLDER}`"},
    )
    database_url: DatabaseUrl = Field(
        default_factory=lambda values: f"sqlite:///{values['data_folder'] / DATABASE}",
        repr=False,
        description="PostgreSQL; required by `askback web` and `worker`",
        examples=["postgresql://askback@db.example.org/askback"],
        json_schema_extra={"shown": "a SQLite file in the data folder"},
    )
    redis_url: RedisUrl | None = Field(
        None,
        repr=False,
        description="Redis; required by `askback web` and `worker`",
        examples=["redis://127.0.0.1:6379/0"],
        json_schema_extra={"shown": "none: limits and wake-ups in memory"},
    )
    secret_key: Secret = Field(
        repr=False,
        description="Signs browser sessions and the session keys of people who answer; at least "
        "32 random characters, the same for all processes; required by `askback web` and `worker`",
        examples=["$(openssl rand -base64 48)"],
        json_schema_extra={"shown": "made at first start in the data folder"},
    )
    data_keys: DataKeys = Field(
        (),
        repr=False,
        description="Keys of 32 random bytes as `id:base64`, separated by commas, the same for all "
        "processes; the first encrypts the secrets of callbacks, the others open what they "
        "encrypted until `askback rekey` has run; required by `askback web` and `worker`",
        examples=["k1:$(openssl rand -base64 32)"],
        json_schema_extra={"shown": "made at first start in the data folder"},
    )
    trusted_hosts: HostNames = Field(
        (),
        description="Further host names that requests may carry, separated by commas",
        examples=["ask.example.org,10.0.0.7"],
        json_schema_extra={"shown": "the host of `PUBLIC_URL`"},
    )
    mcp_allowed_origins: Origins = Field(
        frozenset(),
        description="Origins whose pages may call `/mcp/app` in a browser, separated by commas; "
        "hosts that are no pages need none",
        examples=["https://host.example.org"],
        json_schema_extra={"shown": "none besides our own; on loopback, all loopback origins"},
    )
    trusted_proxy: Address | None = Field(
        None,
        description="The IP address of the proxy in front; only its `X-Forwarded-For` is believed",
        examples=["127.0.0.1"],
        json_schema_extra={"shown": "none"},
    )
    trusted_proxy_count: Annotated[int, whole_number(1, 9)] = Field(
        1, description="How many proxies stand in front, one behind the other"
    )
    operator_name: Annotated[str | None, one_line(120)] = Field(
        None,
        description="Who runs this server, as `/privacy` tells people",
        examples=["Fernhill Ltd, 12 Mill Lane, York"],
        json_schema_extra={"shown": "none: `/privacy` says that nobody is named"},
    )
    operator_contact: Contact | None = Field(
        None,
        description="Where people reach them: an e-mail address, or the https address of a page",
        examples=["privacy@example.org"],
        json_schema_extra={"shown": "none"},
    )
    security_contact: SecurityContact | None = Field(
        None,
        description="Whom to tell about a weakness, as `mailto:security@example.org` or an "
        "https address; stands in `/.well-known/security.txt`",
        examples=["mailto:security@example.org"],
        json_schema_extra={"shown": "none: no such page"},
    )
    hsts_include_subdomains: Switch = Field(
        default=True,
        description="Browsers that were here by https use nothing else for two years, for this "
        "host and, unless `off`, for every host below it",
    )
    publish_confirmation: Annotated[str, choice("browser", "agent")] = Field(
        "browser",
        description="`agent` lets the publish call of every connection count as the creator's "
        "word; it is recorded and shown",
    )
    write_limits: Switch = Field(
        default=True, description="`off` removes all limits, on a loopback address only"
    )
    session_idle_days: Annotated[int, whole_number(1, 30)] = Field(
        14,
        description="After so many days without use a browser is signed out; after 30 days in "
        "any case",
    )
    audit_days: Annotated[int, whole_number(1, 3650)] = Field(
        365, description="How long the audit trail is kept"
    )
    client_documents: Switch = Field(
        default=True,
        description="`off` where this server cannot reach other hosts: client id metadata "
        "documents are not fetched, and apps register themselves",
    )
    oauth_code_seconds: Annotated[int, whole_number(10, 600)] = Field(
        60, description="Life of an authorization code"
    )
    oauth_access_seconds: Annotated[int, whole_number(60, DAY)] = Field(
        3600, description="Life of an access token"
    )
    oauth_refresh_seconds: Annotated[int, whole_number(DAY, 365 * DAY)] = Field(
        30 * DAY, description="Life of an unused refresh token"
    )
    oauth_refresh_grace_seconds: Annotated[int, whole_number(0, 600)] = Field(
        120,
        description="How long a refresh token that was just used may be used again while its "
        "successor is unused, for agents that refresh in parallel",
    )
    oauth_grant_seconds: Annotated[int, whole_number(DAY, 365 * DAY)] = Field(
        180 * DAY, description="After this time an agent has to be connected again"
    )

    @classmethod
    def settings_customise_sources(
        cls,
        settings_cls: type[BaseSettings],
        init_settings: PydanticBaseSettingsSource,
        env_settings: PydanticBaseSettingsSource,
        dotenv_settings: PydanticBaseSettingsSource,
        file_secret_settings: PydanticBaseSettingsSource,
    ) -> tuple[PydanticBaseSettingsSource, ...]:
        """Settings made in code read no environment; webapp/config_environment.py does."""
        return (init_settings,)

    @property
    def secure(self) -> bool:
        """True when browsers reach us over https: cookies get Secure and the `__Host-` prefix."""
        return self.public_url.startswith("https://")

    @property
    def public_host(self) -> str:
        """The host name of the public address."""
        return urlsplit(self.public_url).hostname or ""

    @property
    def on_loopback(self) -> bool:
        """True when only this machine reaches us, under a loopback address."""
        return is_loopback(self.public_host)

    @property
    def api_url(self) -> str:
        """The contract's `{base_url}`."""
        return f"{self.public_url}/api"

    @property
    def mcp_url(self) -> str:
        """The second protected resource."""
        return f"{self.public_url}/mcp/app"


_OWN = {name: Settings.model_fields[name] for name in Settings.__annotations__}
VARIABLES: dict[str, FieldInfo] = {  # as people read them: limits last
    str(field.validation_alias): field for field in (_OWN | Settings.model_fields).values()
}


def settings() -> Settings:
    """The settings of the current application."""
    return cast(Settings, current_app.config["SETTINGS"])


def describe(variable: str) -> SettingDescription:
    """What people are told of the setting that is read from `variable`."""
    field = VARIABLES[variable]
    value = "on" if field.default is True else str(field.default)
    extra = cast(Mapping[str, str], field.json_schema_extra or {})
    default = extra.get("shown", f"`{value}`")
    example = str(field.examples[0]) if field.examples else value
    return SettingDescription(variable, default, field.description or "", example)
