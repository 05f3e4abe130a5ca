"""A creator who tries a draft: posts its pages as a browser without scripts would."""

from dataclasses import dataclass
from typing import Any

from werkzeug.test import TestResponse

from tests.pages.creator_client import Creator, plain
from tests.pages.respondent_client import heading, hidden


@dataclass
class Trying:
    """At a page of the trial of a draft."""

    creator: Creator
    path: str
    page: TestResponse

    def post(self, **fields: Any) -> TestResponse:
        """Press a button of the page; `fields` are it and what was typed."""
        sent = hidden(self.page) | {"answer": ""} | fields
        self.page = self.creator.post(self.path, **sent)
        return self.page

    def answer(self, text: str) -> TestResponse:
        return self.post(answer=text)

    def skip(self) -> TestResponse:
        return self.post(skip="1")

    def open(self, path: str, **fields: Any) -> TestResponse:
        return self.post(open=path, **fields)

    @property
    def question(self) -> str:
        return heading(self.page)

    @property
    def words(self) -> str:
        return plain(self.page.text)


def begin(creator: Creator, draft_id: str) -> Trying:
    path = f"/drafts/{draft_id}/try"
    return Trying(creator, path, creator.page(path))


def try_draft(creator: Creator, **fields: Any) -> Trying:
    """Begin to try a new draft with these fields."""
    return begin(creator, creator.draft(**fields).id)
