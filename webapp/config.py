"""One typed settings object, read once from the environment; all problems are told together."""

from collections.abc import Iterator, Mapping
from dataclasses import Field, dataclass, fields
from pathlib import Path
from typing import Any, Self, cast
from urllib.parse import urlsplit

from flask import current_app

from webapp.config_readers import (
    Problem,
    Unreadable,
    address,
    choice,
    contact,
    database,
    folder,
    host,
    is_loopback,
    one_line,
    origin,
    rate,
    read_variable,
    redis,
    secret,
    security_contact,
    setting,
    switch,
    whole_number,
    words,
)
from webapp.data_folder import DATABASE, embedded_secret

EXIT_CONFIGURATION = 78  # sysexits.h, EX_CONFIG
DAY = 86_400


class ConfigurationError(Exception):
    """The environment does not make safe settings; `problems` lists everything that is wrong."""

    def __init__(self, problems: list[Problem]) -> None:
        self.problems = problems
        lines = "\n".join(f"  {problem}" for problem in problems)
        super().__init__(f"Askback cannot start with these settings:\n{lines}")


@dataclass(frozen=True, slots=True, kw_only=True)
class Settings:
    """Everything an operator can set; addresses carry no trailing slash, durations are seconds."""

    public_url: str = setting("PUBLIC_URL", origin, "https://ask.example.org")
    database_url: str = setting(
        "DATABASE_URL", database, "postgresql://askback@db.example.org/askback"
    )
    secret_key: str = setting("SECRET_KEY", secret, "$(openssl rand -base64 48)")
    data_folder: Path = setting("ASKBACK_DATA", folder, "./var")
    host: str = setting("HOST", host, "127.0.0.1", default="127.0.0.1")
    port: int = setting("PORT", whole_number(1, 65_535), "8000", default=8000)
    redis_url: str | None = setting("REDIS_URL", redis, "redis://127.0.0.1:6379/0", default=None)
    trusted_hosts: tuple[str, ...] = setting(
        "TRUSTED_HOSTS", words, "ask.example.org,10.0.0.7", default=()
    )
    trusted_proxy: str | None = setting("TRUSTED_PROXY", address, "127.0.0.1", default=None)
    trusted_proxy_count: int = setting("TRUSTED_PROXY_COUNT", whole_number(1, 9), "1", default=1)
    operator_name: str | None = setting(
        "OPERATOR_NAME", one_line(120), "Fernhill Ltd, 12 Mill Lane, York", default=None
    )
    operator_contact: str | None = setting(
        "OPERATOR_CONTACT", contact, "privacy@example.org", default=None
    )
    security_contact: str | None = setting(
        "SECURITY_CONTACT", security_contact, "mailto:security@example.org", default=None
    )
    hsts_include_subdomains: bool = setting("HSTS_INCLUDE_SUBDOMAINS", switch, "on", default=True)
    publish_confirmation: str = setting(
        "PUBLISH_CONFIRMATION", choice("browser", "agent"), "browser", default="browser"
    )
    write_limits: bool = setting("WRITE_LIMITS", switch, "on", default=True)
    session_idle_days: int = setting("SESSION_IDLE_DAYS", whole_number(1, 30), "14", default=14)
    audit_days: int = setting("AUDIT_DAYS", whole_number(1, 3650), "365", default=365)

    oauth_code_seconds: int = setting("OAUTH_CODE_SECONDS", whole_number(10, 600), "60", default=60)
    oauth_access_seconds: int = setting(
        "OAUTH_ACCESS_SECONDS", whole_number(60, DAY), "3600", default=3600
    )
    oauth_refresh_seconds: int = setting(
        "OAUTH_REFRESH_SECONDS", whole_number(DAY, 365 * DAY), "2592000", default=30 * DAY
    )
    oauth_refresh_grace_seconds: int = setting(
        "OAUTH_REFRESH_GRACE_SECONDS", whole_number(0, 600), "120", default=120
    )
    oauth_grant_seconds: int = setting(
        "OAUTH_GRANT_SECONDS", whole_number(DAY, 365 * DAY), "15552000", default=180 * DAY
    )

    limit_create_draft: str = setting(
        "LIMIT_CREATE_DRAFT", rate, "30/minute;500/day", default="30/minute;500/day"
    )
    limit_update_draft: str = setting("LIMIT_UPDATE_DRAFT", rate, "60/minute", default="60/minute")
    limit_publish: str = setting(
        "LIMIT_PUBLISH", rate, "10/minute;100/day", default="10/minute;100/day"
    )
    limit_writes: str = setting("LIMIT_WRITES", rate, "60/minute", default="60/minute")
    limit_answer_session: str = setting(
        "LIMIT_ANSWER_SESSION", rate, "60/minute", default="60/minute"
    )
    limit_answer_address: str = setting(
        "LIMIT_ANSWER_ADDRESS", rate, "3000/minute", default="3000/minute"
    )
    limit_sign_in_account: str = setting(
        "LIMIT_SIGN_IN_ACCOUNT", rate, "5/minute;20/hour", default="5/minute;20/hour"
    )
    limit_sign_in_account_total: str = setting(
        "LIMIT_SIGN_IN_ACCOUNT_TOTAL", rate, "100/hour;500/day", default="100/hour;500/day"
    )
    limit_sign_in_address: str = setting(
        "LIMIT_SIGN_IN_ADDRESS", rate, "30/minute", default="30/minute"
    )
    limit_token: str = setting("LIMIT_TOKEN", rate, "60/minute", default="60/minute")
    limit_token_failures: str = setting(
        "LIMIT_TOKEN_FAILURES", rate, "10/minute", default="10/minute"
    )
    limit_form_bytes: int = setting(
        "LIMIT_FORM_BYTES",
        whole_number(1024**2, 1024**5),
        "1073741824",
        default=1024**3,
    )
    limit_registration: str = setting("LIMIT_REGISTRATION", rate, "10/hour", default="10/hour")

    @classmethod
    def from_env(cls, environ: Mapping[str, str], *, production: bool = False) -> Self:
        """Settings of `environ`; an empty variable counts as missing.

        Without `production` what is missing is filled in for this machine: a SQLite file and a
        key in the data folder, both made there at first use. Raises ConfigurationError.
        """
        values, problems = _read(environ)
        values.setdefault("data_folder", data_folder(environ))
        if is_loopback(listening := values.get("host", "127.0.0.1")):
            port = values.get("port", 8000)
            values.setdefault("public_url", f"http://{_in_url(listening)}:{port}")
        refused = {problem.variable for problem in problems}
        problems += [p for p in _unsafe(values, production) if p.variable not in refused]
        if problems:
            raise ConfigurationError(problems)
        data: Path = values["data_folder"]
        values.setdefault("database_url", f"sqlite:///{data / DATABASE}")
        if "secret_key" not in values:
            values["secret_key"] = _embedded_secret(data)
        return cls(**values)

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


