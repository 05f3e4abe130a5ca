"""Erasing a form out of the trash: asked for twice, said afterwards, and for its creator only."""

from typing import Any

import pytest
from flask import Flask
from sqlalchemy import select

from tests.factories import make_answer, make_form, make_response
from tests.pages.creator_client import Creator, plain
from webapp.base.database import db
from webapp.records.audit import AuditEvent, AuditKind


@pytest.fixture
def in_trash(app: Flask, ann: Creator, form: Any) -> Any:
    """A form in the trash, with one finished response and one that is not."""
    with app.app_context():
        make_response(form)
        make_answer(form, "k" * 32)
    ann.post(f"/forms/{form.id}/delete")
    return form


def test_erasing_asks_first_and_says_what_is_lost(ann: Creator, in_trash: Any) -> None:
    asked = f"/forms/{in_trash.id}/erase"
    assert f'href="{asked}"' in ann.page("/forms/trash").text

    words = plain(ann.page(asked).text)

    assert "1 completed response goes with it, and 1 that is not completed." in words
    assert "Nobody can bring it back" in words
    assert ann.post(f"/forms/{in_trash.id}/restore").location == (
        f"/forms/{in_trash.id}?done=restored"
    )


def test_an_erased_form_cannot_be_restored(ann: Creator, in_trash: Any) -> None:
    sent = ann.post(f"/forms/{in_trash.id}/erase")

    words = plain(ann.page(sent.location).text)
    assert "The form is erased." in words
    assert "The trash is empty." in words
    assert "The form is erased." not in plain(ann.page("/forms/trash").text)
    assert ann.post(f"/forms/{in_trash.id}/restore").status_code == 404
    assert ann.page(f"/forms/{in_trash.id}/erase").status_code == 404


def test_deleting_and_restoring_again_say_what_is_true(app: Flask, ann: Creator, form: Any) -> None:
    deleted = [ann.post(f"/forms/{form.id}/delete").location for _ in range(2)]
    restored = [ann.post(f"/forms/{form.id}/restore").location for _ in range(2)]

    assert deleted == [f"/forms/trash?deleted={form.id}"] * 2
    assert restored == [f"/forms/{form.id}?done=restored"] * 2
    with app.app_context():
        kinds = [AuditKind.DELETED, AuditKind.RESTORED]
        told = db.session.scalars(select(AuditEvent.kind).where(AuditEvent.kind.in_(kinds)))
        assert sorted(told) == sorted(kinds)


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
def test_a_copy_says_whose_copy_it_is(
    app: Flask, ann: Creator, stranger: Creator, title: str, copied: str
) -> None:
    with app.app_context():
        form = make_form(ann.account.id, title=title)
        others = make_form(stranger.account.id, title="Of a stranger")

    place = ann.post(f"/forms/{form.id}/copy").location
    page = ann.page(place).text
    path = place.partition("?")[0]

    assert f'<q class="quoted" dir="auto">{title}</q>' in page
    assert f"<title>{copied} · Askback</title>" in page
    assert "Draft made from" in page
    assert "Draft made from" not in ann.page(path).text
    assert "stranger" not in ann.page(f"{path}?made_from={others.id}").text
