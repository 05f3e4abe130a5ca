"""The Open Graph card of a share link: title and number of questions only."""

import re
import struct
from html import unescape
from typing import Any

import pytest
from flask import Flask
from flask.testing import FlaskClient

from tests.factories import make_answer, make_form
from tests.pages.creator_client import ORIGIN
from webapp.base.database import utc_now
from webapp.records import forms
from webapp.records.accounts.models import Account

PNG = b"\x89PNG\r\n\x1a\n"


def card(client: FlaskClient, form: Any) -> dict[str, str]:
    """The Open Graph properties of the link, as a program without cookies reads them."""
    page = client.get(f"/r/{form.share_token}").text
    found = re.findall(r'<meta property="og:([a-z:]+)" content="([^"]*)">', page)
    return {name: unescape(value) for name, value in found}


@pytest.fixture
def form(app: Flask, account: Account) -> Any:
    with app.app_context():
        form = make_form(
            account.id,
            title='Rota <b> & "talks"',
            goal="CANARY",
            context="CANARY",
            questions=["Who?"],
        )
        make_answer(form, "k" * 32, text="CANARY")
        return form


def test_the_card_shows_title_and_number_of_questions(client: FlaskClient, form: Any) -> None:
    found = card(client, form)

    image = found.pop("image")
    assert image.startswith(f"{ORIGIN}/static/v/")
    assert found == {
        "title": 'Rota <b> & "talks"',
        "description": "1 question, about 2 minutes",
        "url": f"{ORIGIN}/r/{form.share_token}",
        "image:width": "1200",
        "image:height": "630",
        "image:alt": "Askback",
    }
    assert "CANARY" not in client.get(f"/r/{form.share_token}").text
    picture = client.get(image.removeprefix(ORIGIN))
    assert picture.mimetype == "image/png"
    assert picture.data.startswith(PNG)
    assert struct.unpack(">II", picture.data[16:24]) == (1200, 630)  # PNG, section 11.2.1: IHDR
    assert len(picture.data) < 64 * 1024


def test_the_card_of_a_closed_form_has_no_description(
    app: Flask, client: FlaskClient, form: Any
) -> None:
    with app.app_context():
        forms.close_form(form.account_id, form.id, now=utc_now())

    found = card(client, form)

    assert found["title"] == 'Rota <b> & "talks"'
    assert "description" not in found
