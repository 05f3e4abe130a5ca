"""The pages of the site itself: about it, the privacy note, the security contact (RFC 9116)."""

import re
from datetime import datetime, timedelta
from html import unescape
from pathlib import Path

import pytest
from flask import Flask
from flask.testing import FlaskClient

from tests.pages.creator_client import plain
from tests.pages.respondent_client import Respondent, heading, storage_away
from webapp.base.config_environment import ConfigurationError, read_settings
from webapp.base.database import utc_now

OPERATOR = pytest.mark.settings(
    operator_name="Fernhill & Sons", operator_contact="hello@fernhill.example"
)
PATH = "/.well-known/security.txt"
CONTACT = "mailto:security@example.org"


def words(client: FlaskClient) -> str:
    """The text of the privacy note, without its elements."""
    return unescape(plain(client.get("/privacy").text))


def test_the_wordmark_of_respondents_leads_to_it_in_their_language(
    client: FlaskClient, respondent: Respondent
) -> None:
    page = client.get(f"/r/{respondent.share_token}?lang=fr")
    (address,) = re.findall(r'<a class="wordmark[^"]*" href="([^"]*)"', page.text)

    about = client.get(address)
    assert address == "/about?lang=fr"
    assert about.status_code == 200
    assert '<html lang="fr"' in about.text
    assert 'href="/privacy?lang=fr"' in about.text


def test_an_unknown_form_leads_to_no_sign_in(client: FlaskClient) -> None:
    page = client.get("/r/no-such-form")

    assert '<a class="btn" href="/about">About Askback</a>' in page.text
    assert 'href="/"' not in page.text


def test_it_says_who_reads_answers_and_leads_creators_to_the_sign_in(client: FlaskClient) -> None:
    page = client.get("/about")

    assert heading(page) == "About Askback"
    assert "the AI assistants they use can read each answer" in plain(page.text)
    assert 'href="/login"' in page.text


@OPERATOR
@pytest.mark.parametrize("path", ["/about", "/privacy"])
def test_they_name_the_operator_without_cookie_and_database(
    app: Flask, client: FlaskClient, path: str
) -> None:
    with storage_away(app):
        page = client.get(path)

    assert page.status_code == 200
    assert "This server is run by Fernhill &amp; Sons." in page.text
    assert 'href="mailto:hello@fernhill.example"' in page.text
    assert "Set-Cookie" not in page.headers


def test_without_a_name_it_says_so(client: FlaskClient) -> None:
    assert "The operator of this site, 127.0.0.1, has not put a name here." in words(client)
    assert "An assistant may ask to be told when you have sent your answers" in words(client)


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


def test_without_the_setting_security_txt_is_not_found(client: FlaskClient) -> None:
    assert client.get(PATH).status_code == 404


@pytest.mark.settings(security_contact=CONTACT, public_url="https://askback.example")
def test_the_document_is_what_the_rfc_asks_for(client: FlaskClient) -> None:
    response = client.get(PATH, base_url="https://askback.example")

    fields = dict(line.split(": ", 1) for line in response.text.splitlines())
    expires = datetime.fromisoformat(fields.pop("Expires"))
    assert response.headers["Content-Type"] == "text/plain; charset=utf-8"
    assert fields == {
        "Contact": CONTACT,
        "Preferred-Languages": "en",
        "Canonical": f"https://askback.example{PATH}",
    }
    assert timedelta(days=90) < expires - utc_now() < timedelta(days=365)


@pytest.mark.parametrize("contact", [CONTACT, "https://example.org/security?a=b"])
def test_a_contact_is_an_address(contact: str, tmp_path: Path) -> None:
    environ = {"SECURITY_CONTACT": contact, "ASKBACK_DATA": str(tmp_path)}

    assert read_settings(environ).security_contact == contact


@pytest.mark.parametrize(
    "contact",
    ["security@example.org", "http://example.org", "mailto:", "https://", "mailto:a@b\nExpires: x"],
)
def test_anything_else_is_refused(contact: str, tmp_path: Path) -> None:
    environ = {"SECURITY_CONTACT": contact, "ASKBACK_DATA": str(tmp_path)}

    with pytest.raises(ConfigurationError, match="SECURITY_CONTACT"):
        read_settings(environ)
