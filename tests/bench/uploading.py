"""People who upload one recording after the other, in a process of their own.

The argument says who; prints the status of each upload. Each person sends as fast as a
good line of a phone does: a client that sends as fast as it can would take the processor of a
server on the same machine, and measure itself.
"""

import http.client
import json
import secrets
import sys
import threading
import time
from collections.abc import Iterator
from contextlib import closing
from dataclasses import dataclass
from urllib.parse import urlencode

from tests.proof.voice.speaking import form_data, noise

BYTES_PER_SECOND = 3_000_000
PIECE_BYTES = 64 * 1024
FORM = {"Content-Type": "application/x-www-form-urlencoded"}
SIZE = 25 * 1024**2


@dataclass(frozen=True)
class Person:
    """Who uploads to which form under a session; `transcriber` is whom the page names."""

    port: int
    share_token: str
    session: str
    transcriber: str

    def keep_uploading(self, audio: bytes, start_after: float) -> None:
        time.sleep(start_after)
        while True:
            print(self._upload(audio), flush=True)

    def _upload(self, audio: bytes) -> int:
        fields = {
            "session": self.session,
            "recording_key": secrets.token_urlsafe(16),
            "transcriber": self.transcriber,
        }
        body, headers = form_data(fields, audio)
        headers |= {"Content-Length": str(len(body)), "Cookie": f"askback_r={self.session}"}
        path = f"/r/{self.share_token}/q/1"
        status = self._post(f"{path}/recording", _paced(body), headers)
        # one that no answer has is written down for whoever asks
        asked = urlencode({"session": self.session})
        self._post(f"{path}/transcript", asked, FORM)
        return status

    def _post(self, path: str, body: Iterator[bytes] | str, headers: dict[str, str]) -> int:
        connection = http.client.HTTPConnection("127.0.0.1", self.port, timeout=60)
        with closing(connection):
            connection.request("POST", path, body, headers)
            answer = connection.getresponse()
            answer.read()
            return answer.status


def _paced(body: bytes) -> Iterator[bytes]:
    began = time.perf_counter()
    for start in range(0, len(body), PIECE_BYTES):
        time.sleep(max(0, began + start / BYTES_PER_SECOND - time.perf_counter()))
        yield body[start : start + PIECE_BYTES]


def main(plan: list[dict[str, str | int]]) -> None:
    people = [Person(**each) for each in plan]  # type: ignore[arg-type]
    audio = noise(SIZE)
    takes = SIZE / BYTES_PER_SECOND
    threads = [
        threading.Thread(target=person.keep_uploading, args=(audio, takes * n / len(people)))
        for n, person in enumerate(people)
    ]
    for thread in threads:
        thread.start()


if __name__ == "__main__":
    main(json.loads(sys.argv[1]))
