"""A draft in the window of its creator."""

from collections.abc import Iterator

import pytest
from playwright.sync_api import Page

from tests.browser.conftest import OpenWindow
from webapp.records.drafts import Draft


@pytest.fixture
def page(open_window: OpenWindow, draft: Draft) -> Iterator[Page]:
    """The review page of a draft of this test's own, which may refuse what is sent."""
    with open_window(refused=[409, 422]) as page:
        page.goto(f"/drafts/{draft.id}")
        yield page
