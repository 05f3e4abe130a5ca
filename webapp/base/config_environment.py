"""Reads the settings from environment variables; reports all problems together."""

import re
from collections.abc import Iterator, Mapping
from pathlib import Path
from secrets import token_hex
from typing import TypeAlias
from urllib.parse import urlsplit

from pydantic import ValidationError

from webapp.base import config, config_readers as readers
from webapp.base.config import Settings
from webapp.base.data_folder import DEFAULT_FOLDER, embedded_secrets

EXIT_CONFIGURATION = 78  # sysexits.h, EX_CONFIG
NOT_UTF_8 = re.compile("[\ud800-\udfff]")  # os.environ decodes other bytes to these
Lack: TypeAlias = tuple[str, str]  # a variable, and what is wrong with it


class ConfigurationError(Exception):
    """The environment holds invalid or unsafe settings; `problems` says what is wrong with each."""

    def __init__(self, problems: Mapping[str, str]) -> None:
        self.problems = problems
        lines = "".join(
            f"\n  {variable}: {what} (example: {variable}={config.describe(variable)['example']})"
            for variable, what in problems.items()
        )
        super().__init__(f"Askback cannot start with these settings:{lines}")


def read_settings(environ: Mapping[str, str], *, production: bool = False) -> Settings:
    """Return the settings in `environ`; an empty variable counts as missing.

    Without `production`, a SQLite file and keys in the data folder, created at first use, replace
    missing values. Raises ConfigurationError.
    """
    texts = {name: text for name in config.VARIABLES if (text := environ.get(name, "").strip())}
    problems = dict(_refused(texts))
    kept = {name: text for name, text in texts.items() if name not in problems}
    made = Settings.model_validate({"SECRET_KEY": token_hex()} | kept)
    lacks = [*_unsafe(made), *_lacking(made), *(_unsafe_in_production(texts) if production else ())]
    for variable, what in lacks:
        problems.setdefault(variable, what)
    if problems:
        raise ConfigurationError(problems)
    if not kept.keys() >= {"SECRET_KEY", "DATA_KEYS"}:
        own = _embedded_keys(made.data_folder)
        lacking = {name: key for name, key in own.items() if name.upper() not in kept}
        made = made.model_copy(update=lacking)
    return made


def data_folder(environ: Mapping[str, str]) -> Path:
    """Return the data folder of `askback run`; the default folder if ASKBACK_DATA is invalid."""
    try:
        return readers.absolute(environ.get("ASKBACK_DATA", "").strip() or DEFAULT_FOLDER)
    except ValueError:
        return readers.absolute(DEFAULT_FOLDER)


def _refused(texts: Mapping[str, str]) -> Iterator[Lack]:
    odd = [variable for variable, text in texts.items() if NOT_UTF_8.search(text)]
    yield from ((variable, "it is not UTF-8") for variable in odd)
    try:
        Settings.model_validate({name: text for name, text in texts.items() if name not in odd})
    except ValidationError as error:
        for found in error.errors(include_input=False):
            # a missing key is made later; a default may depend on an invalid field
            if found["type"] not in ("missing", "default_factory_not_called"):
                yield str(found["loc"][0]), _in_words(found["msg"])


def _in_words(message: str) -> str:
    """Rewrite a message of pydantic to call the setting "it"."""
    return re.sub("^(Input|String|Value) ", "it ", message.removeprefix("Value error, "))


def _unsafe(made: Settings) -> Iterator[Lack]:
    """Yield settings that are valid but unsafe."""
    local = made.on_loopback and readers.is_loopback(made.host)
    if not made.public_url:
        yield "PUBLIC_URL", "it is required when HOST is not a loopback address"
    elif not (made.secure or local):
        yield "PUBLIC_URL", "plain http is refused except on a loopback address"
    if not made.on_loopback and any(map(_is_loopback, made.mcp_events_callback_allowlist)):
        what = "addresses of this machine are refused unless PUBLIC_URL is one of them"
        yield "MCP_EVENTS_CALLBACK_ALLOWLIST", what
    if not (made.write_limits or local):
        yield "WRITE_LIMITS", "off is refused except on a loopback address"


def _unsafe_in_production(texts: Mapping[str, str]) -> Iterator[Lack]:
    """Yield missing settings that one process can do without, but several processes need."""
    needed = {
        "DATABASE_URL": "askback web and worker need PostgreSQL; SQLite serves one process only",
        "REDIS_URL": "askback web and worker need Redis, which all processes share",
        "SECRET_KEY": "all processes need the same key",
        "DATA_KEYS": "all processes need the same keys",
    }
    for variable, what in needed.items():
        if texts.get(variable, "sqlite").startswith("sqlite"):
            yield variable, what


def _is_loopback(origin: str) -> bool:
    """Return whether an origin leads to this machine, also as `*.localhost` or 0.0.0.0."""
    host = urlsplit(origin).hostname or ""
    return readers.is_loopback(host) or host.endswith(".localhost") or host in ("0.0.0.0", "::")  # noqa: S104


def _embedded_keys(data: Path) -> dict[str, object]:
    """Return the keys in the data folder, by the names of their settings."""
    try:
        found = embedded_secrets(data)
        data_keys = readers.data_keys(found["data_keys"])
        return {"secret_key": found["secret_key"], "data_keys": data_keys}
    except (OSError, ValueError) as reason:
        what = f"the keys in this folder cannot be made or read: {reason}"
        raise ConfigurationError({"ASKBACK_DATA": what}) from reason


def _lacking(made: Settings) -> Iterator[Lack]:
    """Yield missing settings that the configured transcriber and model need."""
    engine, provider = made.transcriber, made.llm_provider
    if engine == config.OPENAI and made.transcriber_url is None:
        yield "TRANSCRIBER_URL", "it is required by TRANSCRIBER=openai"
    if engine != config.NOBODY and made.transcriber_model is None:
        yield "TRANSCRIBER_MODEL", f"it is required by TRANSCRIBER={engine}"
    elif engine == config.WHISPER and _is_missing_folder(made.transcriber_model or ""):
        yield "TRANSCRIBER_MODEL", f"there is no folder {made.transcriber_model}"
    if engine == config.WHISPER and (what := readers.lacking_whisper()):
        yield "TRANSCRIBER", what
    if provider != config.RULES and made.llm_model is None:
        yield "LLM_MODEL", f"it is required by LLM_PROVIDER={provider}"
    if provider == config.ANTHROPIC and made.llm_api_key is None:
        yield "LLM_API_KEY", "it is required by LLM_PROVIDER=anthropic"
    if provider == config.OPENAI and made.llm_api_key is None and made.llm_base_url is None:
        yield "LLM_API_KEY", "it is required unless LLM_BASE_URL names a service without keys"


def _is_missing_folder(model: str) -> bool:
    """Return whether `model` must be a folder (names have one slash at most) but is none."""
    return (model[0] in "./~" or model.count("/") > 1) and not Path(model).is_dir()
