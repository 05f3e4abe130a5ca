"""What somebody does who answers by voice, and what is stored then."""

import re
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from playwright.sync_api import FrameLocator, Page, expect
from sqlalchemy import delete, select, update

from tests.browser.respondent_steps import Link, press
from webapp.base.database import db
from webapp.records.responses.recordings import Recording
from webapp.voice.audio_store import audio_store

UPLOADS = "**/recording?*"


def microphone(sound: Path) -> list[str]:
    """Arguments of a browser whose microphone plays this file, over and over, to whoever asks."""
    return [
        "--use-fake-device-for-media-stream",
        "--use-fake-ui-for-media-stream",
        f"--use-file-for-fake-audio-capture={sound}",
    ]


@dataclass(frozen=True)
class SpokenLink(Link):
    """A published form that records."""

    def recordings(self) -> list[Any]:
        with self.app.app_context():
            return list(db.session.execute(select(Recording.__table__)))

    def sound(self) -> bytes:
        """The bytes of the only recording."""
        (row,) = self.recordings()
        with self.app.app_context():
            return b"".join(audio_store().read(row.object_key, 0, row.size))

    def erase_recordings(self) -> None:
        with self.app.app_context():
            db.session.execute(delete(Recording))
            db.session.commit()

    def set_recordings(self, **values: Any) -> None:
        with self.app.app_context():
            db.session.execute(update(Recording).values(**values))
            db.session.commit()


def says(page: Page, text: str) -> None:
    expect(page.locator("[data-status]")).to_contain_text(text, timeout=10_000)


def runs(page: Page | FrameLocator, seconds: int = 1) -> None:
    """Wait until so many seconds are recorded, at most nine; a slow machine may show more."""
    clock = re.compile(rf"0:0[{seconds}-9]")
    expect(page.locator("[data-clock]")).to_have_text(clock, timeout=15_000)


def record(page: Page, seconds: float = 1) -> None:
    """Record for that long; it goes on."""
    press(page, "Record your answer")
    says(page, "Recording.")
    page.wait_for_timeout(seconds * 1000)


def speak(page: Page, seconds: float = 1) -> None:
    """Record, stop, and wait until the server has it."""
    record(page, seconds)
    press(page, "Stop")
    says(page, "Your recording is here.")


def choose(page: Page, sound: bytes, name: str = "a.wav", kind: str = "audio/wav") -> None:
    """Take a file instead of the microphone."""
    press(page, "Use a file")
    expect(page.locator("input[type=file]")).to_be_visible()
    page.locator("input[type=file]").set_input_files(
        {"name": name, "mimeType": kind, "buffer": sound}
    )


def kept_in_browser(page: Page) -> int:
    """How many entries of recordings the browser stores."""
    count: int = page.evaluate(
        """() => new Promise((done) => {
          indexedDB.open("askback", 1).onsuccess = ({ target: { result } }) => {
            const box = result.transaction("recordings").objectStore("recordings");
            box.count().onsuccess = ({ target }) => done(target.result);
          };
        })"""
    )
    return count
