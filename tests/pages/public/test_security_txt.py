"""Whom to tell about a weakness (RFC 9116)."""

from datetime import datetime, timedelta
from pathlib import Path

import pytest
from flask.testing import FlaskClient

from webapp.base.config_environment import ConfigurationError, read_settings
from webapp.base.database import utc_now

PATH = "/.well-known/security.txt"
CONTACT = "mailto:security@example.org"


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