VARIABLES: dict[str, Field[Any]] = {
    described.metadata["variable"]: described for described in fields(Settings)
}


def data_folder(environ: Mapping[str, str]) -> Path:
    """Where `askback run` keeps everything."""
    return folder(environ.get("ASKBACK_DATA", "").strip() or "./var")


def settings() -> Settings:
    """The settings of the current application."""
    return cast(Settings, current_app.config["SETTINGS"])


def _read(environ: Mapping[str, str]) -> tuple[dict[str, Any], list[Problem]]:
    values: dict[str, Any] = {}
    problems = []
    for variable, described in VARIABLES.items():
        text = environ.get(variable, "").strip()
        if not text:
            continue
        try:
            values[described.name] = read_variable(described, text)
        except Unreadable as reason:
            problems.append(_problem(variable, str(reason)))
    return values, problems


def _unsafe(values: Mapping[str, Any], production: bool) -> Iterator[Problem]:  # noqa: FBT001
    """What is readable but must not run."""
    public_url = values.get("public_url")
    if public_url is None:
        yield _problem("PUBLIC_URL", "it is required when HOST is not a loopback address")
    elif public_url.startswith("http://") and not _local(values):
        yield _problem("PUBLIC_URL", "plain http is refused except on a loopback address")
    if not (values.get("write_limits", True) or _local(values)):
        yield _problem("WRITE_LIMITS", "off is refused except on a loopback address")
    if production:
        yield from _unsafe_in_production(values)


def _unsafe_in_production(values: Mapping[str, Any]) -> Iterator[Problem]:
    if "database_url" not in values:
        yield _problem("DATABASE_URL", "askback web needs PostgreSQL")
    elif values["database_url"].startswith("sqlite"):
        yield _problem(
            "DATABASE_URL", "SQLite serves one process only; askback web needs PostgreSQL"
        )
    if "redis_url" not in values:
        yield _problem("REDIS_URL", "askback web needs Redis for limits that hold across processes")
    if "secret_key" not in values:
        yield _problem("SECRET_KEY", "all processes need the same key")


def _problem(variable: str, what: str) -> Problem:
    return Problem(variable, what, VARIABLES[variable].metadata["example"])


def _local(values: Mapping[str, Any]) -> bool:
    """True when neither the public address nor the listening one is reachable from outside."""
    public_host = urlsplit(values.get("public_url", "")).hostname or ""
    return is_loopback(public_host) and is_loopback(values.get("host", "127.0.0.1"))


def _in_url(name: str) -> str:
    return f"[{name}]" if ":" in name else name


def _embedded_secret(data: Path) -> str:
    try:
        return embedded_secret(data)
    except (OSError, ValueError, KeyError) as reason:
        what = f"the key in this folder cannot be made or read: {reason}"
        raise ConfigurationError([_problem("ASKBACK_DATA", what)]) from reason
