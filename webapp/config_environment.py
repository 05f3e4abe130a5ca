"""Reads the settings from environment variables; all problems are told together."""

from collections.abc import Iterator, Mapping
from pathlib import Path
from secrets import token_hex
from typing import NamedTuple
from urllib.parse import urlsplit

from pydantic import ValidationError
from pydantic_settings import EnvSettingsSource

from webapp.config import VARIABLES, Settings, describe
from webapp.config_readers import absolute, data_keys, is_loopback, leads_to_loopback
from webapp.data_folder import DEFAULT_FOLDER, embedded_secrets
from webapp.setting_groups.follow_ups import lacking_of_model
from webapp.setting_groups.voice import lacking_of_engine

EXIT_CONFIGURATION = 78  # sysexits.h, EX_CONFIG


class Problem(NamedTuple):
    """One thing that is wrong with the environment, with a value that would be right."""

    variable: str
    what: str
    example: str

    def __str__(self) -> str:
        return f"{self.variable}: {self.what} (example: {self.variable}={self.example})"


class ConfigurationError(Exception):
    """The environment does not make safe settings; `problems` lists everything that is wrong."""

    def __init__(self, problems: list[Problem]) -> None:
        self.problems = problems
        lines = "\n".join(f"  {problem}" for problem in problems)
        super().__init__(f"Askback cannot start with these settings:\n{lines}")


def read_settings(environ: Mapping[str, str], *, production: bool = False) -> Settings:
    """Settings of `environ`; an empty variable counts as missing.

    Without `production` what is missing is filled in for this machine: a SQLite file and the
    keys in the data folder, made there at first use. Raises ConfigurationError.
    """
    texts = _texts(environ)
    problems = _refused(texts)
    refused = {problem.variable for problem in problems}
    kept = {variable: text for variable, text in texts.items() if variable not in refused}
    made = Settings.model_validate({"SECRET_KEY": token_hex()} | kept)
    unsafe = [*_unsafe(made), *(_unsafe_in_production(texts) if production else ())]
    problems += [problem for problem in unsafe if problem.variable not in refused]
    if problems:
        raise ConfigurationError(problems)
    if not kept.keys() >= {"SECRET_KEY", "DATA_KEYS"}:
        own = _embedded_keys(made.data_folder)
        lacking = {name: key for name, key in own.items() if name.upper() not in kept}
        made = made.model_copy(update=lacking)
    return made


def data_folder(environ: Mapping[str, str]) -> Path:
    """Where `askback run` keeps everything; the default where ASKBACK_DATA is refused."""
    try:
        return absolute(environ.get("ASKBACK_DATA", "").strip() or DEFAULT_FOLDER)
    except ValueError:
        return absolute(DEFAULT_FOLDER)


def _texts(environ: Mapping[str, str]) -> dict[str, str]:
    """The variables that are set and not blank."""
    source = EnvSettingsSource(Settings)
    texts = {variable: environ.get(variable, "").strip() for variable in VARIABLES}
    source.env_vars = {variable: text for variable, text in texts.items() if text}
    return source()


def _refused(texts: Mapping[str, str]) -> list[Problem]:
    try:
        Settings.model_validate(texts)
    except ValidationError as error:
        return [
            _problem(str(found["loc"][0]), str(found["ctx"]["error"]))
            for found in error.errors(include_input=False)
            if found["type"] == "value_error"  # not the key that is made later, nor what follows
        ]
    return []


def _unsafe(made: Settings) -> Iterator[Problem]:
    """What is readable but must not run."""
    local = made.on_loopback and is_loopback(made.host)
    if not made.public_url:
        yield _problem("PUBLIC_URL", "it is required when HOST is not a loopback address")
    elif not (made.secure or local):
        yield _problem("PUBLIC_URL", "plain http is refused except on a loopback address")
    if not made.on_loopback and any(map(_is_loopback, made.mcp_events_callback_allowlist)):
        what = "addresses of this machine are refused unless PUBLIC_URL is one of them"
        yield _problem("MCP_EVENTS_CALLBACK_ALLOWLIST", what)
    lives = made.subscription_seconds_min, made.subscription_seconds_max
    if not lives[0] <= made.subscription_seconds_default <= lives[1]:
        what = (
            f"it is not from SUBSCRIPTION_SECONDS_MIN to _MAX, which are {lives[0]} and {lives[1]}"
        )
        yield _problem("SUBSCRIPTION_SECONDS_DEFAULT", what)
    if not (made.write_limits or local):
        yield _problem("WRITE_LIMITS", "off is refused except on a loopback address")
    for variable, what in (*lacking_of_engine(made), *lacking_of_model(made)):
        yield _problem(variable, what)


def _unsafe_in_production(texts: Mapping[str, str]) -> Iterator[Problem]:
    """What one process on one machine may do without, and several may not."""
    if "DATABASE_URL" not in texts:
        yield _problem("DATABASE_URL", "askback web and worker need PostgreSQL")
    elif texts["DATABASE_URL"].startswith("sqlite"):
        yield _problem(
            "DATABASE_URL", "SQLite serves one process only; askback web and worker need PostgreSQL"
        )
    if "REDIS_URL" not in texts:
        yield _problem("REDIS_URL", "askback web and worker need Redis, which all processes share")
    if "SECRET_KEY" not in texts:
        yield _problem("SECRET_KEY", "all processes need the same key")
    if "DATA_KEYS" not in texts:
        yield _problem("DATA_KEYS", "all processes need the same keys")


def _is_loopback(origin: str) -> bool:
    return leads_to_loopback(urlsplit(origin).hostname or "")


def _problem(variable: str, what: str) -> Problem:
    return Problem(variable, what, describe(variable).example)


def _embedded_keys(data: Path) -> dict[str, object]:
    """The keys of the data folder, as the settings of their names."""
    try:
        found = embedded_secrets(data)
        return {"secret_key": found.secret_key, "data_keys": data_keys(found.data_keys)}
    except (OSError, ValueError) as reason:
        what = f"the keys in this folder cannot be made or read: {reason}"
        raise ConfigurationError([_problem("ASKBACK_DATA", what)]) from reason
