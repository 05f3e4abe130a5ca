"""Trying a draft in a browser: by keyboard, without scripts, and with a recording that stays."""

from collections.abc import Iterator
from pathlib import Path

import pytest
from playwright.sync_api import Browser, Page, expect

from tests.browser.respondent.voice.steps import microphone
from tests.browsing import violations
from tests.programs import launched
from tests.voice.audio_files import samples, wav

PLAYED = """async (audio) => {
  await audio.play();
  while (audio.currentTime < 0.2) await new Promise((resolve) => setTimeout(resolve, 50));
}"""


@pytest.fixture(scope="module")
def browser(
    request: pytest.FixtureRequest, tmp_path_factory: pytest.TempPathFactory
) -> Iterator[Browser]:
    """A browser whose microphone plays a voice."""
    spoken: Path = tmp_path_factory.mktemp("microphone") / "voice.wav"
    spoken.write_bytes(wav(samples("voice", 6)))
    with launched(request.getfixturevalue("headless_path"), *microphone(spoken)) as running:
        yield running


def test_a_recording_is_played_back_and_sent_nowhere(page: Page) -> None:
    page.get_by_role("link", name="Try it").click()
    asked: list[str] = []
    page.on("request", lambda request: asked.append(f"{request.method} {request.url}"))
    page.get_by_role("button", name="Record your answer").click()
    expect(page.get_by_text("Recording.", exact=True)).to_be_visible()
    page.wait_for_timeout(1000)
    page.get_by_role("button", name="Stop").click()

    expect(page.get_by_text("Listen to it")).to_be_visible()
    expect(page.locator("local-recording .player")).to_be_visible()
    page.locator("local-recording audio").evaluate(PLAYED)
    assert violations(page) == []
    assert [each for each in asked if not each.startswith("GET ")] == []
    assert page.evaluate("async () => (await indexedDB.databases()).length") == 0

    page.get_by_role("textbox").fill("Nobody knew")
    page.get_by_role("button", name="Continue").click()
    expect(page.get_by_text("Nobody knew").first).to_be_visible()
    posted = [each for each in asked if each.startswith("POST")]
    assert [each.rpartition("/")[2] for each in posted] == ["try"]
