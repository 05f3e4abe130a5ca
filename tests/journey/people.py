"""What the creator and the respondents do in their browsers, one step after the other."""

import re
from collections.abc import Callable

from playwright.sync_api import Page, expect

Camera = Callable[[Page, str], None]
PASSWORD = "a rota by the fridge"


def press(page: Page, name: str) -> None:
    page.get_by_role("button", name=name).click()


def follow(page: Page, name: str) -> None:
    page.get_by_role("link", name=name).click()


# --- the creator ---


def sign_up(page: Page, link: str, photograph: Camera) -> None:
    page.goto(link)
    photograph(page, "sign-up")
    page.get_by_label("E-mail").fill("ann@fernhill.example")
    page.get_by_label("Your name").fill("Ann Lindqvist")
    page.get_by_label("Password").fill(PASSWORD)
    press(page, "Create account")
    page.wait_for_url("**/drafts")
    photograph(page, "inbox-empty")


def sign_out_and_in(page: Page, photograph: Camera) -> None:
    page.get_by_role("link", name="Your account").click()
    page.get_by_role("button", name="Sign out", exact=True).click()
    page.wait_for_url("**/login")
    photograph(page, "sign-in")
    page.get_by_label("E-mail").fill("ann@fernhill.example")
    page.get_by_label("Password").fill(PASSWORD)
    press(page, "Sign in")
    page.wait_for_url("**/drafts")


def allow(page: Page, address: str, callback: str, photograph: Camera) -> str:
    """Allow an agent; returns the redirect address."""
    page.goto(address)
    photograph(page, "consent")
    page.get_by_role("button", name="Allow", exact=True).click()
    page.wait_for_url(f"{callback}?*")
    return page.url


def review_and_edit(page: Page, review: str, photograph: Camera) -> None:
    """Find the draft in the inbox and put another question in place of the second one."""
    page.goto("/drafts")
    photograph(page, "inbox")
    page.locator(f'a[href="{review}"]').click()
    photograph(page, "review")
    follow(page, "Edit question 2")
    field = page.get_by_label("Question", exact=True)
    field.fill("Tell me about the last time a shift went wrong.")
    photograph(page, "review-editing")
    press(page, "Save")
    expect(page.locator(".questions")).to_contain_text("the last time a shift went wrong.")
    photograph(page, "review-edited")


def confirm(page: Page, name: str, photograph: Camera) -> None:
    """Confirm, and let the agent of that name publish."""
    expect(page.locator("#decision")).to_contain_text(f"{name} publishes what you approve.")
    press(page, "Approve")
    expect(page).to_have_url(re.compile("/drafts/[^/]+$"))
    expect(page.locator("#breadcrumb")).to_contain_text("You have confirmed this.")
    photograph(page, "confirmed")


def look_at_results(page: Page, form_id: str, photograph: Camera) -> str:
    """The words on the page of results; the other pages of a form are shown on the way."""
    page.goto("/forms")
    photograph(page, "forms")
    page.goto(f"/forms/{form_id}/share")
    photograph(page, "share")
    page.goto("/connections")
    photograph(page, "connections")
    page.goto(f"/forms/{form_id}")
    photograph(page, "results")
    return page.locator("main").inner_text()


# --- respondents ---


def asked(page: Page, number: int, question: str) -> None:
    expect(page.locator(".count")).to_contain_text(f"Question {number} of 3")
    expect(page.locator("h1")).to_have_text(question)


def answer(page: Page, text: str) -> None:
    page.locator("#answer").fill(text)
    press(page, "Continue")


def send(page: Page, name: str, photograph: Camera) -> None:
    """From the page with all answers to the thank-you page."""
    expect(page.locator("h1")).to_have_text("Check your answers, then send.")
    page.get_by_label("Your name").fill(name)
    photograph(page, "check")
    press(page, "Send to Ann")
    expect(page.locator("h1")).to_have_text(re.compile("^Thank you."))
    photograph(page, "thanks")
