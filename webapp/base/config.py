"""The settings: one typed object, built from environment variables."""

import re
import tomllib
from collections.abc import Callable, Mapping
from functools import cache
from pathlib import Path
from typing import Annotated, Any, Literal, cast
from urllib.parse import urlsplit

import orjson
import pydantic
from flask import current_app
from pydantic import AfterValidator, BeforeValidator, ByteSize, Field

from webapp.base import config_readers as readers
from webapp.base.data_folder import DATABASE, DEFAULT_FOLDER

RULES, OPENAI, ANTHROPIC = "none", "openai", "anthropic"  # authors of follow-up questions
NOBODY, WHISPER = "none", "whisper"  # transcribers, besides OPENAI
ON_THIS_SERVER = "localhost"  # the host of an engine that runs in a child process
REQUEST_FIELDS_MAX_CHARS = 10_000
OWN_REQUEST_FIELDS = {"messages", "model", "stream", "system"}
DEFAULT_URLS = {OPENAI: "https://api.openai.com/v1", ANTHROPIC: "https://api.anthropic.com"}


def _text(read: Callable[[str], object]) -> BeforeValidator:
    """Return a validator that applies `read` to texts; values of other types pass unchanged."""
    return BeforeValidator(lambda given: read(given) if isinstance(given, str) else given)


def _request_fields(text: str) -> str:
    """Check that the text is a JSON object with permitted fields; return it unchanged."""
    try:
        found = orjson.loads(text)
    except orjson.JSONDecodeError:
        raise ValueError("it is not JSON") from None
    if not isinstance(found, dict) or len(text) > REQUEST_FIELDS_MAX_CHARS:
        raise ValueError(
            f"it is not a JSON object of at most {REQUEST_FIELDS_MAX_CHARS} characters"
        )
    if refused := sorted(OWN_REQUEST_FIELDS & found.keys()):
        raise ValueError(f"it sets {', '.join(refused)}, which Askback does itself")
    return text


def _like(pattern: str, otherwise: str) -> AfterValidator:
    """Return a validator for texts that match `pattern` as a whole; `otherwise` is the error."""

    def read(text: str) -> str:
        if not re.fullmatch(pattern, text):
            raise ValueError(otherwise)
        return text

    return AfterValidator(read)


Bucket = Annotated[
    str,
    _like(
        r"s3://[a-z0-9][a-z0-9.-]{1,61}[a-z0-9](/[A-Za-z0-9_-][A-Za-z0-9._-]{0,99})*/?",
        "it is not an address as s3://bucket/prefix",
    ),
    AfterValidator(lambda text: text.rstrip("/")),
]
HostName = Annotated[
    str, _like(r"[A-Za-z0-9_.:-]{1,253}", "it is not a host name or an IP address")
]
RedisUrl = Annotated[
    str, _like(r"(redis|rediss|unix)://.*", "it is not a redis://, rediss:// or unix:// address")
]
ApiKey = Annotated[str, _like(r"[ -~]{0,1000}", "it is not one line of ASCII characters")]
ServiceUrl = Annotated[str, AfterValidator(readers.service_url)]
ONE_LINE = AfterValidator(readers.printable)
Origin = Annotated[str, AfterValidator(readers.origin)]
Origins = Annotated[frozenset[str], _text(readers.origins)]
Rate = Annotated[str, AfterValidator(readers.rate)]


def _own_address(values: Mapping[str, Any]) -> str:
    """Return the address of a server on loopback; "" if it listens on another address."""
    host, port = values["host"], values["port"]
    return f"http://{readers.in_url(host)}:{port}" if readers.is_loopback(host) else ""


