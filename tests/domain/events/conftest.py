"""An agent that subscribes."""

from typing import Any

import pytest

from tests.conftest import Clock
from tests.domain.events.subscribing import Subscriber, make_grant
from tests.factories import make_account, make_form


@pytest.fixture
def agent(app_context: None) -> Subscriber:
    account = make_account()
    form = make_form(account.id)
    return Subscriber(form, make_grant(account.id), Clock(form.published_at))


@pytest.fixture
def form(agent: Subscriber) -> Any:
    return agent.form
