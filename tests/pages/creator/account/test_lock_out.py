"""Guessing passwords is limited and locks no creator out."""

import httpx
import pytest
from argon2 import PasswordHasher
from flask import Flask
from flask.testing import FlaskClient

from tests.factories import make_account
from tests.oauth.flow import EMAIL, HOST, PASSWORD, csrf_token, sign_in
from tests.pages.creator.account.conftest import post, reset_password
from tests.pages.respondent_client import storage_away
from tests.serving import new_app, serving
from webapp.base.config import Settings
from webapp.base.database import utc_now
from webapp.records.accounts import invites
from webapp.records.accounts.models import Account
from webapp.web.limiter import client_network

NEW_PASSWORD = "five other plain words here"


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


def test_each_network_address_has_its_own_limit(app: Flask, creator: Account) -> None:
    statuses = [wrong(app.test_client(), 1, f"a{number}@b.example")[0] for number in range(31)]

    assert statuses == [422] * 30 + [429]


def test_a_browser_whose_sign_in_renewed_the_hash_is_known(app: Flask) -> None:
    weaker = PasswordHasher(memory_cost=8192, time_cost=1, parallelism=1).hash(PASSWORD)
    with app.app_context():
        make_account(email=EMAIL, password_hash=weaker)
    own = known_browser(app)
    wrong(browser_at(app, "203.0.113.1"), 5)

    assert sign_in(own).status_code == 303


def test_a_database_failure_counts_no_attempt(app: Flask, creator: Account) -> None:
    browser = app.test_client()
    token = csrf_token(browser.get("/login"))
    form = {"email": EMAIL, "password": PASSWORD, "csrf_token": token}
    with storage_away(app):
        statuses = [browser.post("/login", data=form).status_code for _ in range(7)]

    assert (statuses, sign_in(browser).status_code) == ([503] * 7, 303)


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


def test_a_new_password_forgets_all_known_browsers(app: Flask, creator: Account) -> None:
    own = known_browser(app)
    assert reset_password(app, NEW_PASSWORD) == 303
    wrong(browser_at(app, "203.0.113.1"), 5)

    assert sign_in(own, password=NEW_PASSWORD).status_code == 429


@pytest.mark.parametrize("value", ["", "x", "W10.x", "bnVsbA.AAAA", "é"])
def test_a_forged_known_browser_cookie_is_ignored(value: str, app: Flask, creator: Account) -> None:
    browser = browser_at(app, "203.0.113.1")
    browser.set_cookie("askback_device", value, domain=HOST)

    assert wrong(browser, 6) == [422] * 5 + [429]


V4 = ["203.0.113.9", "203.0.113.9:4711", '"203.0.113.9"', "::ffff:203.0.113.9"]
V4 += ["[::ffff:203.0.113.9]", "[::ffff:203.0.113.9]:99", "::ffff:cb00:7109"]
V6 = ["2001:db8:1::1", "[2001:db8:1::2]", "[2001:db8:1::3]:99", '"[2001:db8:1::4]:99"']
V6 += ["2001:db8:1:0:ffff::5", "2001:DB8:1::6"]
UNREADABLE = ["garbage", "unknown", "_obf", "unix:", "[]", "[::1", "999.1.1.1", "1.2.3.4.5:6"]
FORWARDED = [
    *((text, "203.0.113.9") for text in V4),
    *((text, "2001:db8:1::/64") for text in V6),
    *((text, "an address that cannot be read") for text in UNREADABLE),
    ("198.51.100.1, 203.0.113.9", "203.0.113.9"),
]


def test_every_written_form_of_an_address_counts_as_one(settings: Settings) -> None:
    app = new_app(settings)
    object.__setattr__(app.config["SETTINGS"], "trusted_proxy", "127.0.0.1")
    app.add_url_rule("/network", view_func=client_network)
    with serving(app), httpx.Client(base_url=app.config["SETTINGS"].public_url) as client:
        found = {
            text: client.get("/network", headers={"X-Forwarded-For": text}).text
            for text, _ in FORWARDED
        }

    assert found == dict(FORWARDED)
