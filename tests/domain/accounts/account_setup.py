"""An account with a known password, and browser sessions of it."""

from tests.conftest import Clock
from webapp.records.accounts import invites
from webapp.records.accounts.browser_sessions import begin_session
from webapp.records.accounts.models import Account

PASSWORD = "four plain words here"


def make_ann(clock: Clock) -> Account:
    return invites.create_account("Ann@Example.com", "Ann", PASSWORD, now=clock.now)


def begin(account: Account, clock: Clock) -> str:
    """A browser session of the account."""
    return begin_session(account, replaced=None, now=clock.now)
