"""An agent of the account, as the tests of the API have one; the application of a killed server."""

import pytest
from flask import Flask

from tests.api.conftest import agent, connect
from webapp.base.database import schema

__all__ = ["agent", "connect"]


@pytest.fixture
def killed_app(empty_app: Flask) -> Flask:
    """An application of this process on database and folder of the server that is killed."""
    schema.upgrade()
    return empty_app
