"""A consumer that knows nothing but `nextSince`, and what it counted."""

import time
from collections import Counter
from collections.abc import Callable
from dataclasses import dataclass, field

from flask import Flask

from webapp.base.database import db
from webapp.records.forms import get_form
from webapp.records.responses.cursor import ResponsePage, read_responses


@dataclass
class Poller:
    """Reads page after page of one form; counts how often it saw each answer and completion."""

    app: Flask
    account_id: str
    form_id: str
    max_items: int
    pause_seconds: float = 0.002
    since: int | None = None
    answers: Counter[str] = field(default_factory=Counter)
    completions: Counter[str] = field(default_factory=Counter)
    polls: int = 0
    truncated: int = 0

    def run(self, writing: Callable[[], bool]) -> None:
        """Poll until the writers are done and a last page says that nothing is new."""
        with self.app.app_context():
            more = True
            while more:
                writers_at_work = writing()
                more = self.poll() or writers_at_work
                if writers_at_work:
                    time.sleep(self.pause_seconds)

    def poll(self) -> bool:
        """Read one page; True when it held something."""
        page = read_responses(
            get_form(self.account_id, self.form_id), self.since, max_items=self.max_items
        )
        db.session.rollback()
        self._count(page)
        self.polls += 1
        self.truncated += page.truncated
        moved = page.next_since != self.since
        self.since = page.next_since
        return moved

    def _count(self, page: ResponsePage) -> None:
        for entry in page.sessions:
            self.answers.update(answer.id for answer in entry.answers)
            completed = entry.session.completed_stamp
            if completed and (self.since or 0) < completed <= (page.next_since or 0):
                self.completions[entry.session.id] += 1
