"""Typed text is kept: reloads, network failures, server errors, blocked cookies."""

from playwright.sync_api import Page, expect

from tests.browser.respondent_steps import Link, asked, fail, give, lose_the_answer, press


def test_unsent_text_survives_a_reload_and_is_cleared_by_saving(page: Page) -> None:
    page.locator("#answer").press_sequentially("half a sent")
    expect(page.locator("#draft-note")).to_have_text("Kept in this browser until you continue.")
    page.reload()
    expect(page.locator("#answer")).to_have_value("half a sent")
    expect(page.locator("#draft-note")).to_contain_text("We restored what you hadn’t sent.")

    give(page, "A whole sentence")
    asked(page, 2)
    press(page, "Back")
    asked(page, 1)

    expect(page.locator("#answer")).to_have_value("A whole sentence")
    assert page.evaluate("localStorage.length") == 0


def test_unsent_text_survives_its_tab_without_revealing_the_session_key(
    page: Page, link: Link
) -> None:
    give(page, "Me")
    asked(page, 2)
    page.locator("#answer").fill("half a sent")
    key = page.locator("form.ask input[name=session]").get_attribute("value") or "missing"
    assert page.evaluate("localStorage.length") == 1
    assert key not in page.evaluate("JSON.stringify(localStorage)")
    other = page.context.new_page()
    page.close()
    other.goto(link.path)

    asked(other, 2)
    expect(other.locator("#answer")).to_have_value("half a sent")
    assert link.texts() == ["Me"]


def test_an_answer_that_was_stored_but_not_confirmed_is_stored_once(
    troubled: Page, link: Link
) -> None:
    fail(troubled, "**/q/1", lose_the_answer)
    give(troubled, "Me")

    note = troubled.locator("[data-retry] .note")
    expect(note).to_contain_text("It is not certain that this was saved. Trying again in")
    expect(note).to_contain_text("They are saved once, even if they were saved before.")
    asked(troubled, 2)
    assert (link.sessions(), link.texts()) == (1, ["Me"])
