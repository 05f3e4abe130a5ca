"""Share links: their Open Graph card, and what chats and people write right behind them."""

import re
import struct
from html import unescape
from typing import Any

import pytest
from flask import Flask
from flask.testing import FlaskClient

from tests.factories import make_answer, make_form
from tests.pages.creator_client import ORIGIN
from tests.pages.respondent_client import Respondent, close, hidden
from webapp.base.database import utc_now
from webapp.records.accounts.invites import make_invite
from webapp.records.accounts.models import Account

PNG = b"\x89PNG\r\n\x1a\n"


def card(client: FlaskClient, form: Any) -> dict[str, str]:
    """The Open Graph properties of the link, as a program without cookies reads them."""
    page = client.get(f"/r/{form.share_token}").text
    found = re.findall(r'<meta property="og:([a-z:]+)" content="([^"]*)">', page)
    return {name: unescape(value) for name, value in found}


@pytest.fixture
def secretive(app: Flask, account: Account) -> Any:
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


def test_the_card_shows_title_and_number_of_questions(client: FlaskClient, secretive: Any) -> None:
    found = card(client, secretive)

    image = found.pop("image")
    assert image.startswith(f"{ORIGIN}/static/v/")
    assert found == {
        "title": 'Rota <b> & "talks"',
        "description": "1 question, about 2 minutes",
        "url": f"{ORIGIN}/r/{secretive.share_token}",
        "image:width": "1200",
        "image:height": "630",
        "image:alt": "Askback",
    }
    assert "CANARY" not in client.get(f"/r/{secretive.share_token}").text
    picture = client.get(image.removeprefix(ORIGIN))
    assert picture.mimetype == "image/png"
    assert picture.data.startswith(PNG)
    assert struct.unpack(">II", picture.data[16:24]) == (1200, 630)  # PNG, section 11.2.1: IHDR
    assert len(picture.data) < 64 * 1024


def test_the_card_of_a_closed_form_has_no_description(
    app: Flask, client: FlaskClient, secretive: Any
) -> None:
    close(app, secretive)

    found = card(client, secretive)

    assert found["title"] == 'Rota <b> & "talks"'
    assert "description" not in found


BEHIND = (
    *(".", ",", ")", "]", "}", ">", '"', "'", "*", "**", "_", "__", "~", "-", "!", ":", ";", "|"),
    *("%20", "%20please", "%0A", "%E2%80%8B", "%E2%80%8D", "%EF%BB%BF", "%C2%A0", "%E2%80%A6"),
    *("%E2%80%9D", "%E3%80%82", "%EF%BC%89", "%00", "%FF", "%252E", ").", "%20and/or", "\\"),
)


@pytest.mark.parametrize("behind", BEHIND)
def test_the_link_in_it_opens(
    app: Flask, client: FlaskClient, respondent: Respondent, behind: str
) -> None:
    link, wrong = f"/r/{respondent.share_token}", f"/r/{respondent.share_token[::-1]}"
    with app.app_context():
        invitation = f"/join/{make_invite(now=utc_now())}"
    respondent.answer(1, "Me")
    transfer = hidden(respondent.post("/q/2/elsewhere"))["secret"]
    stranger = app.test_client()

    for pasted in (f"{link}{behind}", f"{link}/{behind}"):
        opened = stranger.get(pasted, follow_redirects=True)
        assert (opened.status_code, opened.request.path) == (200, link)
        assert hidden(opened)["session"]
    opened = stranger.get(f"{link}/continue/{transfer}{behind}", follow_redirects=True)
    assert hidden(opened)["secret"] == transfer
    opened = stranger.get(invitation + behind, follow_redirects=True)
    assert (opened.status_code, opened.request.path) == (200, invitation)
    assert client.get(wrong + behind).status_code == 404


@pytest.mark.parametrize("path", ["/q/2", "/check", "/done"])
def test_addresses_below_the_link_open(respondent: Respondent, path: str) -> None:
    respondent.answer(1, "Me")
    link = f"/r/{respondent.share_token}{path}"

    moved = respondent.client.get(f"{link}).?lang=de")

    assert (moved.status_code, moved.location) == (303, f"{link}?lang=de")


@pytest.mark.parametrize("changed", ["x", "0", "xyz.", "/x", "/q/x."])
def test_another_link_is_none_of_ours(client: FlaskClient, form: Any, changed: str) -> None:
    assert client.get(f"/r/{form.share_token}{changed}").status_code == 404
    assert client.get(f"/r/{form.share_token[:-1]}{changed}").status_code == 404
