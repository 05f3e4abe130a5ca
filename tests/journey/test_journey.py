"""The main journey, from an empty installation to the agent's reading of the last answer.

The pictures of it are in `pictures/journey`, numbered as they were taken.
"""

import itertools
from typing import Any

import pytest
from playwright.sync_api import Browser, Page, expect

from tests.browsing import photograph as take, window
from tests.journey import people
from tests.journey.agent import NAME, Agent, callback, found
from tests.journey.installation import Installation
from tests.services import wait_until

WHO = "Who was the last person to change this week’s rota, and why?"
WRONG = "Tell me about the last time a shift went wrong."
STOPPED = "What nearly stopped you from leaving the spreadsheet?"
FIRST = {"title": "Rota", "questions": [WHO, "What went wrong?", STOPPED]}
SAM = ["That was me, on Tuesday night.", "Two Saturdays ago.\nAt six nobody was there.", "Habit."]
MOVING = "no-preference"
LEILA = ["زوجي", "لا أتذكر"]


@pytest.fixture
def photograph(request: pytest.FixtureRequest) -> people.Camera:
    """One camera for the whole journey, which counts; the second journey needs no pictures."""
    numbers = itertools.count(1)
    if request.node.callspec.params["installation"] != "embedded":
        return lambda _page, _name: None
    return lambda page, name: take(page, f"journey/{next(numbers):02}-{name}")


def test_an_agent_gets_every_answer_once(
    installation: Installation, whole_browser: Browser, photograph: people.Camera
) -> None:
    with (
        callback() as back,
        window(whole_browser, installation.url, others=[back], reduced_motion=MOVING) as creator,
    ):
        people.sign_up(creator, installation.link, photograph)
        people.sign_out_and_in(creator, photograph)
        assert_kept_from_others(creator)
        agent = connected(creator, installation, back, photograph)
        draft = written(agent)
        people.review_and_edit(creator, f"/drafts/{draft['draftId']}", photograph)
        refused_before_confirmation(agent, draft)
        people.confirm(creator, NAME, photograph)
        form = found(agent.call("POST", f"/drafts/{draft['draftId']}/publish"))

        with agent.follow(form["formId"]).following() as follower:
            answered_by_two(whole_browser, installation.url, form["shareUrl"], photograph)
            wait_until(lambda: len(follower.completed) == 2, "the agent sees both", seconds=10)

        assert sorted(answer["answerText"] for answer in follower.answers) == sorted(SAM + LEILA)
        assert len({answer["id"] for answer in follower.answers}) == 5
        assert follower.completed == ["ليلى", "Sam Okafor"]
        seen = people.look_at_results(creator, form["formId"], photograph)
        assert [words for words in [*SAM, *LEILA, "Sam Okafor", "ليلى"] if words not in seen] == []


def assert_kept_from_others(page: Page) -> None:
    """The session is out of reach for scripts and other sites; over https it is for this host."""
    secure = page.url.startswith("https:")
    name = "__Host-askback_session" if secure else "askback_session"
    (cookie,) = (cookie for cookie in page.context.cookies() if cookie["name"] == name)
    assert (cookie["secure"], cookie["httpOnly"], cookie["sameSite"]) == (secure, True, "Lax")


def connected(page: Page, installation: Installation, back: str, camera: people.Camera) -> Agent:
    agent = Agent(installation.url, back)
    agent.connect(people.allow(page, agent.address, back, camera))
    return agent


def written(agent: Agent) -> dict[str, Any]:
    """A draft that the agent wrote, and gave a better title afterwards."""
    draft = found(agent.call("POST", "/drafts", json=FIRST))
    title = {"title": "How your rota really gets made"}
    return found(agent.call("PATCH", f"/drafts/{draft['draftId']}", json=title))


def refused_before_confirmation(agent: Agent, draft: dict[str, Any]) -> None:
    """The refusal says where the creator has to go, and nothing gets a public link."""
    refusal = agent.call("POST", f"/drafts/{draft['draftId']}/publish")
    assert refusal.status_code == 409
    assert refusal.json()["code"] == "draft_not_confirmed"
    assert f"/drafts/{draft['draftId']}" in refusal.json()["resolution"]
    assert found(agent.call("GET", "/forms"))["formCount"] == 0


def answered_by_two(browser: Browser, url: str, share_url: str, photograph: people.Camera) -> None:
    """Sam answers with scripts and reloads half way; Leila answers without, in between."""
    with window(browser, url, reduced_motion=MOVING) as sam:
        sam.goto(share_url)
        people.asked(sam, 1, WHO)
        photograph(sam, "question")
        people.answer(sam, SAM[0])
        people.asked(sam, 2, WRONG)
        sam.locator("#answer").fill(SAM[1])
        answered_without_scripts(browser, url, share_url, photograph)
        sam.reload()
        people.asked(sam, 2, WRONG)
        expect(sam.locator("#answer")).to_have_value(SAM[1])
        photograph(sam, "question-after-reload")
        people.press(sam, "Continue")
        people.asked(sam, 3, STOPPED)
        people.answer(sam, SAM[2])
        people.send(sam, "Sam Okafor", photograph)


def answered_without_scripts(
    browser: Browser, url: str, share_url: str, photograph: people.Camera
) -> None:
    with window(browser, url, java_script_enabled=False) as leila:
        leila.goto(share_url)
        people.answer(leila, LEILA[0])
        people.asked(leila, 2, WRONG)
        photograph(leila, "question-without-scripts")
        people.press(leila, "Skip this question")
        people.asked(leila, 3, STOPPED)
        people.answer(leila, LEILA[1])
        people.send(leila, "ليلى", photograph)
