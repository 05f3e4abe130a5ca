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
