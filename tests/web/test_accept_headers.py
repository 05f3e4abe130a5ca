"""Headers of what a browser accepts: as long as a stranger likes, read as far as browsers need."""

import re

import pytest
from flask.testing import FlaskClient

from webapp.web.request_kind import READ_CHARS

MANY = "x;q=0.1,"


def before(wanted: str, chars: int) -> str:
    """A header of other entries in which `wanted` ends at `chars`."""
    others = (chars - len(wanted)) // len(MANY)
    return MANY * others + " " * ((chars - len(wanted)) % len(MANY)) + wanted


@pytest.mark.parametrize(
    ("chars", "language"), [(10, "de"), (READ_CHARS, "de"), (READ_CHARS + 8, "en"), (60_000, "en")]
)
def test_languages_are_read_up_to_a_bound(client: FlaskClient, chars: int, language: str) -> None:
    page = client.get("/privacy", headers={"Accept-Language": before("de", chars)})

    assert f'<html lang="{language}"' in page.text


@pytest.mark.parametrize(
    ("header", "packed"),
    [
        ("gzip", True),
        ("*", True),
        ("gzip;q=0", False),
        ("", False),
        (before("gzip", READ_CHARS), True),
        (before("gzip", 60_000), False),
    ],
)
def test_encodings_are_read_up_to_a_bound(
    client: FlaskClient, header: str, *, packed: bool
) -> None:
    styles = re.findall(r'href="([^"]+app\.css)"', client.get("/login").text)

    sent = client.get(styles[0], headers={"Accept-Encoding": header})

    assert (sent.headers.get("Content-Encoding") == "gzip") is packed
