"""Results in a real browser: what is swapped, what is new, and all of it without scripts."""

import re
import secrets
from collections.abc import Iterator
from typing import Any

import pytest
from playwright.sync_api import Page, expect

from tests.browser.conftest import ExampleSite
from tests.browsing import window
from tests.factories import make_answer, make_follow_up, make_follow_up_answer, make_form


@pytest.fixture
def form(site: ExampleSite) -> Any:
    """A form of the creator with fifteen answers to its first question."""
    with site.app.app_context():
        form = make_form(site.data.account_id, title="Fifteen answers")
        for number in range(15):
            make_answer(form, secrets.token_hex(16), 0, f"answer {number:02}")
        return form


@pytest.fixture(params=[True, False], ids=["scripts", "no scripts"])
def any_page(site: ExampleSite, request: pytest.FixtureRequest) -> Iterator[Page]:
    """Signed in, with and without scripts."""
    options = {"storage_state": site.signed_in, "java_script_enabled": request.param}
    with window(site.browser, site.address, **options) as page:
        yield page


@pytest.fixture
def page(site: ExampleSite) -> Iterator[Page]:
    with window(site.browser, site.address, storage_state=site.signed_in) as page:
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


def test_the_page_polls_for_new_answers(page: Page, site: ExampleSite, form: Any) -> None:
    page.clock.install()
    page.goto(f"/forms/{form.id}")
    with site.app.app_context():
        make_answer(form, secrets.token_hex(16), 0, "brand new")

    with page.expect_response(lambda response: "/new?" in response.url):
        page.clock.run_for(5000)

    expect(page.get_by_role("link", name="1 new answer")).to_be_visible()


def test_a_hidden_tab_tells_of_new_answers_in_its_title(
    page: Page, site: ExampleSite, form: Any
) -> None:
    page.clock.install()
    page.goto(f"/forms/{form.id}")
    page.evaluate("Object.defineProperty(document, 'hidden', { get: () => true })")
    with site.app.app_context():
        make_answer(form, secrets.token_hex(16), 0, "brand new")

    page.clock.run_for(59000)
    expect(page).to_have_title("Answers · Fifteen answers · Askback")
    page.clock.run_for(2000)

    expect(page).to_have_title("(1) Answers · Fifteen answers · Askback")


def test_failed_polls_leave_the_page_unchanged(site: ExampleSite, form: Any) -> None:
    options = {"storage_state": site.signed_in, "refused": [503]}
    with window(site.browser, site.address, **options) as page:
        page.goto(f"/forms/{form.id}")
        page.route("**/new?*", lambda route: route.fulfill(status=503, body="away"))
        page.evaluate("document.body.dispatchEvent(new Event('app:poll'))")
        expect(page.get_by_text("Can’t update right now.")).to_be_visible()
        expect(page.locator(".answer")).to_have_count(10)
        expect(page.locator("#error-note")).to_be_hidden()
        page.unroute("**/new?*")

        page.get_by_role("button", name="Try now").click()

        expect(page.get_by_text("Can’t update right now.")).to_have_count(0)


def test_a_slow_view_is_marked_as_busy(page: Page, form: Any) -> None:
    page.goto(f"/forms/{form.id}")
    page.evaluate("addEventListener('click', (event) => event.preventDefault())")

    page.get_by_role("link", name="By person").click()

    expect(page.locator("[data-view]")).to_have_attribute("aria-busy", "true")
    expect(page.get_by_role("link", name="By person")).to_have_attribute("aria-current", "page")
    expect(page.locator(".answer").first).to_be_hidden()


