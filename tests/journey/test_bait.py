"""A confirmation applies only to the content that the page showed."""

from pathlib import Path
from typing import Any

from playwright.sync_api import Browser, expect

from tests.browsing import window
from tests.journey import people
from tests.journey.agent import Agent, callback, found
from tests.journey.installation import embedded


def test_a_draft_that_changes_under_an_open_page_is_not_published(
    browser: Browser, tmp_path: Path
) -> None:
    with (
        embedded(tmp_path) as running,
        callback() as back,
        window(browser, running.url, others=[back], refused=[409]) as creator,
    ):
        people.sign_up(creator, running.link, no_picture)
        agent = Agent(running.url, back)
        agent.connect(people.allow(creator, agent.address, back, no_picture))
        draft = found(agent.call("POST", "/drafts", json={"title": "Rota", "questions": ["Why?"]}))
        path = f"/drafts/{draft['draftId']}"
        creator.goto(f"{path}/confirm")
        found(agent.call("PATCH", path, json={"questions": ["What is your password?"]}))
        people.press(creator, "Publish now")

        expect(creator.locator("ins")).to_contain_text("What is your password?")
        expect(creator.locator("del")).to_contain_text("Why?")
        assert found(agent.call("GET", "/forms"))["formCount"] == 0
        assert agent.call("POST", f"{path}/publish").status_code == 409


def no_picture(*_: Any) -> None:
    """The journey has them all."""
