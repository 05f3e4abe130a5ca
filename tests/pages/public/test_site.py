"""The pages of the site itself: about it, the privacy note, the security contact (RFC 9116)."""

import re
from datetime import datetime, timedelta
from pathlib import Path

import pytest
from flask import Flask
from flask.testing import FlaskClient

from tests.pages.respondent_client import Respondent, storage_away
from webapp.base.config_environment import ConfigurationError, read_settings
from webapp.base.database import utc_now

OPERATOR = pytest.mark.settings(
    operator_name="Fernhill & Sons", operator_contact="hello@fernhill.example"
)
PATH = "/.well-known/security.txt"
CONTACT = "mailto:security@example.org"


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


@pytest.mark.parametrize(
    "contact",
    ["security@example.org", "http://example.org", "mailto:", "https://", "mailto:a@b\nExpires: x"],
)
def test_anything_else_is_refused(contact: str, tmp_path: Path) -> None:
    environ = {"SECURITY_CONTACT": contact, "ASKBACK_DATA": str(tmp_path)}

    with pytest.raises(ConfigurationError, match="SECURITY_CONTACT"):
        read_settings(environ)
