from collections.abc import Callable
from typing import Any

import pytest
from flask import Flask

from tests.factories import make_draft
from tests.pages.creator.trial.trying import Trying, begin
from tests.pages.creator_client import Creator

Try = Callable[..., Trying]


@pytest.fixture
def try_draft(app: Flask, ann: Creator) -> Try:
    """Begin to try a new draft with these fields."""

    def made(**fields: Any) -> Trying:
        with app.app_context():
            draft = make_draft(ann.account.id, **fields)
        return begin(ann, draft.id)

    return made
