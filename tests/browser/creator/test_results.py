"""Results in a real browser: what is swapped and new, one by one, deleted, heard, on paper."""

import secrets
from collections.abc import Iterator
from datetime import timedelta
from typing import Any

import pytest
from playwright.sync_api import Page, Route, expect

from tests.browser.conftest import ExampleSite, OpenWindow
from tests.browser.respondent_steps import page_with
from tests.browser.test_accessibility import problems
from tests.factories import make_answer, make_form, make_response
from tests.voice.audio_files import recording as sound
from tests.voice.factories import make_stored_answer, make_voice_form
from webapp.answers.trash import purge_deleted_responses
from webapp.base.database import utc_now
from webapp.base.vocabulary import TranscriptState


@pytest.fixture
def form(site: ExampleSite) -> Any:
    """A form of the creator with fifteen answers to its first question."""
    with site.app.app_context():
        form = make_form(site.data.account_id, title="Fifteen answers")
        for number in range(15):
            make_answer(form, secrets.token_hex(16), 0, f"answer {number:02}")
        return form


@pytest.fixture
def page(request: pytest.FixtureRequest, open_window: OpenWindow) -> Iterator[Page]:
    with open_window(refused=[503], **getattr(request, "param", {})) as page:
        yield page


def test_more_answers_are_appended_and_focused(page: Page, form: Any) -> None:
    page.goto(f"/forms/{form.id}")

    page.get_by_role("link", name="5 more answers").click()

    expect(page.locator(".answer")).to_have_count(15)
    expect(page.locator(".answer").nth(10)).to_be_focused()
    assert page.url.endswith(f"/forms/{form.id}")


def tops(page: Page, selector: str) -> list[float]:
    found: list[float] = page.locator(selector).evaluate_all(
        "parts => parts.map((part) => Math.round(part.getBoundingClientRect().top))"
    )
    return found


def poll(page: Page) -> None:
    with page.expect_response(lambda response: "/new?" in response.url):
        page.evaluate("document.body.dispatchEvent(new Event('app:poll'))")


def test_new_answers_are_a_line_and_nothing_else_moves(
    page: Page, site: ExampleSite, form: Any
) -> None:
    page.goto(f"/forms/{form.id}")
    reading = page.locator(".answer", has_text="answer 07")
    reading.get_by_role("link").focus()
    page.evaluate("scrollTo(0, 900)")
    before = tops(page, ".answer:has(:focus)")
    line = page.get_by_role("link", name="1 new answer – Show")

    with site.app.app_context():
        make_answer(form, secrets.token_hex(16), 0, "brand new")
    poll(page)

    expect(line).to_be_in_viewport()
    assert tops(page, ".answer:has(:focus)") == before
    expect(reading.get_by_role("link")).to_be_focused()
    expect(page).to_have_title("(1) Answers · Fifteen answers · Askback")
    line.click()
    expect(page.locator(".answer").first).to_contain_text("brand new")
    expect(line).to_have_count(0)


NAMES = ("Anna", "Bo", "Cem")


@pytest.fixture
def three(site: ExampleSite) -> Any:
    with site.app.app_context():
        three = make_form(site.data.account_id, title="Three responses")
        for name in NAMES:
            make_response(three, name=name)
        return three


def row(page: Page, three: Any) -> str:
    """What the list of forms says of it."""
    page.goto("/forms")
    return page.locator(f".list-row:has([href='/forms/{three.id}'])").inner_text()


def test_arrow_keys_turn_to_unread_responses_first(page: Page, three: Any) -> None:
    page.goto(f"/forms/{three.id}")
    page.get_by_role("link", name="Read one by one").click()
    for name in reversed(NAMES):
        expect(page.get_by_role("heading", level=1)).to_have_text(name)
        expect(page.get_by_role("button", name="Mark as read")).to_have_count(0)
        page.wait_for_load_state("networkidle")
        page.keyboard.press("ArrowRight")
    expect(page.get_by_role("heading", level=1)).to_have_text("Anna")
    page.keyboard.press("Shift+ArrowLeft")
    page.keyboard.press("ArrowLeft")
    expect(page.get_by_role("heading", level=1)).to_have_text("Bo")
    assert (
        page.locator(".answer__text").evaluate(
            "text => parseFloat(getComputedStyle(text).fontSize)"
        )
        > 20
    )
    assert "new" not in row(page, three)


