"""The settings: one typed object, made of environment variables, with a description of each."""

import re
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Annotated, Any, Literal, NamedTuple, cast
from urllib.parse import urlsplit

import orjson
from flask import current_app
from pydantic import (
    AfterValidator,
    AliasGenerator,
    BaseModel,
    BeforeValidator,
    ByteSize,
    ConfigDict,
    Field,
)

from webapp.base import config_readers as readers
from webapp.base.config_readers import is_loopback
from webapp.base.data_folder import DATABASE, DEFAULT_FOLDER

RULES, OPENAI, ANTHROPIC = "none", "openai", "anthropic"  # who writes follow-up questions
NOBODY, WHISPER = "none", "whisper"  # who transcribes, besides OPENAI
ON_THIS_SERVER = "localhost"  # the host of an engine that runs in a child process
REQUEST_FIELDS_MAX_CHARS = 10_000
OWN_REQUEST_FIELDS = {"messages", "model", "stream", "system"}
DEFAULT_URLS = {OPENAI: "https://api.openai.com/v1", ANTHROPIC: "https://api.anthropic.com"}


def _text(read: Callable[[str], object]) -> BeforeValidator:
    """A reader of texts whose values have another type; these pass as they are."""
    return BeforeValidator(lambda given: read(given) if isinstance(given, str) else given)


def _request_fields(text: str) -> str:
    """A JSON object, as it was written."""
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
    """Texts that match as a whole; `otherwise` says what is wrong with others."""

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


