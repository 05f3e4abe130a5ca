"""Guessing passwords is limited and locks no creator out."""

import pytest
from flask import Flask
from flask.testing import FlaskClient

from tests.oauth.flow import EMAIL, PASSWORD, sign_in
from tests.pages.creator.account.conftest import post
from webapp.base.database import utc_now
from webapp.records.accounts import invites
from webapp.records.accounts.models import Account
from webapp.web.limiter import client_network


def browser_at(app: Flask, address: str) -> FlaskClient:
    """A browser that has never been here, at this network address."""
    browser = app.test_client()
    browser.environ_base["REMOTE_ADDR"] = address
    return browser


def wrong(browser: FlaskClient, times: int, email: str = EMAIL) -> list[int]:
    return [sign_in(browser, email, "wrong").status_code for _ in range(times)]


def known_browser(app: Flask) -> FlaskClient:
    """A browser of the creator that signed in before and out again."""
    browser = browser_at(app, "203.0.113.1")
    sign_in(browser)
    post(browser, "/logout")
    return browser


@pytest.mark.parametrize("address", ["127.0.0.1", "garbage", "unix:", "[2001:db8:1::1]:99"])
def test_sign_in_is_refused_after_five_failures_of_its_account(
    address: str, app: Flask, creator: Account
) -> None:
    client = browser_at(app, address)
    assert wrong(client, 5, "eve@example.com") == [422] * 5
    assert wrong(client, 5) == [422] * 5

    response = sign_in(client)

    assert response.status_code == 429
    assert 1 <= int(response.headers["Retry-After"]) <= 60


def test_failures_are_counted_for_the_account_however_its_address_is_written(
    app: Flask, client: FlaskClient
) -> None:
    spellings = [
        f"{name}@example.com" for name in ("jos\u00e9", "jose\u0301", "JOS\u00c9", " JOSE\u0301")
    ]
    with app.app_context():
        invites.create_account(spellings[0], "Jo", PASSWORD, now=utc_now())
    failures = [sign_in(client, each, "wrong").status_code for each in [*spellings, *spellings[:1]]]

    assert (failures, sign_in(client, spellings[1]).status_code) == ([422] * 5, 429)


def test_guesses_from_other_networks_do_not_lock_the_creator_out(
    app: Flask, creator: Account
) -> None:
    for network in range(4):
        wrong(browser_at(app, f"203.0.113.{network}"), 6)

    own = [sign_in(browser_at(app, "198.51.100.1")).status_code for _ in range(7)]

    assert own == [303] * 7  # what succeeds is not counted


@pytest.mark.constants("webapp.pages.creator.sign_in", ACCOUNT_TOTAL_RATE="8/hour")
def test_all_networks_together_have_a_limit_of_their_own(app: Flask, creator: Account) -> None:
    statuses = [wrong(browser_at(app, f"203.0.113.{network}"), 1)[0] for network in range(10)]

    assert statuses == [422] * 8 + [429] * 2


@pytest.mark.constants(
    "webapp.pages.creator.sign_in", ACCOUNT_TOTAL_RATE="8/hour", ADDRESS_RATE="9/hour"
)
def test_a_browser_that_signed_in_before_is_never_locked_out(app: Flask, creator: Account) -> None:
    own, stranger = known_browser(app), browser_at(app, "203.0.113.1")
    for network in range(3):
        wrong(browser_at(app, f"198.51.100.{network}"), 4)
    for number in range(10):
        wrong(stranger, 1, f"{number}@example.com")

    locked_out = sign_in(stranger).status_code

    assert (locked_out, sign_in(own).status_code) == (429, 303)


def test_a_browser_that_signed_in_before_guesses_under_the_strict_limit(
    app: Flask, creator: Account
) -> None:
    own = known_browser(app)
    first = wrong(own, 3)
    own.environ_base["REMOTE_ADDR"] = "198.51.100.1"

    assert (first, wrong(own, 3)) == ([422] * 3, [422, 422, 429])


def test_a_browser_is_known_to_its_own_account_only(app: Flask, creator: Account) -> None:
    other = "bob@example.com"
    with app.app_context():
        invites.create_account(other, "Bob", PASSWORD, now=utc_now())
    own = known_browser(app)
    wrong(browser_at(app, "203.0.113.1"), 5, other)

    assert sign_in(own, other).status_code == 429


V4 = ["203.0.113.9", "203.0.113.9:4711", "::ffff:203.0.113.9"]
V4 += ["[::ffff:203.0.113.9]", "[::ffff:203.0.113.9]:99", "::ffff:cb00:7109"]
V6 = ["2001:db8:1::1", "[2001:db8:1::2]", "[2001:db8:1::3]:99"]
V6 += ["2001:db8:1:0:ffff::5", "2001:DB8:1::6"]
UNREADABLE = ["garbage", "unknown", "_obf", "unix:", "[]", "[::1", "999.1.1.1", "1.2.3.4.5:6"]
FORWARDED = [
    *((text, "203.0.113.9") for text in V4),
    *((text, "2001:db8:1::/64") for text in V6),
    *((text, "an address that cannot be read") for text in UNREADABLE),
]


def test_every_written_form_of_an_address_counts_as_one(app: Flask) -> None:
    for text, key in FORWARDED:
        with app.test_request_context("/", environ_base={"REMOTE_ADDR": text}):
            assert client_network() == key, text
