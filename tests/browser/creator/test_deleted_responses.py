"""Deleting a response in a real browser, with and without scripts: by keyboard, and undone."""

from datetime import timedelta
from typing import Any

import pytest
from playwright.sync_api import expect

from tests.browser.conftest import ExampleSite
from tests.browsing import window
from tests.factories import make_form, make_response
from webapp.answers.deleted_responses import purge_deleted_responses
from webapp.base.database import utc_now


@pytest.fixture
def form(site: ExampleSite) -> Any:
    """A form of the creator with two responses."""
    with site.app.app_context():
        form = make_form(site.data.account_id, title="Two answers")
        for name in ("Kim", "Sam"):
            make_response(form, name=name)
        return form


@pytest.mark.parametrize("scripts", [True, False], ids=["scripts", "no scripts"])
def test_a_response_is_deleted_and_brought_back_by_keyboard(
    site: ExampleSite, form: Any, *, scripts: bool
) -> None:
    options = {"storage_state": site.signed_in, "java_script_enabled": scripts}
    with window(site.browser, site.address, width=390, height=664, **options) as page:
        page.goto(f"/forms/{form.id}/people")
        page.get_by_role("link", name="Sam").click()
        for place in ("deleted", "restored", "deleted"):
            if place == "deleted":
                page.get_by_role("button", name="Delete this response").press("Enter")
                undo = page.get_by_role("button", name="Undo")
                expect(undo).to_be_focused()
                expect(undo).to_be_in_viewport(ratio=1)
                expect(page.get_by_role("link", name="Sam")).to_have_count(0)
            else:
                undo.press("Enter")
                expect(page.get_by_role("heading", name="Sam")).to_be_visible()
        if scripts:  # once it is erased, the note goes by itself
            with site.app.app_context():
                list(purge_deleted_responses(utc_now() + timedelta(seconds=30)))
            page.evaluate("document.body.dispatchEvent(new Event('app:poll'))")
            expect(undo).to_have_count(0)
