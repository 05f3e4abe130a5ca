"""Follow-up questions where no cookie is kept: in a frame of another website, and by choice."""

from pathlib import Path

import pytest
from playwright.sync_api import Browser, FrameLocator, expect

from tests.browser.respondent.test_embedding import (
    EXPECTED,
    PROFILES,
    Sites,
    browser,
    port,
    profile,
    reload,
    sites,
)
from tests.browser.respondent.test_follow_up_models import link, model, served, states
from tests.browser.respondent.test_follow_ups import LONG, QUESTIONS
from tests.browser.respondent_steps import give
from tests.browsing import watch
from tests.followups.model_server import QUESTION
from webapp.base.vocabulary import FollowUpState

__all__ = ["browser", "link", "model", "port", "served", "sites"]  # fixtures


def asked(frame: FrameLocator, words: str) -> None:
    expect(frame.get_by_role("heading", level=1)).to_have_text(words)


@pytest.mark.parametrize("settings", PROFILES.values(), ids=PROFILES)
def test_follow_ups_are_answered_in_an_iframe_without_cookies(
    browser: Browser,
    chromium_path: str,
    tmp_path: Path,
    sites: Sites,
    settings: dict[str, object],
) -> None:
    with profile(browser, chromium_path, tmp_path / "profile", settings) as context:
        complaints = watch(context, [sites.allowed, sites.link.address])
        page = context.pages[0]
        page.goto(sites.frame())
        frame = page.frame_locator("iframe")
        give(frame, LONG)
        asked(frame, QUESTION)
        expect(frame.locator("#answer")).to_be_focused()
        reload(page)
        asked(frame, QUESTION)
        frame.get_by_role("button", name="Back", exact=True).click()
        asked(frame, QUESTIONS[0])
        expect(frame.locator("#answer")).to_have_value(LONG)
        give(frame, LONG)
        asked(frame, QUESTION)
        give(frame, f"{LONG}.")
        asked(frame, QUESTIONS[1])

        assert context.cookies() == []
        assert [each for each in complaints if not EXPECTED.search(each)] == []

    assert states(sites.link)[0] is FollowUpState.ASKED
    assert (sites.link.sessions(), sites.link.texts()) == (1, [LONG, f"{LONG}."])