def test_menus_close_by_escape_and_when_the_focus_leaves(page: Page, three: Any) -> None:
    page.goto(f"/forms/{three.id}")
    export, filters = page.get_by_text("Export"), page.get_by_text("Filters", exact=True)
    export.press("Enter")
    expect(page.get_by_role("link", name="JSON")).to_be_visible()
    page.keyboard.press("Escape")
    expect(page.get_by_role("link", name="JSON")).to_be_hidden()
    expect(page.locator("summary", has_text="Export")).to_be_focused()

    filters.click()
    expect(page.get_by_label("Completed only")).to_be_visible()
    page.get_by_role("button", name="Apply").focus()
    page.keyboard.press("Tab")
    expect(page.get_by_label("Completed only")).to_be_hidden()


@page_with({"width": 390, "height": 664})
def test_a_response_is_deleted_and_brought_back_by_keyboard(
    site: ExampleSite, page: Page, three: Any
) -> None:
    page.goto(f"/forms/{three.id}/people")
    page.get_by_role("link", name="Cem").click()
    for place in ("deleted", "restored", "deleted"):
        if place == "deleted":
            page.get_by_role("button", name="Delete this response").press("Enter")
            undo = page.get_by_role("button", name="Undo")
            expect(undo).to_be_focused()
            expect(undo).to_be_in_viewport(ratio=1)
            expect(page.get_by_role("link", name="Cem")).to_have_count(0)
        else:
            undo.press("Enter")
            expect(page.get_by_role("heading", name="Cem")).to_be_visible()
    with site.app.app_context():  # once it is erased, the note goes by itself
        list(purge_deleted_responses(utc_now() + timedelta(seconds=30)))
    page.evaluate("document.body.dispatchEvent(new Event('app:poll'))")
    expect(undo).to_have_count(0)


@pytest.fixture
def spoken(site: ExampleSite) -> Any:
    with site.app.app_context():
        spoken = make_voice_form(site.data.account_id, responseMode="voice_preferred")
        sent = {"transcript_state": TranscriptState.DONE, "transcript": "Heard", "text": "Sent"}
        content = sound("webm", "voice", 3.0)
        given = {"levels": "0123456789876543" * 4, "duration_ms": 3000, "content": content}
        make_stored_answer(spoken, secrets.token_hex(16), **sent, **given)
        return spoken


def test_a_recording_is_played_from_where_one_likes(page: Page, spoken: Any) -> None:
    asked: list[str] = []
    page.route("**/att_*", lambda route: (asked.append(range_of(route)), route.continue_()))
    page.goto(f"/forms/{spoken.id}/people")
    page.get_by_role("link", name="Anonymous").first.click()
    expect(page.get_by_text("Heard", exact=True)).to_be_visible()
    assert problems(page, [(390, "light", "rtl"), (1280, "dark", "ltr")]) == {}
    assert asked == []

    heard = page.locator("audio").evaluate(PLAYED)

    assert heard == pytest.approx(3, abs=0.1)
    assert asked[0].startswith("bytes=")
    wave = page.locator("audio-player .wave")
    box = wave.bounding_box()
    assert box is not None
    wave.click(position={"x": box["width"] / 3, "y": box["height"] / 2})
    at = page.locator("audio").evaluate("(audio) => audio.currentTime")
    assert at == pytest.approx(1, abs=0.1)
    page.get_by_role("button", name="Play the recording").press("ArrowRight")
    assert page.locator("audio").evaluate("(audio) => audio.currentTime") > 2.5
    with page.expect_download() as download:
        page.get_by_role("link", name="Download the recording").click()
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