def test_searching_and_filtering(any_page: Page, form: Any) -> None:
    any_page.goto(f"/forms/{form.id}")

    any_page.get_by_label("Search answers").fill("ANSWER 07")
    any_page.get_by_role("button", name="Search", exact=True).click()
    expect(any_page.locator(".answer")).to_have_count(1)
    expect(any_page.locator("mark")).to_have_text("answer 07")
    expect(any_page.locator("#search")).to_be_in_viewport(ratio=1)
    expect(any_page.locator("#found")).to_be_in_viewport()
    before = tops(any_page, ".tabs__nav, .answer, #search")
    any_page.get_by_text("Filters", exact=True).click()
    assert tops(any_page, ".tabs__nav, .answer, #search") == before
    any_page.get_by_label("Completed only").check()
    any_page.get_by_role("button", name="Apply").click()
    expect(any_page.get_by_text("Nothing found with")).to_be_visible()
    any_page.get_by_role("link", name="Clear search and filters").click()

    expect(any_page.locator(".answer")).to_have_count(10)


def test_deleting_restoring_and_copying(any_page: Page, form: Any) -> None:
    any_page.goto(f"/forms/{form.id}/settings")

    any_page.get_by_role("link", name="Delete form").click()
    expect(any_page.get_by_text("and 15 that are not completed.")).to_be_visible()
    any_page.get_by_role("button", name="Delete the form").click()
    any_page.get_by_role("button", name="Restore Fifteen answers").click()
    expect(any_page.locator(".answer")).to_have_count(10)
    any_page.get_by_role("link", name="Settings").click()
    any_page.get_by_role("button", name="Make a draft from this form").click()

    any_page.wait_for_url("**/drafts/drf_*")
    expect(any_page.get_by_text("Fifteen answers").first).to_be_visible()


@pytest.mark.parametrize("kind", ["a row per person", "a row per answer", "JSON"])
def test_downloading(page: Page, form: Any, kind: str) -> None:
    page.goto(f"/forms/{form.id}")
    page.get_by_text("Export").click()

    with page.expect_download() as begun:
        page.get_by_role("link", name=kind).click()

    assert begun.value.suggested_filename.startswith("Fifteen-answers-")
    assert "answer 07" in begun.value.path().read_text()


@pytest.mark.parametrize("view", ["", "/people"])
def test_only_answers_with_follow_ups_are_shown_on_request(
    any_page: Page, site: ExampleSite, view: str
) -> None:
    any_page.goto(site.data.followed + view)
    expect(any_page.get_by_text("Nothing, we were closed.")).to_be_visible()

    any_page.get_by_text("Filters", exact=True).click()
    any_page.get_by_label("With follow-ups").check()
    any_page.get_by_role("button", name="Apply").click()

    expect(any_page.get_by_text("Nothing, we were closed.")).to_have_count(0)
    expect(any_page.get_by_label("With follow-ups")).to_be_checked()
    expect(any_page.locator(".reply")).to_have_count(5)
    assert "followups=1" in any_page.url


@pytest.mark.parametrize("view", ["", "/people", "/people/one"])
def test_an_arabic_answer_begins_where_its_question_does(
    site: ExampleSite, page: Page, view: str
) -> None:
    key = secrets.token_hex(16)
    with site.app.app_context():
        asks = {"questions": ["ما الذي جعلك تغيّر الخدمة؟"], "followUpMode": "deep_dive"}
        form = make_form(site.data.account_id, **asks)
        make_answer(form, key, 0, "انتقلنا لأن السعر ارتفع")
        asked = make_follow_up(form, key, question_text="ماذا حدث بعد ذلك؟")
        make_follow_up_answer(form, key, asked, "لا شيء")

    page.goto(f"/forms/{form.id}{view.removesuffix('/one')}")
    if view == "/people/one":
        page.get_by_role("link", name="Anonymous").click()
        page.locator(".one-response").wait_for()

    texts = page.locator("h2, .answer__by, .answer__text, .reply__question")
    arabic = texts.filter(has_text=re.compile("[\u0600-\u06ff]"))
    expect(arabic).to_have_count(4)
    ends = arabic.evaluate_all("parts => parts.map((part) => part.getBoundingClientRect().right)")
    assert max(ends) - min(ends) < 2
