"""Hosts that subscribe: each tells the numbers of errors by its era and what it declares."""

from typing import Any

import pytest

from tests.api.mcp.conftest import LEGACY, MODERN, Host, Hosted
from tests.api.mcp.events.subscribing import DECLARED
from webapp.base.vocabulary import Scope


@pytest.fixture(params=["legacy", "plain", "extension"])
def host(request: pytest.FixtureRequest, hosted: Hosted, account: Any) -> Host:
    """A host of the account in each of the three ways to be refused."""
    version = LEGACY if request.param == "legacy" else MODERN
    found = hosted(account.id, tuple(Scope), version)
    found.capabilities = DECLARED if request.param == "extension" else {}
    return found
