"""A service on this machine with the wire format of `/v1/audio/transcriptions`."""

from collections.abc import Callable
from contextlib import AbstractContextManager
from dataclasses import dataclass
from io import BytesIO
from typing import Any

import orjson
from werkzeug.formparser import FormDataParser
from werkzeug.http import parse_options_header

from tests.replying import Reply, Replying, replying


@dataclass
class Heard:
    """One request: fields as sent, and the file with the name and type that it was given."""

    path: str
    headers: dict[str, str]
    fields: dict[str, str]
    file: bytes
    file_name: str
    file_type: str


class SpeechEngine(Replying):
    """`answer` gets the number of the request, from 0."""

    @property
    def url(self) -> str:
        return f"http://{self.host}/v1"

    @property
    def heard(self) -> list[Heard]:
        return self.asked

    def read(self, number: int, path: str, headers: dict[str, str], body: bytes) -> Heard:
        mimetype, options = parse_options_header(headers["content-type"])
        _, fields, files = FormDataParser(stream_factory=lambda *_, **__: BytesIO()).parse(
            BytesIO(body), mimetype, len(body), options
        )
        file = files["file"]
        named = (file.filename or "", file.content_type or "")
        return Heard(path, headers, fields.to_dict(), file.read(), *named)

    def reply(self, number: int, _asked: Heard) -> Reply:
        return self.answer(number)


def words(text: str, **changed: Any) -> Reply:
    """A transcript, as the service answers it."""
    return Reply(orjson.dumps({"text": text, "usage": {"seconds": 1}}), **changed)


def speech_engine(answer: Callable[[int], Reply]) -> AbstractContextManager[SpeechEngine]:
    return replying(SpeechEngine, answer)
