"""Every state of the recorder, by keyboard, in two directions, wide and narrow."""

from typing import Any

import pytest
from playwright.sync_api import Browser, expect

from tests.browser.respondent.voice.steps import SpokenLink
from tests.browser.respondent.voice.walks import WALKS, Walk
from tests.browser.respondent_steps import QUESTIONS, asked, give
from tests.browser.test_accessibility import problems
from tests.browsing import look, sideways, squeezed, window
from tests.voice.factories import make_voice_form

# together with the long proofs, every pair of width and scheme
LOOKS = [(320, "light", "ltr")]
OTHER_LOOKS = [(320, "dark", "ltr"), (1280, "light", "rtl"), (1280, "dark", "ltr")]
ARABIC = [(320, "light", "rtl"), (320, "dark", "rtl")]


@pytest.mark.parametrize(
    ("language", "looks"),
    [
        pytest.param("en", LOOKS, id="English"),
        pytest.param("en", OTHER_LOOKS, id="English, other looks", marks=pytest.mark.prove),
        pytest.param("ar", ARABIC, id="Arabic", marks=pytest.mark.prove),
    ],
)
@pytest.mark.parametrize("walk", WALKS, ids=str)
def test_whatever_the_recorder_says_is_readable(
    browser: Browser, link: SpokenLink, walk: Walk, language: str, looks: list[Any]
) -> None:
    said = []
    with window(browser, link.address, refused=walk.refused) as page:
        page.add_init_script(walk.script)
        page.goto(f"{link.path}?lang={language}")
        for text in walk.steps(page, link):
            said.append(text)
            assert (text, problems(page, looks)) == (text, {})

    assert tuple(said) == walk.texts


@pytest.fixture
def voices_only(link: SpokenLink) -> str:
    with link.app.app_context():
        form = make_voice_form(questions=QUESTIONS, responseMode="voice_only")
    return f"/r/{form.share_token}"


def test_a_form_for_voices_only_lets_people_type(
    browser: Browser, link: SpokenLink, voices_only: str
) -> None:
    with window(browser, link.address) as page:
        page.goto(voices_only)
        expect(page.locator("#answer")).to_be_hidden()
        assert problems(page, LOOKS) == {}
        page.get_by_text("I cannot record, let me type").press("Enter")
        expect(page.locator("#answer")).to_be_visible()
        assert problems(page, LOOKS) == {}
        give(page, "Typed")
        asked(page, 2)

    assert link.texts() == ["Typed"]


SHOWN = """() => {
  const { content } = document.querySelector("voice-recorder template");
  document.querySelector("[data-status]").append(content.cloneNode(true));
  for (const part of document.querySelectorAll("voice-recorder [data-show]")) part.hidden = false;
}"""


@pytest.mark.parametrize("language", ["en", "ar", "de", "es", "fr", "pt-BR"])
def test_every_translation_fits_the_narrowest_window(
    browser: Browser, link: SpokenLink, language: str
) -> None:
    """All texts and buttons at once."""
    with window(browser, link.address) as page:
        page.goto(f"{link.path}?lang={language}")
        page.evaluate(SHOWN)
        for width in (320, 390):
            look(page, width=width)
            assert sideways(page) + squeezed(page) == []
