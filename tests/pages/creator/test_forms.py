"""The list of forms, one form with its link and its end, the trash, and copies."""

from typing import Any

import pytest
from flask import Flask

from tests.pages.creator_client import ORIGIN, Creator
from webapp.records import drafts
from webapp.records.content.model import snapshot


@pytest.fixture
def form(ann: Creator) -> Any:
    return ann.form(title="Rota talks", context="canary")


def test_the_share_page_gives_link_code_and_a_mail_without_markup(ann: Creator) -> None:
    form = ann.form(title='Rota & "co" <b>?body=x', context="canary")

    page = ann.page(f"/forms/{form.id}/share").text

    assert f'value="{ORIGIN}/r/{form.share_token}"' in page
    assert "<svg" in page.partition('class="qr"')[2]
    assert "canary" not in page
    mail = page.partition('href="mailto:')[2].partition('"')[0]
    assert mail.startswith("?subject=Rota%20%26%20%22co%22%20%3Cb%3E%3Fbody%3Dx&amp;body=")
    assert form.share_token in mail


def test_without_a_session_every_page_of_a_creator_leads_to_the_sign_in_page(app: Flask) -> None:
    of_creators = {"account", "agreements", "agent_tokens", "confirm", "connections", "deliveries"}
    of_creators |= {"drafts", "exports", "forms", "inbox", "questions", "results"}
    for rule in app.url_map.iter_rules():
        blueprint = rule.endpoint.partition(".")[0]
        if blueprint not in of_creators | {"trial"}:
            continue
        values = dict.fromkeys(rule.arguments, "x") | {"position": 1, "number": 1}
        values |= {"part": "title", "kind": "svg", "name": "export.csv", "page": "voice"}
        built = rule.build({name: values[name] for name in rule.arguments})
        assert built
        if "GET" in (rule.methods or ()):
            assert app.test_client().get(built[1]).location.startswith("/login"), rule


def test_only_a_form_in_the_trash_is_erased_by_its_creator(
    ann: Creator, stranger: Creator, form: Any
) -> None:
    address = f"/forms/{form.id}/erase"
    asked, sent = ann.page(address), ann.post(address)
    ann.post(f"/forms/{form.id}/delete")

    assert (asked.status_code, asked.location) == (303, f"/forms/{form.id}")
    assert sent.status_code == 404
    assert stranger.page(address).status_code == stranger.post(address).status_code == 404
    assert ann.post(address, csrf_token="").status_code == 400
    assert ann.post(f"/forms/{form.id}/restore").status_code == 303


@pytest.mark.parametrize(
    ("title", "copied"),
    [
        ("Rota talks", "Copy of Rota talks"),
        ("x" * 112, "Copy of " + "x" * 112),
        ("x" * 113, "Copy of " + "x" * 111 + "…"),
    ],
)
def test_a_copy_says_whose_copy_it_is(ann: Creator, title: str, copied: str) -> None:
    smart = {"goal": "Learn", "context": "the reason", "followUpMode": "smart"}
    form = ann.form(title=title, **smart, maxTotalQuestions=4)

    place = ann.post(f"/forms/{form.id}/copy").location
    page = ann.page(place).text
    with ann.context():
        copy = drafts.get_draft(ann.account.id, place.split("/")[2].partition("?")[0])
        assert snapshot(copy) | {"title": title} == snapshot(form)

    assert f"<title>{copied} · Askback</title>" in page
    assert "made from a form" in page
    assert "made from a form" not in ann.page(place.partition("?")[0]).text
