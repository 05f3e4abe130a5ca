"""Pages of a form with twenty questions and five follow-ups to each, in windows of two widths."""

from typing import Any

import pytest
from playwright.sync_api import Page

from tests.browser.conftest import ExampleSite, OpenWindow
from tests.browsing import look, sideways, squeezed, violations, window
from tests.followups.largest_mix import (
    FOLLOW_UPS,
    LONG_WORD,
    QUESTIONS,
    answer_all,
    make_mixed_form as make,
)
from webapp.answers import answering
from webapp.base.database import utc_now

KEY = "k" * 32
POST = """([path, session]) => {
  const form = document.createElement("form");
  form.method = "post";
  form.action = path;
  const field = Object.assign(document.createElement("input"), { name: "session", value: session });
  form.append(field);
  document.body.append(form);
  form.submit();
}"""


@pytest.fixture(scope="module")
def form(site: ExampleSite) -> Any:
    with site.app.app_context():
        form = make(site.data.account_id)
        answer_all(form, KEY)
    return form


def problems(page: Page) -> list[str]:
    found = []
    for width, scheme in ((320, "light"), (1280, "dark")):
        look(page, width=width, scheme=scheme)
        found += sideways(page) + squeezed(page)
    return found + violations(page)


@pytest.mark.parametrize(
    "view",
    ["/people", *(pytest.param(view, marks=pytest.mark.prove) for view in ("", "/questions/1"))],
)
def test_a_creator_reads_it_at_any_width(open_window: OpenWindow, form: Any, view: str) -> None:
    with open_window() as page:
        page.goto(f"/forms/{form.id}{view}")
        assert problems(page) == []
        if view == "/people":
            page.get_by_role("link", name="Anonymous").first.click()
            page.get_by_text(f"{QUESTIONS - 1}.{FOLLOW_UPS} {LONG_WORD}").wait_for()
            assert problems(page) == []


def test_a_respondent_reads_it_at_any_width(site: ExampleSite, form: Any) -> None:
    here = f"/r/{form.share_token}"
    with window(site.browser, site.address) as page:
        page.goto(here)
        for path in (f"/q/{QUESTIONS}/f/{FOLLOW_UPS}/open", "/check/open", "/sent"):
            with page.expect_navigation():
                page.evaluate(POST, [f"{here}{path}", KEY])
            assert problems(page) == []
            if path == "/check/open":
                with site.app.app_context():
                    answering.complete_response(
                        form.share_token, KEY, responder_name="", now=utc_now()
                    )
