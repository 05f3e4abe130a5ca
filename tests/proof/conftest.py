"""An agent of the account, as the tests of the API have one."""

from tests.api.conftest import agent, connect

__all__ = ["agent", "connect"]
