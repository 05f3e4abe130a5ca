"""Speech through a browser, the server and a real engine: what was said is what is stored."""

from pathlib import Path

import httpx
import pytest
from playwright.sync_api import Page, expect

from tests.browsing import window
from tests.command import askback_here
from tests.docs.test_readme import published, sign_up
from tests.journey import people
from tests.journey.installation import Installation, embedded
from tests.programs import launched
from tests.proof.voice.small_vocabulary import Hear, Say, hear, say
from tests.voice.speech_engine import speech_engine, words

__all__ = ["hear", "say"]

READER = ("token", "issue", "--email", "ann@example.com", "--scope", "responses:read")
SPEAKING_SECONDS = 4


@pytest.mark.prove
@pytest.mark.parametrize(
    "sentence",
    [
        "the deploy failed on friday",
        "the backup worked on monday",
        "the release stopped on tuesday",
    ],
)
def test_what_is_said_is_heard_shown_and_stored(
    chromium_path: str, say: Say, hear: Hear, tmp_path: Path, sentence: str
) -> None:
    spoken = tmp_path / "spoken.wav"
    spoken.write_bytes(say(sentence))
    with (
        speech_engine(lambda number: words(hear(engine.heard[number].file))) as engine,
        embedded(
            tmp_path,
            TRANSCRIBER="openai",
            TRANSCRIBER_URL=engine.url,
            TRANSCRIBER_MODEL="en-us",
        ) as running,
        launched(
            chromium_path,
            "--use-fake-ui-for-media-stream",
            "--use-fake-device-for-media-stream",
            f"--use-file-for-fake-audio-capture={spoken}%noloop",
        ) as browser,
        window(browser, running.url) as page,
    ):
        sign_up(page, running)
        form = published(page, running, engine)
        link = page.locator("#share-url").input_value()
        with window(browser, running.url, permissions=["microphone"]) as theirs:
            speak(theirs, link, sentence)
        assert stored(running, form) == [sentence]


def speak(page: Page, link: str, sentence: str) -> None:
    """Record, send what was heard as it is."""
    page.goto(link)
    people.press(page, "Record your answer")
    page.wait_for_timeout(SPEAKING_SECONDS * 1000)
    people.press(page, "Stop")
    status = page.locator("[data-status]")
    expect(status).to_contain_text("Your recording is here.", timeout=10_000)
    expect(page.get_by_role("textbox")).to_have_value(sentence, timeout=8_000)
    expect(status).to_contain_text("These are the words that we heard.")
    people.press(page, "Continue")
    people.press(page, "Send to Ann")
    expect(page.locator("h1")).to_contain_text("Thank you.")


def stored(running: Installation, form: str) -> list[str]:
    """The words of every answer, as an agent fetches them."""
    token = askback_here(*READER, **running.variables).stdout.strip()
    fetched = httpx.get(
        f"{running.url}/api/forms/{form.rpartition('/')[2]}/responses",
        headers={"Authorization": f"Bearer {token}"},
    )
    responses = fetched.json()["responses"]
    return [answer["answerText"] for response in responses for answer in response["answers"]]
