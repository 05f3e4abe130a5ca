"""Kinds of requests, what browsers accept, and ids in addresses."""

import pytest
from flask import Flask
from flask.testing import FlaskClient

from tests.databases import on_postgresql
from tests.pages.creator_client import creator
from webapp.records.accounts.models import Account
from webapp.web.request_kind import PROGRAMS, READ_CHARS, RequestKind, of_address

BY_ADDRESS = {*PROGRAMS, RequestKind.RESPONDENT_PAGE, RequestKind.PROBE, RequestKind.STATIC}


def test_a_route_is_of_the_kind_that_its_address_says_for_sessions(app: Flask) -> None:
    kinds = app.extensions["request_kinds"]
    for rule in app.url_map.iter_rules():
        kind, by_address = kinds.get(rule.endpoint.rpartition(".")[0]), of_address(rule.rule)
        assert kind == by_address or not {kind, by_address} & BY_ADDRESS or not kind, rule


@on_postgresql
@pytest.mark.parametrize(
    "path",
    [
        *("/r/%00", "/r/%00/q/1", "/r/%00/done", "/drafts/%00", "/forms/%00", "/forms/%00/people"),
        *("POST /connections/%00/disconnect", "POST /connections/%00/trust"),
    ],
)
def test_what_has_a_null_character_in_its_id_is_not_found(
    app: Flask, account: Account, path: str
) -> None:
    method, _, path = path.rpartition(" ")
    ann = creator(app, account)

    assert (ann.post(path) if method else ann.page(path)).status_code == 404


@pytest.mark.parametrize(("chars", "language"), [(READ_CHARS, "de"), (60_000, "en")])
def test_languages_are_read_up_to_a_bound(client: FlaskClient, chars: int, language: str) -> None:
    others = "x;q=0.1," * (chars // 8 - 1)
    page = client.get("/privacy", headers={"Accept-Language": f"{others}de"})

    assert f'<html lang="{language}"' in page.text
