"""A stranger uploads recordings under a hundred session keys, from outside, in both run modes."""

import secrets
import threading
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager, suppress
from dataclasses import dataclass
from pathlib import Path

import httpx
import pytest

from tests.journey.target import BOTH_MODES, Target, prepared
from tests.pages.respondent_client import session_in
from tests.proof.voice.speaking import CHECKED, noise

BOUND = 25 * 1024**2
KEYS, SIZE = 100, 1024**2
AT_ONCE = 12
PROCESSES = {"embedded": 1, "production": 2}


@dataclass
class Voice:
    """Somebody who has opened the form, at the address of their browser."""

    browser: httpx.Client
    share_url: str
    session: str = ""
    held: str = ""

    def __post_init__(self) -> None:
        self.browser.cookies.clear()
        self.session = session_in(self.browser.get(self.share_url, follow_redirects=True).text)

    def upload(self, audio: bytes) -> int:
        """The status; the page holds the recording then."""
        fields = {"session": self.session, "recording_key": secrets.token_urlsafe(16)}
        page = self.browser.post(
            f"{self.share_url}/q/1/recording",
            data=fields | {"answer": "", "transcriber": ""},
            files={"audio": ("a.wav", audio, "audio/wav")},
        )
        found = CHECKED.search(page.text)
        self.held = found[1] if found else ""
        return page.status_code

    def go_on(self) -> bool:
        """Whether Continue makes the recording part of an answer."""
        fields = {"session": self.session, "answer_key": secrets.token_urlsafe(16), "answer": ""}
        said = self.browser.post(f"{self.share_url}/q/1", data=fields | {"recording": self.held})
        return not said.is_error

    def hear(self) -> int:
        """How many bytes are played."""
        fields = {"session": self.session}
        page = self.browser.post(f"{self.share_url}/recordings/{self.held}", data=fields)
        return len(page.content) if page.status_code == 200 else 0


@pytest.fixture(params=BOTH_MODES)
def flooded(request: pytest.FixtureRequest, tmp_path: Path) -> Iterator[tuple[Target, Path, int]]:
    """An installation, the folder of its recordings and the number of its processes."""
    data = tmp_path / "data"
    bounds = {"AUDIO_UNCLAIMED_BYTES": str(BOUND), "ASKBACK_DATA": str(data)}
    with prepared(request, tmp_path, **bounds) as target:
        yield target, data / "recordings", PROCESSES[request.param]


@contextmanager
def most_bytes(folder: Path) -> Iterator[list[int]]:
    """The one item of the list is the most that the folder held meanwhile."""
    most, over = [0], threading.Event()

    def look() -> None:
        while not over.wait(0.01):
            size = 0
            for path in folder.glob("*/*"):
                with suppress(FileNotFoundError):
                    size += path.stat().st_size
            most[0] = max(most[0], size)

    thread = threading.Thread(target=look)
    thread.start()
    try:
        yield most
    finally:
        over.set()
        thread.join()


def test_a_hundred_free_keys_store_no_more_than_one_address_may(
    flooded: tuple[Target, Path, int],
) -> None:
    target, folder, processes = flooded
    with target.browser() as stranger, target.browser() as elsewhere:
        honest = Voice(elsewhere, target.share_url)
        assert honest.upload(noise(40_000)) == 200
        before = Voice(stranger, target.share_url)
        assert before.upload(noise(40_000)) == 200
        assert before.go_on()
        keys = [Voice(stranger, target.share_url) for _ in range(KEYS)]

        with most_bytes(folder) as most, ThreadPoolExecutor(AT_ONCE) as threads:
            told = list(threads.map(lambda each: each.upload(noise(SIZE)), keys))

        print(f"{most[0] / 1024**2:.1f} MiB at most, for {sum(status == 200 for status in told)}")
        assert told == [200] * KEYS
        assert BOUND // 2 < most[0] <= BOUND + (processes + 1) * SIZE
        # claimed, or of another address: both are there, and one more finds room at either
        assert before.hear() > 0
        assert honest.hear() > 0
        assert honest.go_on()
        for browser in (stranger, elsewhere):
            late = Voice(browser, target.share_url)
            assert late.upload(noise(40_000)) == 200
            assert late.go_on()
        assert not keys[0].go_on()
        assert keys[-1].go_on()