class Settings(BaseModel):
    """Everything an operator can set; addresses carry no trailing slash, durations are seconds.

    The variable of a field is its name in capitals. `shown` describes a default that is not a
    value. Fields that may hold secrets are left out of representations.
    """

    model_config = ConfigDict(
        frozen=True,
        extra="forbid",
        hide_input_in_errors=True,
        alias_generator=AliasGenerator(validation_alias=str.upper),
        validate_by_name=True,
        validate_by_alias=True,
    )

    host: HostName = Field(default="127.0.0.1", description="The address to listen on")
    port: Annotated[int, Field(ge=1, le=65_535)] = Field(
        default=8000, description="The port to listen on"
    )
    public_url: Origin = Field(
        default_factory=_own_address,
        description="The address under which people and agents reach Askback. Required, and "
        "https, unless `HOST` is a loopback address",
        examples=["https://ask.example.org"],
        json_schema_extra={"shown": "`http://HOST:PORT`"},
    )
    data_folder: Annotated[Path, _text(readers.absolute)] = Field(
        default_factory=lambda: readers.absolute(DEFAULT_FOLDER),
        validation_alias="ASKBACK_DATA",
        description="The data folder of `askback run`: database, keys made at first start, lock",
        examples=[DEFAULT_FOLDER],
        json_schema_extra={"shown": f"`{DEFAULT_FOLDER}`"},
    )
    database_url: Annotated[str, AfterValidator(readers.database)] = Field(
        default_factory=lambda values: f"sqlite:///{values['data_folder'] / DATABASE}",
        repr=False,
        description="PostgreSQL; required by `askback web` and `worker`",
        examples=["postgresql://askback@db.example.org/askback"],
        json_schema_extra={"shown": "a SQLite file in the data folder"},
    )
    redis_url: RedisUrl | None = Field(
        default=None,
        repr=False,
        description="Redis; required by `askback web` and `worker`",
        examples=["redis://127.0.0.1:6379/0"],
        json_schema_extra={"shown": "none: limits and wake-ups in memory"},
    )
    secret_key: Annotated[str, AfterValidator(readers.secret)] = Field(
        repr=False,
        description="Signs browser sessions and the session keys of people who answer; at least "
        "32 random characters, the same for all processes; required by `askback web` and `worker`",
        examples=["$(openssl rand -base64 48)"],
        json_schema_extra={"shown": "made at first start in the data folder"},
    )
    data_keys: Annotated[tuple[tuple[str, bytes], ...], _text(readers.data_keys)] = Field(
        default=(),
        repr=False,
        description="Keys of 32 random bytes as `id:base64`, separated by commas, the same for all "
        "processes; the first encrypts the secrets of callbacks, the others open what they "
        "encrypted until `askback rekey` has run; required by `askback web` and `worker`",
        examples=["k1:$(openssl rand -base64 32)"],
        json_schema_extra={"shown": "made at first start in the data folder"},
    )
    trusted_hosts: Annotated[tuple[str, ...], _text(readers.names)] = Field(
        default=(),
        description="Further host names that requests may carry, separated by commas",
        examples=["ask.example.org,10.0.0.7"],
        json_schema_extra={"shown": "the host of `PUBLIC_URL`"},
    )
    mcp_allowed_origins: Origins = Field(
        default=frozenset(),
        description="Origins whose pages may call `/mcp/app` in a browser, separated by commas; "
        "hosts that are no pages need none",
        examples=["https://host.example.org"],
        json_schema_extra={"shown": "none besides our own; on loopback, all loopback origins"},
    )
    trusted_proxy: Annotated[str, AfterValidator(readers.address)] | None = Field(
        default=None,
        description="The IP address of the proxy in front; only its `X-Forwarded-For` is believed",
        examples=["127.0.0.1"],
        json_schema_extra={"shown": "none"},
    )
    trusted_proxy_count: Annotated[int, Field(ge=1, le=9)] = Field(
        default=1, description="How many proxies are in front, one behind the other"
    )
    operator_name: Annotated[str, Field(max_length=120), ONE_LINE] | None = Field(
        default=None,
        description="Who runs this server, as `/privacy` tells people",
        examples=["Fernhill Ltd, 12 Mill Lane, York"],
        json_schema_extra={"shown": "none: `/privacy` says that nobody is named"},
    )
    operator_contact: Annotated[str, AfterValidator(readers.contact)] | None = Field(
        default=None,
        description="Where people reach them: an e-mail address, or the https address of a page",
        examples=["privacy@example.org"],
        json_schema_extra={"shown": "none"},
    )
    security_contact: Annotated[str, AfterValidator(readers.security_contact)] | None = Field(
        default=None,
        description="Whom to tell about a weakness, as `mailto:security@example.org` or an "
        "https address; shown in `/.well-known/security.txt`",
        examples=["mailto:security@example.org"],
        json_schema_extra={"shown": "none: no such page"},
    )
    hsts_include_subdomains: bool = Field(
        default=True,
        description="Browsers that were here by https use nothing else for two years, for this "
        "host and, unless `off`, for every host below it",
    )
    publish_confirmation: Literal["browser", "agent"] = Field(
        default="browser",
        description="`agent` lets the publish call of every connection count as the creator's "
        "word; it is recorded and shown",
    )
    write_limits: bool = Field(
        default=True, description="`off` removes all limits, on a loopback address only"
    )
    audit_days: Annotated[int, Field(ge=1, le=3650)] = Field(
        default=365, description="How long the audit trail is kept"
    )
    client_documents: bool = Field(
        default=True,
        description="`off` where this server cannot reach other hosts: client id metadata "
        "documents are not fetched, and apps register themselves",
    )
    audio_store: Bucket | None = Field(
        default=None,
        description="Where recordings are kept: `s3://bucket/prefix`, reached as the variables "
        "`AWS_ENDPOINT_URL`, `AWS_REGION`, `AWS_ACCESS_KEY_ID` and `AWS_SECRET_ACCESS_KEY` say. "
        "All processes need the same place",
        examples=["s3://askback-recordings/production"],
        json_schema_extra={"shown": "the folder `recordings` in the data folder"},
    )
    audio_free_bytes: Annotated[ByteSize, Field(ge=0, le=1024**5)] = Field(
        default=ByteSize(1024**3),
        description="Bytes that stay free on the disk of the data folder: where a recording would "
        "leave less, people are asked to type",
    )
    audio_unclaimed_bytes: Annotated[ByteSize, Field(ge=25 * 1024**2, le=1024**5)] = Field(
        default=ByteSize(100 * 1024**2),
        description="Bytes of recordings without an answer, each counted as 64 KiB at least, that "
        "one network address may have; for one more the oldest of them are erased",
    )
    transcriber: Literal["none", "openai", "whisper"] = Field(
        default="none",
        description="Who writes down what people say: `openai` any service that understands "
        "`/v1/audio/transcriptions`, `whisper` this server itself, `none` nobody. Each form keeps "
        "the host that its creator and its pages named",
    )
    transcriber_url: Annotated[ServiceUrl, AfterValidator(readers.with_version)] | None = Field(
        default=None,
        description="The address of that service up to `/v1`; plain http only to loopback and "
        "private addresses. Required by `TRANSCRIBER=openai`",
        examples=["https://api.openai.com/v1"],
        json_schema_extra={"shown": "none"},
    )
    transcriber_model: Annotated[str, Field(max_length=500), ONE_LINE] | None = Field(
        default=None,
        description="The name of the model there; with `TRANSCRIBER=whisper` the name or the "
        "folder of one. Required by both",
        examples=["gpt-transcribe"],
        json_schema_extra={"shown": "none"},
    )
    transcriber_api_key: ApiKey | None = Field(
        default=None,
        repr=False,
        description="The key of that service",
        examples=["sk-example"],
        json_schema_extra={"shown": "none: no key is sent"},
    )
    transcriber_minutes_per_day: Annotated[int, Field(ge=1, le=100_000)] = Field(
        default=600,
        description="Minutes of recordings of one form that are written down in one day (UTC), "
        "each attempt counted; the others wait for the next day. Those without an answer may use "
        "a quarter, of one client address a twentieth; answers of one address may use half",
    )
    transcriber_minutes_per_day_total: Annotated[int, Field(ge=1, le=10_000_000)] = Field(
        default=6000,
        description="The same for all forms of the server together; answers of one client address "
        "may use a quarter",
    )
    llm_provider: Literal["none", "openai", "anthropic"] = Field(
        default="none",
        description="Who writes follow-up questions: `openai` any service that understands "
        "`/v1/chat/completions`, `anthropic` one that understands `/v1/messages`, `none` the "
        "built-in rules. A published form keeps the model and the host that its creator was shown, "
        "or the rules",
    )
    llm_base_url: ServiceUrl | None = Field(
        default=None,
        description="The address of that service, of `openai` up to `/v1`; plain http only to "
        "loopback and private addresses",
        examples=["http://127.0.0.1:11434/v1"],
        json_schema_extra={"shown": "that of the company which the provider is named after"},
    )
    llm_model: Annotated[str, Field(max_length=200), ONE_LINE] | None = Field(
        default=None,
        description="The name of the model there. Required by both",
        examples=["gpt-5.4-mini"],
        json_schema_extra={"shown": "none"},
    )
    llm_api_key: ApiKey | None = Field(
        default=None,
        repr=False,
        description="The key of that service. Required by `anthropic`, and by `openai` unless "
        "`LLM_BASE_URL` names a service that needs none",
        examples=["sk-example"],
        json_schema_extra={"shown": "none: no key is sent"},
    )
    llm_extra: Annotated[str, AfterValidator(_request_fields)] = Field(
        default="{}",
        repr=False,
        description="A JSON object that is merged into each request, for what a model needs to "
        "answer within four seconds and 300 tokens",
        examples=['{"reasoning_effort": "low"}'],
        json_schema_extra={"shown": "nothing is added"},
    )
    llm_calls_per_day: Annotated[int, Field(ge=1, le=1_000_000)] = Field(
        default=5000,
        description="Calls of the model for one form in one day (UTC); after them the rules "
        "write its follow-up questions. One client address may use a tenth of it at all forms",
    )
    llm_calls_per_day_total: Annotated[int, Field(ge=1, le=100_000_000)] = Field(
        default=50_000,
        description="Calls of the model in one day (UTC) for all forms of the server together, "
        "and for creators who try their drafts",
    )
    limit_create_draft: Rate = Field(
        default="30/minute;500/day",
        description="New drafts, per account, by REST and MCP together like all writes; "
        "refused and repeated writes are not counted",
    )
    limit_publish: Rate = Field(default="10/minute;100/day", description="Publishes, per account")
    limit_agent_tokens: Rate = Field(
        default="20/hour", description="New agent tokens, by agents and in the browser, per account"
    )
    limit_writes: Rate = Field(
        default="60/minute", description="All of these together, per access token"
    )
    limit_subscribe: Rate = Field(
        default="60/minute",
        description="Calls that subscribe to events or renew a subscription, per account",
    )
    limit_answer_session: Rate = Field(default="60/minute", description="Posts of one respondent")
    limit_answer_address: Rate = Field(
        default="3000/minute", description="Posts of respondents behind one network address"
    )
    limit_upload_session: Rate = Field(
        default="10/minute", description="Recordings that one respondent uploads"
    )
    limit_form_bytes: Annotated[ByteSize, Field(ge=1024**2, le=1024**5)] = Field(
        default=ByteSize(1024**3),
        description="Bytes of answers that one form keeps, corrected ones included, each with "
        "the text of its question and its recording; withdrawing gives them back. Unclaimed "
        "recordings take a quarter at most. From 80 % on its creator is told, and people are told "
        "to type, also if `WRITE_LIMITS` is off",
    )
    max_streams: Annotated[int, Field(ge=1, le=100_000)] = Field(
        default=1000,
        description="Streams of answers that one process keeps open at a time",
    )
    mcp_events_enabled: bool = Field(
        default=True,
        description="`off`: nobody subscribes to events, and nothing is queued or sent",
    )
    mcp_events_callback_allowlist: Origins = Field(
        default=frozenset(),
        description="Origins to which events are sent although they are plain http, on another "
        "port than 443 and 8443, or inside your network; separated by commas. Who may "
        "subscribe can send requests there",
        examples=["http://n8n.internal:5678"],
        json_schema_extra={"shown": "none"},
    )

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

    @property
    def llm_url(self) -> str:
        """The address that the paths of its service are added to; "" for the rules."""
        if self.llm_provider == RULES:
            return ""
        url = self.llm_base_url or DEFAULT_URLS[self.llm_provider]
        return readers.with_version(url) if self.llm_provider == OPENAI else url.removesuffix("/v1")

    @property
    def llm_host(self) -> str:
        """The host, with a port that is not that of the scheme, which gets answers; "" for none."""
        return urlsplit(self.llm_url).netloc

    @property
    def follow_up_writer(self) -> str:
        """Who writes follow-up questions, as creators are shown before they confirm; "" for rules.

        A form for which another writer was confirmed stays with the rules.
        """
        return f"{self.llm_model} at {self.llm_host}" if self.llm_host else ""

    @property
    def llm_request_fields(self) -> dict[str, Any]:
        """What is merged into each request."""
        return cast(dict[str, Any], orjson.loads(self.llm_extra))

    @property
    def transcriber_host(self) -> str:
        """The host, with a port that is not that of the scheme, which gets recordings; "" for none.

        Pages name it, and only recordings made under the same name reach it.
        """
        if self.transcriber == WHISPER:
            return ON_THIS_SERVER
        if self.transcriber == OPENAI and self.transcriber_url:
            return urlsplit(self.transcriber_url).netloc
        return ""


VARIABLES = {str(field.validation_alias): field for field in Settings.model_fields.values()}


def settings() -> Settings:
    """The settings of the current application."""
    return cast(Settings, current_app.config["SETTINGS"])


def describe(variable: str) -> SettingDescription:
    """The description of the setting that is read from `variable`."""
    field = VARIABLES[variable]
    value = "on" if field.default is True else str(field.default)
    extra = cast(Mapping[str, str], field.json_schema_extra or {})
    default = extra.get("shown", f"`{value}`")
    example = str(field.examples[0]) if field.examples else value
    return SettingDescription(variable, default, field.description or "", example)