class Settings(pydantic.BaseModel):
    """Everything an operator can set; URLs have no trailing slash, durations are in seconds.

    The variable of a field is its name in capitals; settings.toml documents each one.
    Representations omit fields that may hold secrets.
    """

    model_config = pydantic.ConfigDict(
        frozen=True,
        extra="forbid",
        hide_input_in_errors=True,
        alias_generator=pydantic.AliasGenerator(validation_alias=str.upper),
        validate_by_name=True,
        validate_by_alias=True,
    )

    host: HostName = "127.0.0.1"
    port: Annotated[int, Field(ge=1, le=65_535)] = 8000
    public_url: Origin = Field(default_factory=_own_address)
    data_folder: Annotated[Path, _text(readers.absolute)] = Field(
        default_factory=lambda: readers.absolute(DEFAULT_FOLDER), validation_alias="ASKBACK_DATA"
    )
    database_url: Annotated[str, AfterValidator(readers.database)] = Field(
        default_factory=lambda values: f"sqlite:///{values['data_folder'] / DATABASE}", repr=False
    )
    redis_url: RedisUrl | None = Field(default=None, repr=False)
    secret_key: Annotated[str, AfterValidator(readers.secret)] = Field(repr=False)
    data_keys: Annotated[tuple[tuple[str, bytes], ...], _text(readers.data_keys)] = Field(
        default=(), repr=False
    )
    trusted_hosts: Annotated[tuple[str, ...], _text(readers.names)] = ()
    mcp_allowed_origins: Origins = frozenset()
    trusted_proxy: Annotated[str, AfterValidator(readers.address)] | None = None
    trusted_proxy_count: Annotated[int, Field(ge=1, le=9)] = 1
    operator_name: Annotated[str, Field(max_length=120), ONE_LINE] | None = None
    operator_contact: Annotated[str, AfterValidator(readers.contact)] | None = None
    security_contact: Annotated[str, AfterValidator(readers.security_contact)] | None = None
    hsts_include_subdomains: bool = True
    publish_confirmation: Literal["browser", "agent"] = "browser"
    write_limits: bool = True
    audit_days: Annotated[int, Field(ge=1, le=3650)] = 365
    client_documents: bool = True
    audio_store: Bucket | None = None
    audio_free_bytes: Annotated[ByteSize, Field(ge=0, le=1024**5)] = ByteSize(1024**3)
    audio_unclaimed_bytes: Annotated[ByteSize, Field(ge=25 * 1024**2, le=1024**5)] = ByteSize(
        100 * 1024**2
    )
    transcriber: Literal["none", "openai", "whisper"] = "none"
    transcriber_url: Annotated[ServiceUrl, AfterValidator(readers.with_version)] | None = None
    transcriber_model: Annotated[str, Field(max_length=500), ONE_LINE] | None = None
    transcriber_api_key: ApiKey | None = Field(default=None, repr=False)
    transcriber_minutes_per_day: Annotated[int, Field(ge=1, le=100_000)] = 600
    transcriber_minutes_per_day_total: Annotated[int, Field(ge=1, le=10_000_000)] = 6000
    llm_provider: Literal["none", "openai", "anthropic"] = "none"
    llm_base_url: ServiceUrl | None = None
    llm_model: Annotated[str, Field(max_length=200), ONE_LINE] | None = None
    llm_api_key: ApiKey | None = Field(default=None, repr=False)
    llm_extra: Annotated[str, AfterValidator(_request_fields)] = Field(default="{}", repr=False)
    llm_calls_per_day: Annotated[int, Field(ge=1, le=1_000_000)] = 5000
    llm_calls_per_day_total: Annotated[int, Field(ge=1, le=100_000_000)] = 50_000
    limit_create_draft: Rate = "30/minute;500/day"
    limit_publish: Rate = "10/minute;100/day"
    limit_agent_tokens: Rate = "20/hour"
    limit_writes: Rate = "60/minute"
    limit_subscribe: Rate = "60/minute"
    limit_answer_session: Rate = "60/minute"
    limit_answer_address: Rate = "3000/minute"
    limit_upload_session: Rate = "10/minute"
    limit_form_bytes: Annotated[ByteSize, Field(ge=1024**2, le=1024**5)] = ByteSize(1024**3)
    max_streams: Annotated[int, Field(ge=1, le=100_000)] = 1000
    mcp_events_enabled: bool = True
    mcp_events_callback_allowlist: Origins = frozenset()

    @property
    def secure(self) -> bool:
        """True if the public address uses https: cookies get Secure and the `__Host-` prefix."""
        return self.public_url.startswith("https://")

    @property
    def public_host(self) -> str:
        """The host name of the public address."""
        return urlsplit(self.public_url).hostname or ""

    @property
    def on_loopback(self) -> bool:
        """True if the public address is a loopback address, which only this machine reaches."""
        return readers.is_loopback(self.public_host)

    @property
    def api_url(self) -> str:
        """The base URL of the REST API, `{base_url}` in the contract."""
        return f"{self.public_url}/api"

    @property
    def mcp_url(self) -> str:
        """The URL of the MCP server, the second protected resource."""
        return f"{self.public_url}/mcp/app"

    @property
    def llm_url(self) -> str:
        """The base URL of the model service, without a request path; "" for the rules."""
        if self.llm_provider == RULES:
            return ""
        url = self.llm_base_url or DEFAULT_URLS[self.llm_provider]
        return readers.with_version(url) if self.llm_provider == OPENAI else url.removesuffix("/v1")

    @property
    def llm_host(self) -> str:
        """The host of the model, with its port unless that is the default; "" for none."""
        return urlsplit(self.llm_url).netloc

    @property
    def follow_up_writer(self) -> str:
        """The author of follow-up questions, as creators see it before they confirm; "" for rules.

        A form whose creator confirmed another author stays with the rules.
        """
        return f"{self.llm_model} at {self.llm_host}" if self.llm_host else ""

    @property
    def llm_request_fields(self) -> dict[str, Any]:
        """The fields that LLM_EXTRA adds to each request to the model."""
        return cast(dict[str, Any], orjson.loads(self.llm_extra))

    @property
    def transcriber_host(self) -> str:
        """The host that gets recordings, with its port unless that is the default; "" for none.

        Pages name this host; it gets only recordings that were made while they named it.
        """
        if self.transcriber == WHISPER:
            return ON_THIS_SERVER
        if self.transcriber == OPENAI and self.transcriber_url:
            return urlsplit(self.transcriber_url).netloc
        return ""


VARIABLES = {str(field.validation_alias): field for field in Settings.model_fields.values()}


def settings() -> Settings:
    """Return the settings of the current application."""
    return cast(Settings, current_app.config["SETTINGS"])


def describe(variable: str) -> dict[str, str]:
    """Return `variable`, `default` and `text` in Markdown, and `example` of a setting."""
    default = VARIABLES[variable].default
    value = "on" if default is True else str(default)
    words = {"variable": variable, "default": f"`{value}`", "example": value}
    words |= _descriptions()[variable]
    return words | {"text": " ".join(words["text"].split())}


@cache
def _descriptions() -> dict[str, dict[str, str]]:
    return tomllib.loads(Path(__file__).with_name("settings.toml").read_text("utf-8"))
