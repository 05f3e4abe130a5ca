"""Spoken answers in a real browser: what is heard, seen and read of them."""

import secrets
from typing import Any

import pytest
from playwright.sync_api import Page, Route, expect

from tests.browser.conftest import ExampleSite
from tests.browser.test_accessibility import problems
from tests.browsing import window
from tests.voice.audio_files import recording as sound
from tests.voice.factories import make_stored_answer, make_voice_form
from webapp.base.vocabulary import TranscriptState

LOOKS = [(390, "light", "rtl"), (1280, "dark", "ltr")]
LEVELS = "0012457899876543210012345678998765432100112345678987654321000000"
HEARD = "We lost the key, and then the late shift could not lock up at all."
SENT = "We lost the key, and then nobody of the late shift could lock up."
HOST = "engine.example"
STATES = [
    {"transcript_state": TranscriptState.DONE, "transcript": HEARD, "text": SENT},
    {"transcript_state": TranscriptState.FAILED, "text": ""},
    {"transcript_state": TranscriptState.SILENT, "text": ""},
    {"transcript_state": TranscriptState.WAITING, "text": "", "levels": None},
    {"transcript_state": TranscriptState.NONE, "transcriber": "", "text": "I typed it as well."},
]


@pytest.fixture
def form(site: ExampleSite) -> Any:
    """A form with recordings in every state of their words."""
    with site.app.app_context():
        form = make_voice_form(site.data.account_id, title="Spoken", responseMode="voice_preferred")
        content = sound("webm", "voice", 3.0)
        for state in STATES:
            values = {"transcriber": HOST, "levels": LEVELS, "duration_ms": 3000} | state
            make_stored_answer(form, secrets.token_hex(16), content=content, **values)
        return form


def person_of(page: Page, words: str) -> None:
    """Go to the page of the person who said this."""
    page.get_by_role("listitem").filter(has_text=words).get_by_role("link").first.click()


def test_every_view_is_accessible(site: ExampleSite, form: Any) -> None:
    with window(site.browser, site.address, storage_state=site.signed_in) as page:
        for view in ("", "/people?spoken=1"):
            page.goto(f"/forms/{form.id}{view}")
            assert problems(page, LOOKS) == {}
        page.goto(f"/forms/{form.id}")
        person_of(page, SENT)
        assert problems(page, LOOKS) == {}


def test_a_recording_is_played_from_where_one_likes(site: ExampleSite, form: Any) -> None:
    with window(site.browser, site.address, storage_state=site.signed_in) as page:
        asked: list[str] = []
        page.route("**/att_*", lambda route: (asked.append(range_of(route)), route.continue_()))
        page.goto(f"/forms/{form.id}")
        person_of(page, SENT)
        assert asked == []

        heard = page.locator("audio").evaluate(PLAYED)

        assert heard == pytest.approx(3, abs=0.1)
        assert asked[0].startswith("bytes=")
        expect(page.locator("audio-player [data-time]").first).to_have_text("0:03")
        wave = page.locator("audio-player .wave").first
        box = wave.bounding_box()
        assert box is not None
        wave.click(position={"x": box["width"] / 3, "y": box["height"] / 2})
        at = page.locator("audio").first.evaluate("(audio) => audio.currentTime")
        assert at == pytest.approx(1, abs=0.1)
        page.get_by_role("button", name="Play the recording").first.press("ArrowRight")
        assert page.locator("audio").first.evaluate("(audio) => audio.currentTime") > 2.5
        with page.expect_download() as download:
            page.get_by_role("link", name="Download the recording").click()
        assert download.value.suggested_filename.startswith("recording-")
        assert download.value.path().read_bytes() == sound("webm", "voice", 3.0)


def range_of(route: Route) -> str:
    return route.request.headers.get("range", "")


PLAYED = """async (audio) => {
  const ended = new Promise((done) => audio.addEventListener("ended", done));
  audio.muted = true;
  await audio.play();
  audio.currentTime = 2.5;
  await ended;
  return audio.currentTime;
}"""


def test_what_was_heard_stands_beside_what_was_sent(site: ExampleSite, form: Any) -> None:
    with window(site.browser, site.address, storage_state=site.signed_in) as page:
        page.goto(f"/forms/{form.id}")
        person_of(page, SENT)

        boxes = [page.get_by_text(words).bounding_box() for words in (SENT, HEARD)]

        assert boxes[0]
        assert boxes[1]
        assert boxes[0]["y"] == boxes[1]["y"]
        assert boxes[0]["x"] < boxes[1]["x"]
