"""Steps and look-ups of tests of creator pages."""

import re

from playwright.sync_api import Page, expect

from tests.browser.conftest import ExampleSite
from webapp.base.database import utc_now
from webapp.drafts import editing
from webapp.records import drafts
from webapp.records.content.draft_input import parse_draft_input
from webapp.records.drafts import Draft


def stored(site: ExampleSite, draft: Draft) -> Draft:
    with site.app.app_context():
        return drafts.get_draft(draft.account_id, draft.id)


def modes(site: ExampleSite, draft: Draft) -> tuple[str, str]:
    kept = stored(site, draft)
    return kept.follow_up_mode, kept.response_limit


def by_agent(site: ExampleSite, draft: Draft, **fields: object) -> None:
    with site.app.app_context():
        changes = parse_draft_input(fields)
        editing.update_draft(draft.account_id, draft.id, changes, author="grt_1", now=utc_now())


def edit(page: Page, part: str, text: str) -> None:
    """Open the editor of the title or goal and write, without saving."""
    page.get_by_role("link", name=f"Edit {part}").click()
    page.get_by_role("textbox", name=part.capitalize()).fill(text)


def saved(page: Page, revision: int) -> None:
    expect(page.locator("#save-result")).to_have_text(re.compile(rf"Saved · revision {revision}$"))
