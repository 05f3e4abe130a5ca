"""Deleting an account long after signing in, in a real browser."""

import pytest
from playwright.sync_api import expect

from tests.browser.conftest import Place
from tests.browsing import look, sideways, violations, window
from webapp.pages import sign_in


def test_a_wrong_password_deletes_nothing_and_is_asked_for_again(
    place: Place, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(sign_in, "RECENT_SECONDS", 0)
    signed_in = place.signed_in
    with window(place.browser, place.address, storage_state=signed_in, refused=[422]) as page:
        page.goto("/account/delete")
        password = page.get_by_label("Your password")
        password.fill("not my password")
        page.get_by_role("button", name="Delete my account").click()
        expect(page.locator(".field__error")).to_contain_text("That is not your password.")
        expect(password).to_be_focused()
        problems = []
        for width, scheme in [(320, "dark"), (1280, "light")]:
            look(page, width=width, scheme=scheme)
            problems += violations(page) + sideways(page)

        assert problems == []
        page.goto("/account")
        expect(page.locator("h1")).to_have_text("Your account")
