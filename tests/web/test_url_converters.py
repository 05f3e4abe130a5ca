"""Ids in addresses, on the database that refuses U+0000."""

import pytest
from flask import Flask
from flask.testing import FlaskClient

from tests.databases import on_postgresql
from tests.pages.creator_client import creator
from webapp.records.accounts.models import Account

pytestmark = on_postgresql


@pytest.mark.parametrize("path", ["/r/%00", "/r/%00/q/1", "/r/%00/done"])
def test_a_link_with_a_null_character_is_not_found(client: FlaskClient, path: str) -> None:
    assert client.get(path).status_code == 404


@pytest.mark.parametrize("path", ["/drafts/%00", "/forms/%00", "/forms/%00/people"])
def test_a_page_with_a_null_character_is_not_found(app: Flask, account: Account, path: str) -> None:
    assert creator(app, account).page(path).status_code == 404


@pytest.mark.parametrize("action", ["disconnect", "trust"])
def test_an_agent_with_a_null_character_is_not_found(
    app: Flask, account: Account, action: str
) -> None:
    assert creator(app, account).post(f"/connections/%00/{action}").status_code == 404
