"""What the documents say of spoken answers: the settings, then the whole way by microphone."""

import re
from collections.abc import Iterator
from pathlib import Path

import httpx
import pytest
from playwright.sync_api import Browser, Page, expect

from tests.browsing import window
from tests.command import ROOT, askback_here
from tests.docs.test_readme import sign_up
from tests.journey import people
from tests.journey.installation import Installation, embedded
from tests.programs import CHROMIUM_ARGS
from tests.voice.audio_files import recording
from tests.voice.speech_engine import SpeechEngine, speech_engine, words

HEARD = "The milk was late again."
CORRECTED = "The milk was late again on Monday."
ISSUE = ("token", "issue", "--email", "ann@example.com", "--scope", "forms:write")
OPERATE = (ROOT / "templates/docs/operate.md").read_text()
SETTINGS = dict(re.findall(r"\b(TRANSCRIBER\w*)=(\S+)", OPERATE))


@pytest.fixture
def talking(browser: Browser, headless_path: str, tmp_path: Path) -> Iterator[Browser]:
    """A browser whose microphone plays a file."""
    spoken = tmp_path / "spoken.wav"
    spoken.write_bytes(recording("wav", "voice", 3))
    arguments = (
        "--use-fake-ui-for-media-stream",
        "--use-fake-device-for-media-stream",
        f"--use-file-for-fake-audio-capture={spoken}",
    )
    running = browser.browser_type.launch(
        executable_path=headless_path, args=[*CHROMIUM_ARGS, *arguments]
    )
    yield running
    running.close()


def test_the_first_answer_is_written_down(talking: Browser, tmp_path: Path) -> None:
    with (
        speech_engine(lambda _number: words(HEARD)) as engine,
        embedded(tmp_path, **as_written(engine)) as running,
        window(talking, running.url) as page,
    ):
        sign_up(page, running)
        form = published(page, running, engine)
        link = page.locator("#share-url").input_value()
        with window(talking, running.url, permissions=["microphone"]) as theirs:
            speak(theirs, link, engine)
        look_at_results(page, form, engine)


def as_written(engine: SpeechEngine) -> dict[str, str]:
    """The settings in the document, with the service of this test."""
    assert set(SETTINGS) == {"TRANSCRIBER", "TRANSCRIBER_URL", "TRANSCRIBER_MODEL"}
    return SETTINGS | {"TRANSCRIBER_URL": engine.url}


def published(page: Page, running: Installation, engine: SpeechEngine) -> str:
    """Publish what an agent drafted, told who writes it down; returns the address of the form."""
    token = askback_here(*ISSUE, **running.variables).stdout.strip()
    drafted = httpx.post(
        f"{running.url}/api/drafts",
        headers={"Authorization": f"Bearer {token}"},
        json={"title": "The milk", "questions": ["What went wrong this week?"]},
    )
    page.goto(f"/drafts/{drafted.json()['draftId']}/confirm")
    expect(page.get_by_text(f"Recordings are sent to {engine.host}")).to_be_visible()
    people.press(page, "Publish now")
    page.wait_for_url("**/share")
    return page.url.removesuffix("/share")


def speak(page: Page, link: str, engine: SpeechEngine) -> None:
    """Record, correct what was heard, send."""
    page.goto(link)
    expect(
        page.get_by_text(f"recordings go to {engine.host}, which writes them down.")
    ).to_be_visible()
    people.press(page, "Record your answer")
    page.wait_for_timeout(2500)
    people.press(page, "Stop")
    sheet = page.get_by_role("textbox")
    expect(sheet).to_have_value(HEARD, timeout=10_000)
    sheet.fill(CORRECTED)
    people.press(page, "Continue")
    expect(page.locator("h1")).to_have_text("Check your answers, then send.")
    expect(page.get_by_text(CORRECTED)).to_be_visible()
    people.press(page, "Send to Ann")
    expect(page.locator("h1")).to_contain_text("Thank you.")
    assert [heard.fields["model"] for heard in engine.heard] == [SETTINGS["TRANSCRIBER_MODEL"]]


def look_at_results(page: Page, form: str, engine: SpeechEngine) -> None:
    """The recording plays; what was sent stands beside what was heard."""
    page.goto(form)
    expect(page.get_by_text(f"Written down by {engine.host}.")).to_be_visible()
    page.locator("audio").evaluate("player => { player.muted = true; return player.play() }")
    page.wait_for_function("() => document.querySelector('audio').currentTime > 0.5")
    people.follow(page, "Anonymous")
    expect(page.locator(".heard")).to_contain_text(CORRECTED)
    expect(page.get_by_text(HEARD, exact=True)).to_be_visible()
