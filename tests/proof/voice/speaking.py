"""Respondents who upload a recording for each answer, and try again until it is saved."""

import io
import re
import secrets
import wave
from dataclasses import dataclass, field
from typing import Any

from tests.proof.killing import Respondents, Target

CHECKED = re.compile(r'<input type="checkbox" name="recording" value="(\w+)" checked>')
RATE = 22_050  # of a recording as large as may be uploaded, less than ten minutes last


def noise(size: int) -> bytes:
    """A recording of so many bytes that is like no other."""
    written = io.BytesIO()
    with wave.open(written, "wb") as file:
        file.setnchannels(1)
        file.setsampwidth(2)
        file.setframerate(RATE)
        file.writeframes(secrets.token_bytes((size - 44) // 2 * 2))
    return written.getvalue()


def form_data(fields: dict[str, str], audio: bytes) -> tuple[bytes, dict[str, str]]:
    """The body of an upload, and its headers."""
    boundary = secrets.token_hex(16)
    parts = [
        f'--{boundary}\r\nContent-Disposition: form-data; name="{name}"\r\n\r\n{value}\r\n'
        for name, value in fields.items()
    ]
    parts.append(
        f'--{boundary}\r\nContent-Disposition: form-data; name="audio"; filename="a.wav"\r\n'
        "Content-Type: audio/wav\r\n\r\n"
    )
    body = "".join(parts).encode() + audio + f"\r\n--{boundary}--\r\n".encode()
    return body, {"Content-Type": f"multipart/form-data; boundary={boundary}"}


def upload(
    target: Target, share_token: str, session: str, audio: bytes, *, number: int = 1, key: str = ""
) -> str:
    """Upload a recording; the id under which the page holds it, "" if it was not stored."""
    fields = {"session": session, "recording_key": key or secrets.token_urlsafe(16), "answer": ""}
    body, headers = form_data(fields, audio)
    path = f"/r/{share_token}/q/{number}/recording"
    answer = target.call("POST", path, body, **headers, Cookie=f"askback_r={session}")
    held = CHECKED.search(answer.body)
    return held[1] if answer.status == 200 and held else ""


@dataclass
class Speakers(Respondents):
    """Each answer is a recording alone; `spoken` holds what the server said is saved, by session
    and answer key.
    """

    spoken: dict[tuple[str, str], bytes] = field(default_factory=dict)
    seconds: float = 0.5

    def _answer(self, session: str, number: int) -> bool:
        audio, answer_key = noise(int(2 * RATE * self.seconds)), secrets.token_urlsafe(16)
        of: dict[str, Any] = {"number": number, "key": secrets.token_urlsafe(16)}
        held = self._insist(lambda: upload(self.target, self.share_token, session, audio, **of))
        fields = {"answer_key": answer_key, "answer": "", "recording": held or ""}
        saved = bool(held) and self._post(f"/q/{number}", session, **fields)
        if saved:
            self.acknowledged[session, answer_key] = ""
            self.spoken[session, answer_key] = audio
        return saved
