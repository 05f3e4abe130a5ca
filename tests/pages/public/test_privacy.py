"""The privacy note: its periods, its links, and that it needs no database."""

from html import unescape

import pytest
from flask import Flask
from flask.testing import FlaskClient

from tests.pages.creator_client import plain
from tests.pages.respondent_client import storage_away


def words(client: FlaskClient) -> str:
    """The text of the page, without its elements."""
    return unescape(plain(client.get("/privacy").text))


@pytest.mark.settings(operator_name="Fernhill & Sons", operator_contact="hello@fernhill.example")
def test_it_names_who_runs_the_server_and_how_to_reach_them(client: FlaskClient) -> None:
    assert "This server is run by Fernhill & Sons." in words(client)
    assert 'href="mailto:hello@fernhill.example"' in client.get("/privacy").text


def test_without_a_name_it_says_so(client: FlaskClient) -> None:
    assert "The operator of this site, 127.0.0.1, has not put a name here." in words(client)


@pytest.mark.parametrize(
    "period",
    [
        "from your first saved answer on, for 30 days",
        "it works once, for 60 minutes",
        "it lies in a trash for at most 30 days",
        "A discarded draft is erased after 24 hours",
        "After 14 days without use you are signed out",
        "It is erased after 365 days, and with your account",
        "erased 180 days after a connection has ended",
        "until 90 days after they have ended",
        "the start of what came back, for 30 days",
        "keeps you signed in for 30 days, and one for a year if you choose an appearance",
    ],
)
def test_it_says_how_long_data_is_kept(client: FlaskClient, period: str) -> None:
    assert period in words(client)


def test_reading_it_leaves_no_cookie_and_needs_no_database(app: Flask, client: FlaskClient) -> None:
    with storage_away(app):
        page = client.get("/privacy")

    assert page.status_code == 200
    assert "Set-Cookie" not in page.headers


TOLD = "An assistant may ask to be told when you have sent your answers"


def test_it_says_that_assistants_are_told(client: FlaskClient) -> None:
    assert TOLD in words(client)


@pytest.mark.settings(mcp_events_enabled=False)
def test_without_events_nobody_is_told(client: FlaskClient) -> None:
    assert TOLD not in words(client)
