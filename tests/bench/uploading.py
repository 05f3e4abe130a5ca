"""People who upload one recording after the other, in a process of their own.

The argument says who; prints the status of each upload. Each person sends as fast as a
good line of a phone does: a client that sends as fast as it can would take the processor of a
server on the same machine, and measure itself.
"""

import json
import secrets
import sys
import threading
import time
from collections.abc import Iterator
from typing import Any

from tests.proof.killing import Target
from tests.proof.voice.speaking import form_data, noise

BYTES_PER_SECOND = 3_000_000
PIECE_BYTES = 64 * 1024
SIZE = 25 * 1024**2


def keep_uploading(person: dict[str, Any], audio: bytes, start_after: float) -> None:
    """`person`: port, share token, session, and the transcriber that the page names."""
    target, session = Target({}, person["port"]), person["session"]
    path = f"/r/{person['share_token']}/q/1"
    time.sleep(start_after)
    while True:
        fields = {
            "session": session,
            "recording_key": secrets.token_urlsafe(16),
            "transcriber": person["transcriber"],
        }
        body, headers = form_data(fields, audio)
        headers |= {"Content-Length": str(len(body)), "Cookie": f"askback_r={session}"}
        sent: Any = _paced(body)
        status = target.call("POST", f"{path}/recording", sent, **headers).status
        # one that no answer has is written down for whoever asks
        target.post(f"{path}/transcript", session)
        print(status, flush=True)


def _paced(body: bytes) -> Iterator[bytes]:
    began = time.perf_counter()
    for start in range(0, len(body), PIECE_BYTES):
        time.sleep(max(0, began + start / BYTES_PER_SECOND - time.perf_counter()))
        yield body[start : start + PIECE_BYTES]


def main(people: list[dict[str, Any]]) -> None:
    audio = noise(SIZE)
    takes = SIZE / BYTES_PER_SECOND
    for n, person in enumerate(people):
        arguments = (person, audio, takes * n / len(people))
        threading.Thread(target=keep_uploading, args=arguments).start()


if __name__ == "__main__":
    main(json.loads(sys.argv[1]))
