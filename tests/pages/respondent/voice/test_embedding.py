"""A form that records, inside another website: by its code, and without any cookie."""

import re
from html import unescape
from typing import Any

import pytest
from flask import Flask
from sqlalchemy import update

from tests.pages.creator_client import Creator
from tests.pages.respondent.voice.conftest import CHECKED, Speaker, kept
from tests.pages.respondent_client import heading
from tests.voice.factories import make_voice_form
from webapp.base.database import db
from webapp.records.accounts.models import Account
from webapp.records.forms import Form

SITE = "https://www.example.org"


@pytest.fixture
def form(app: Flask, account: Account) -> Any:
    """Shown in frames of one website."""
    with app.app_context():
        made = make_voice_form(account.id)
        db.session.execute(update(Form).values(frame_origins=SITE))
        db.session.commit()
        return made


@pytest.mark.parametrize("records", [True, False])
def test_the_code_for_websites_lets_a_form_that_records_use_the_microphone(
    app: Flask, ann: Creator, form: Any, *, records: bool
) -> None:
    with app.app_context():
        db.session.execute(update(Form).values(records_voice=records))
        db.session.commit()

    page = unescape(ann.page(f"/forms/{form.id}/share").text)

    end = ' loading="lazy" allow="microphone"></iframe>' if records else ' loading="lazy"></iframe>'
    assert end in page


def test_a_frame_uploads_and_answers_without_a_cookie(app: Flask, form: Any) -> None:
    client = app.test_client(use_cookies=False)
    page = client.get(f"/r/{form.share_token}?embed=1")
    speaker = Speaker(client, form.share_token, page)

    added = speaker.upload("1", headers={"Sec-Fetch-Dest": "iframe"})
    speaker.page = added
    assert CHECKED.search(added.text)
    assert "Set-Cookie" not in added.headers
    following = speaker.go_on(1)

    assert heading(following) == "What went wrong?"
    assert kept(app)[0].answer_id
    assert page.headers["Permissions-Policy"].startswith("microphone=(self)")


def test_a_recording_that_is_not_found_may_be_shown_in_the_frame(app: Flask, form: Any) -> None:
    page = app.test_client().get(f"/r/{form.share_token}/recordings/att_0?embed=1")

    assert page.status_code == 404
    assert f"frame-ancestors {SITE}" in page.headers["Content-Security-Policy"]


def test_in_a_frame_every_address_says_so(app: Flask, form: Any) -> None:
    page = app.test_client().get(f"/r/{form.share_token}?embed=1")

    addresses = re.findall(rf'="(/r/{form.share_token}/[^"]*)"', page.text)
    assert [each for each in addresses if "recording" in each]
    assert [each for each in addresses if "embed=1" not in each] == []
