"""The settings of spoken answers: where recordings are kept, and who writes them down."""

import sys
from collections.abc import Iterator
from importlib.util import find_spec
from pathlib import Path
from typing import Annotated
from urllib.parse import urlsplit

from pydantic import Field

from webapp.config_limits import LimitSettings
from webapp.config_readers import Bucket, choice, from_text, is_host, one_line, whole_number
from webapp.public_addresses import may_be_private

NOBODY, OPENAI, WHISPER = "none", "openai", "whisper"
ON_THIS_SERVER = "localhost"  # the host of an engine that runs in a child process
DEFAULT_PORTS = {"http": 80, "https": 443}
_PACKAGES = {OPENAI: ("openai", "ai"), WHISPER: ("faster_whisper", "whisper")}


def _engine_url(text: str) -> str:
    """The address below which `/audio/transcriptions` lies, without trailing slash."""
    try:
        parts = urlsplit(text)
        port = parts.port
    except ValueError:
        raise ValueError("it is not an address") from None
    host = parts.hostname or ""
    if parts.scheme not in DEFAULT_PORTS or not is_host(host) or "@" in parts.netloc:
        raise ValueError("it is not an http or https address")
    if parts.query or parts.fragment or not (text.isascii() and text.isprintable()):
        raise ValueError("it holds more than a scheme, a host, a port and a path")
    if parts.scheme == "http" and not may_be_private(host):
        raise ValueError("plain http is refused except to loopback and private addresses")
    in_url = f"[{host}]" if ":" in host else host
    shown = "" if port in (None, DEFAULT_PORTS[parts.scheme]) else f":{port}"
    return f"{parts.scheme}://{in_url}{shown}{parts.path.rstrip('/') or '/v1'}"


def _api_key(text: str) -> str:
    """Text that a header of a request may hold."""
    if not (text.isascii() and text.isprintable() and len(text) <= 1000):
        raise ValueError("it is not one line of ASCII characters")
    return text


class VoiceSettings(LimitSettings):
    """Sizes are bytes."""

    audio_store: Bucket | None = Field(
        None,
        description="Where recordings are kept: `s3://bucket/prefix`, reached as the variables "
        "`AWS_ENDPOINT_URL`, `AWS_REGION`, `AWS_ACCESS_KEY_ID` and `AWS_SECRET_ACCESS_KEY` say. "
        "All processes need the same place",
        examples=["s3://askback-recordings/production"],
        json_schema_extra={"shown": "the folder `recordings` in the data folder"},
    )
    audio_free_bytes: Annotated[int, whole_number(0, 1024**5)] = Field(
        1024**3,
        description="Bytes that stay free on the disk of the data folder: where a recording would "
        "leave less, people are told to type",
    )
    transcriber: Annotated[str, choice(NOBODY, OPENAI, WHISPER)] = Field(
        NOBODY,
        description="Who writes down what people say: `openai` any service that understands "
        "`/v1/audio/transcriptions`, `whisper` this server itself, `none` nobody. Each form keeps "
        "the host that its creator and its pages named",
    )
    transcriber_url: Annotated[str | None, from_text(_engine_url)] = Field(
        None,
        description="The address of that service up to `/v1`; plain http only to loopback and "
        "private addresses. Required by `TRANSCRIBER=openai`",
        examples=["https://api.openai.com/v1"],
        json_schema_extra={"shown": "none"},
    )
    transcriber_model: Annotated[str | None, one_line(500)] = Field(
        None,
        description="The name of the model there; with `TRANSCRIBER=whisper` the name or the "
        "folder of one. Required by both",
        examples=["gpt-transcribe"],
        json_schema_extra={"shown": "none"},
    )
    transcriber_api_key: Annotated[str | None, from_text(_api_key)] = Field(
        None,
        repr=False,
        description="The key of that service",
        examples=["sk-example"],
        json_schema_extra={"shown": "none: no key is sent"},
    )
    transcriber_minutes_per_day: Annotated[int, whole_number(1, 100_000)] = Field(
        600,
        description="Minutes of recordings of one form that are written down in one day (UTC), "
        "each attempt counted; the others wait for the next day",
    )

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


def lacking(made: VoiceSettings) -> Iterator[tuple[str, str]]:
    """What the engine needs and does not have: variables, each with what is wrong."""
    if made.transcriber == NOBODY:
        return
    package, extra = _PACKAGES[made.transcriber]
    if made.transcriber == OPENAI and made.transcriber_url is None:
        yield "TRANSCRIBER_URL", "it is required by TRANSCRIBER=openai"
    if made.transcriber_model is None:
        yield "TRANSCRIBER_MODEL", f"it is required by TRANSCRIBER={made.transcriber}"
    elif made.transcriber == WHISPER and _is_missing_folder(made.transcriber_model):
        yield "TRANSCRIBER_MODEL", f"there is no folder {made.transcriber_model}"
    if find_spec(package) is None:
        what = f"{made.transcriber} needs a package that is not installed: run {_command(extra)}"
        yield "TRANSCRIBER", what


def _is_missing_folder(model: str) -> bool:
    """Whether it is no folder and cannot be a name, which has one slash at most."""
    return (model[0] in "./~" or model.count("/") > 1) and not Path(model).is_dir()


def _command(extra: str) -> str:
    """What installs the extra beside Askback, from its folder."""
    tool = f"{sys.executable} -m pip" if find_spec("pip") else "uv pip"
    return f'{tool} install --editable ".[{extra}]"'
