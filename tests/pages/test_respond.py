"""Answering in public over plain HTTP: the way through a form, with and without a cookie."""

import re
from html import unescape
from typing import Any

import pytest
from flask import Flask
from flask.testing import FlaskClient
from werkzeug.test import TestResponse

from tests.factories import make_form
from webapp.domain.accounts import Account


@pytest.fixture
def form(app: Flask, account: Account) -> Any:
    with app.app_context():
        return make_form(account.id)


def hidden(page: TestResponse) -> dict[str, str]:
    """The hidden fields of a slip."""
    fields = re.findall(r'type="hidden" name="(\w+)" value="([^"]*)"', page.text)
    return {name: unescape(value) for name, value in fields}


def heading(page: TestResponse) -> str:
    found = re.search(r"<h1[^>]*>(?:<label[^>]*>)?([^<]*)", page.text)
    return unescape(found[1]) if found else ""


def test_it_works(client: FlaskClient, form: Any) -> None:
    here = f"/r/{form.share_token}"
    page = client.get(here)
    assert heading(page) == "Who changed it?"

    page = client.post(f"{here}/q/1", data=hidden(page) | {"answer": "Me"})
    assert page.status_code == 200
    assert heading(page) == "What went wrong?"

    page = client.post(f"{here}/q/2", data=hidden(page) | {"answer": "It"})
    assert (page.status_code, page.location) == (303, f"{here}/check")
    page = client.get(f"{here}/check")
    assert "2 answered" in page.text

    page = client.post(f"{here}/check", data=hidden(page) | {"name": "Sam"})
    assert (page.status_code, page.location) == (303, f"{here}/done")
    page = client.get(f"{here}/done")
    assert heading(page) == "Thank you. Robin Example has your answers."
