"""The ten minutes of README, pasted as they are written, with a browser for the clicks."""

import json
import re
from pathlib import Path
from typing import Any

import httpx
from playwright.sync_api import Browser, Page, expect

from tests.browsing import window
from tests.command import ROOT, askback_here
from tests.docs.terminal import END, Terminal
from tests.journey import people
from tests.journey.installation import Installation, embedded
from tests.voice.speech_engine import SpeechEngine

README = (ROOT / "README.md").read_text()
BLOCKS = re.findall(r"```bash\n(.*?)```", README, re.DOTALL)
WRITTEN_ADDRESS = "http://127.0.0.1:8000"
KINDS = {"event: answer", "event: completed", "event: end"}
NOT_CONFIRMED = "The creator has not confirmed this draft yet."
ANSWER = "Ich war’s, am Dienstag.\nMira’s little one had a fever."


def test_the_ten_minutes_work_as_written(browser: Browser, tmp_path: Path) -> None:
    signing_in, asking, start, draft, refused, waiting, publishing, fetching, again, reading = (
        BLOCKS
    )
    # `sign-in` listens at a port of its own
    with (
        embedded(tmp_path) as running,
        window(browser, running.url, others=["http://127.0.0.1:"]) as page,
    ):
        terminal = Terminal(
            tmp_path / "folder", ASKBACK_DATA=str(tmp_path / "data"), HOME=str(tmp_path)
        )
        sign_up(page, running)
        ask_by_two_commands(terminal, page, signing_in, asking)

        terminal.paste(start.replace(WRITTEN_ADDRESS, running.url))
        review = terminal.paste(draft)
        assert json.loads(terminal.paste(refused)) == as_shown(review)
        assert terminal.paste(f"({refused.strip()} | field formId) || true") == NOT_CONFIRMED
        confirm(page, review)
        assert terminal.paste(waiting) == "askback-confirmation: current"
        answer(page, terminal.paste(publishing))
        assert ANSWER in texts(terminal.paste(fetching))
        assert terminal.paste(again) == "0"
        since, *events = terminal.paste(reading).split("\n")
        assert since.endswith("Z")
        assert sorted({*events} & KINDS) == ["event: answer", "event: completed"]
        terminal.close()


def as_shown(review: str) -> dict[str, str]:
    """The refusal in README, with the addresses in the place of their dots."""
    shown = re.search(r"```json\n(.*?)```", README, re.DOTALL)
    assert shown is not None
    waited_for = review.replace("/drafts/", "/api/drafts/")
    written = shown[1].replace("GET …", f"GET {waited_for}").replace("…", review)
    body: dict[str, str] = json.loads(written)
    return body


def sign_up(page: Page, running: Installation) -> None:
    page.goto(running.link)
    page.get_by_label("E-mail").fill("ann@example.com")
    page.get_by_label("Your name").fill("Ann")
    page.get_by_label("Password").fill(people.PASSWORD)
    people.press(page, "Create account")
    page.wait_for_url("**/drafts")


def published(page: Page, running: Installation, engine: SpeechEngine) -> str:
    """Publish what an agent drafted, told who writes it down; returns the address of the form."""
    issue = ("token", "issue", "--email", "ann@example.com", "--scope", "forms:write")
    token = askback_here(*issue, **running.variables).stdout.strip()
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


def ask_by_two_commands(terminal: Terminal, page: Page, signing_in: str, asking: str) -> None:
    # it reads what is typed, which here would be the end of the block
    terminal.begin(f"{signing_in.strip()} < /dev/null")
    page.goto(last_address(terminal.printed_until("/oauth/authorize")))
    page.get_by_role("button", name="Allow", exact=True).click()
    terminal.printed_until(END)
    terminal.begin(asking)
    approve(page, last_address(terminal.printed_until("/drafts/")))
    page.goto(last_address(terminal.printed_until("/r/")))
    people.answer(page, ANSWER)
    people.press(page, "Send to Ann")
    assert json.dumps(ANSWER) in terminal.printed_until(END)


def last_address(printed: str) -> str:
    return re.findall(r"http://\S+", printed)[-1].rstrip('".,}')


def approve(page: Page, review: str) -> None:
    """The button is the one that README names."""
    page.goto(review)
    (press,) = re.findall(r"choose \*([^*]+)\*", README)
    people.press(page, press)
    page.wait_for_url(re.compile("/drafts/|/forms/"))


def confirm(page: Page, review: str) -> None:
    approve(page, review)
    expect(page).to_have_url(review)
    expect(page.locator("#breadcrumb")).to_contain_text("You have confirmed this.")


def answer(page: Page, share_url: str) -> None:
    page.goto(share_url)
    people.answer(page, ANSWER)
    expect(page.locator(".count")).to_contain_text("Question 2 of 2")
    people.answer(page, "Two Saturdays ago.")
    people.press(page, "Send to Ann")
    expect(page.locator("h1")).to_contain_text("Thank you.")


def texts(printed: str) -> list[str]:
    body: dict[str, Any] = json.loads(printed)
    return [answer["answerText"] for session in body["responses"] for answer in session["answers"]]
