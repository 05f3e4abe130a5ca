"""Results in a real browser: what is swapped, what is new, and all of it without scripts."""

import secrets
from collections.abc import Iterator
from typing import Any

import pytest
from playwright.sync_api import Page, expect

from tests.browser.conftest import ExampleSite
from tests.browsing import window
from tests.factories import make_answer, make_form


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


@pytest.mark.parametrize(("width", "edge"), [(1280, "left"), (390, "top")])
def test_the_three_figures_are_in_one_line(site: ExampleSite, width: int, edge: str) -> None:
    with window(site.browser, site.address, storage_state=site.signed_in, width=width) as page:
        page.goto(site.data.results)
        edges = page.locator(".figures > div").evaluate_all(
            "(parts, edge) => parts.map((part) => part.getBoundingClientRect()[edge])", edge
        )

    assert len(edges) == 3
    assert len(set(edges)) == 1


def test_new_answers_are_shown_on_request(page: Page, site: ExampleSite, form: Any) -> None:
    page.goto(f"/forms/{form.id}")
    with site.app.app_context():
        make_answer(form, secrets.token_hex(16), 0, "brand new")

    page.evaluate("document.body.dispatchEvent(new Event('app:poll'))")

    link = page.get_by_role("link", name="1 new answer – Show")
    expect(link).to_be_visible()
    expect(page.get_by_text("brand new")).to_have_count(0)
    link.click()
    expect(page.get_by_text("brand new")).to_be_visible()


def test_the_page_polls_for_new_answers(page: Page, site: ExampleSite, form: Any) -> None:
    page.clock.install()
    page.goto(f"/forms/{form.id}")
    with site.app.app_context():
        make_answer(form, secrets.token_hex(16), 0, "brand new")

    with page.expect_response(lambda response: "/new?" in response.url):
        page.clock.run_for(5000)

    expect(page.get_by_role("link", name="1 new answer – Show")).to_be_visible()


def test_failed_polls_leave_the_page_unchanged(site: ExampleSite, form: Any) -> None:
    options = {"storage_state": site.signed_in, "refused": [503]}
    with window(site.browser, site.address, **options) as page:
        page.goto(f"/forms/{form.id}")
        page.route("**/new?*", lambda route: route.fulfill(status=503, body="away"))
        page.evaluate("document.body.dispatchEvent(new Event('app:poll'))")
        expect(page.get_by_text("Could not refresh.")).to_be_visible()
        expect(page.locator(".answer")).to_have_count(10)
        expect(page.locator("#error-note")).to_be_hidden()
        page.unroute("**/new?*")

        page.get_by_role("button", name="Try now").click()

        expect(page.get_by_text("Could not refresh.")).to_have_count(0)


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
    any_page.get_by_text("Filters").click()
    any_page.get_by_label("Finished ones only").check()
    any_page.get_by_role("button", name="Show these").click()
    expect(any_page.get_by_text("Nothing found.")).to_be_visible()
    any_page.get_by_role("link", name="Show all answers").click()

    expect(any_page.locator(".answer")).to_have_count(10)


def test_deleting_restoring_and_copying(any_page: Page, form: Any) -> None:
    any_page.goto(f"/forms/{form.id}/settings")

    any_page.get_by_role("link", name="Delete form").click()
    expect(any_page.get_by_text("and 15 that are not finished.")).to_be_visible()
    any_page.get_by_role("button", name="Delete the form").click()
    any_page.get_by_role("button", name="Restore Fifteen answers").click()
    expect(any_page.locator(".answer")).to_have_count(10)
    any_page.get_by_role("link", name="Settings").click()
    any_page.get_by_role("button", name="Make a draft from this form").click()

    any_page.wait_for_url("**/drafts/drf_*")
    expect(any_page.get_by_text("Fifteen answers").first).to_be_visible()


@pytest.mark.parametrize("kind", ["CSV", "JSON"])
def test_downloading(page: Page, form: Any, kind: str) -> None:
    page.goto(f"/forms/{form.id}")

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

    any_page.get_by_text("Filters").click()
    any_page.get_by_label("With follow-ups").check()
    any_page.get_by_role("button", name="Show these").click()

    expect(any_page.get_by_text("Nothing, we were closed.")).to_have_count(0)
    expect(any_page.get_by_label("With follow-ups")).to_be_checked()
    expect(any_page.locator(".reply")).to_have_count(5)
    assert "followups=1" in any_page.url
