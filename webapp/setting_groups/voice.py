"""The settings of spoken answers: where recordings are kept, and who writes them down."""

from collections.abc import Iterator
from pathlib import Path
from typing import Annotated
from urllib.parse import urlsplit

from pydantic import Field

from webapp.config_readers import Bucket, choice, from_text, one_line, whole_number
from webapp.setting_groups.external_services import (
    api_key,
    lacking_package,
    service_url,
    with_version,
)
from webapp.setting_groups.follow_ups import FollowUpSettings

NOBODY, OPENAI, WHISPER = "none", "openai", "whisper"
ON_THIS_SERVER = "localhost"  # the host of an engine that runs in a child process
_PACKAGES = {OPENAI: ("openai", "ai"), WHISPER: ("faster_whisper", "whisper")}


def _engine_url(text: str) -> str:
    """The address below which `/audio/transcriptions` lies, without trailing slash."""
    return with_version(service_url(text))


class VoiceSettings(FollowUpSettings):
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
    audio_unclaimed_bytes: Annotated[int, whole_number(25 * 1024**2, 1024**5)] = Field(
        100 * 1024**2,
        description="Bytes of recordings without an answer, each counted as 64 KiB at least, that "
        "one network address may have; for one more the oldest of them are erased",
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
    transcriber_api_key: Annotated[str | None, from_text(api_key)] = Field(
        None,
        repr=False,
        description="The key of that service",
        examples=["sk-example"],
        json_schema_extra={"shown": "none: no key is sent"},
    )
    transcriber_minutes_per_day: Annotated[int, whole_number(1, 100_000)] = Field(
        600,
        description="Minutes of recordings of one form that are written down in one day (UTC), "
        "each attempt counted; the others wait for the next day. Those without an answer may use "
        "a quarter, of one client address a twentieth; answers of one address may use half",
    )
    transcriber_minutes_per_day_total: Annotated[int, whole_number(1, 10_000_000)] = Field(
        6000,
        description="The same for all forms of the server together; answers of one client address "
        "may use a quarter",
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


def lacking_of_engine(made: VoiceSettings) -> Iterator[tuple[str, str]]:
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
    if what := lacking_package(made.transcriber, package, extra):
        yield "TRANSCRIBER", what


def _is_missing_folder(model: str) -> bool:
    """Whether it is no folder and cannot be a name, which has one slash at most."""
    return (model[0] in "./~" or model.count("/") > 1) and not Path(model).is_dir()
