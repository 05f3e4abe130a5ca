"""A draft in the window of its creator."""

from collections.abc import Iterator

import pytest
from playwright.sync_api import Page

from tests.browser.conftest import ExampleSite, OpenWindow
from webapp.records.drafts import Draft


@pytest.fixture
def page(request: pytest.FixtureRequest, open_window: OpenWindow, draft: Draft) -> Iterator[Page]:
    """The review page of a draft of this test's own, which may refuse what is sent; options as of
    `page_with`.
    """
    with open_window(refused=[400, 401, 409, 422, 429], **getattr(request, "param", {})) as page:
        page.goto(f"/drafts/{draft.id}")
        yield page


@pytest.fixture
def troubled(site: ExampleSite, draft: Draft) -> Iterator[Page]:
    """The same in a window whose requests fail on purpose; console errors are allowed."""
    options = {"base_url": site.address, "storage_state": site.signed_in}
    with site.browser.new_context(**options) as context:
        page = context.new_page()
        page.goto(f"/drafts/{draft.id}")
        yield page
