"""Links with what chats and people write right behind them."""

from typing import Any

import pytest
from flask import Flask
from flask.testing import FlaskClient

from tests.pages.respondent_client import Respondent, hidden
from webapp.base.database import utc_now
from webapp.records.accounts.invites import make_invite

BEHIND = (
    *(".", ",", ")", "]", "}", ">", '"', "'", "*", "**", "_", "__", "~", "-", "!", ":", ";", "|"),
    *("%20", "%20please", "%0A", "%E2%80%8B", "%E2%80%8D", "%EF%BB%BF", "%C2%A0", "%E2%80%A6"),
    *("%E2%80%9D", "%E3%80%82", "%EF%BC%89", "%00", "%FF", "%252E", ").", "%20and/or", "\\"),
)


@pytest.mark.parametrize("behind", [*BEHIND, *(f"/{each}" for each in BEHIND)])
def test_the_link_opens_its_form(client: FlaskClient, form: Any, behind: str) -> None:
    link = f"/r/{form.share_token}"

    opened = client.get(link + behind, follow_redirects=True)

    assert opened.status_code == 200
    assert opened.request.path == link
    assert hidden(opened)["session"]


@pytest.mark.parametrize("path", ["/q/2", "/check", "/done"])
def test_addresses_below_the_link_open(respondent: Respondent, path: str) -> None:
    respondent.answer(1, "Me")
    link = f"/r/{respondent.share_token}{path}"

    moved = respondent.client.get(f"{link}).?lang=de")

    assert (moved.status_code, moved.location) == (303, f"{link}?lang=de")


@pytest.mark.parametrize("behind", BEHIND)
def test_an_unknown_link_stays_unknown(client: FlaskClient, form: Any, behind: str) -> None:
    wrong = form.share_token[::-1]

    assert client.get(f"/r/{wrong}{behind}").status_code == 404


@pytest.mark.parametrize("changed", ["x", "0", "xyz.", "/x", "/q/x."])
def test_another_link_is_none_of_ours(client: FlaskClient, form: Any, changed: str) -> None:
    assert client.get(f"/r/{form.share_token}{changed}").status_code == 404
    assert client.get(f"/r/{form.share_token[:-1]}{changed}").status_code == 404


@pytest.mark.parametrize("behind", BEHIND)
def test_a_transfer_link_opens(client: FlaskClient, respondent: Respondent, behind: str) -> None:
    respondent.answer(1, "Me")
    secret = hidden(respondent.post("/q/2/elsewhere"))["secret"]

    opened = client.get(
        f"/r/{respondent.share_token}/continue/{secret}{behind}", follow_redirects=True
    )

    assert hidden(opened)["secret"] == secret


@pytest.mark.parametrize("behind", BEHIND)
def test_an_invitation_opens(app: Flask, client: FlaskClient, behind: str) -> None:
    with app.app_context():
        token = make_invite(now=utc_now())

    opened = client.get(f"/join/{token}{behind}", follow_redirects=True)

    assert opened.request.path == f"/join/{token}"
    assert opened.status_code == 200
