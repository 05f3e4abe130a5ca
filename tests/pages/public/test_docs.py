"""The documents for who builds on the API."""

import re

import pytest
from flask.testing import FlaskClient
from markupsafe import escape

from webapp.wire.error_codes import ERROR_CODES, ErrorCode


@pytest.mark.parametrize("known", ERROR_CODES, ids=lambda known: known.code)
def test_every_error_code_is_explained(known: ErrorCode, client: FlaskClient) -> None:
    page = client.get("/docs/errors").text

    entry = page.partition(f'<div id="{known.code}">')[2].partition("</div>")[0]
    assert as_read(escape(known.when)) in as_read(entry)
    assert as_read(escape(known.remedy)) in as_read(entry)
    assert entry.count("<code>") == 1 + (known.when + known.remedy).count("`") // 2


def as_read(text: str) -> str:
    return re.sub("</?code>|`", "", text)


def test_a_code_stands_under_its_status(client: FlaskClient) -> None:
    page = client.get("/docs/errors").text

    headed = page.partition('id="status-429"')[2].partition('id="status-')[0]
    assert 'id="rate_limited"' in headed
    assert "Too Many Requests" in headed


def test_only_below_500_nothing_has_surely_changed(client: FlaskClient) -> None:
    page = client.get("/docs/errors").text

    assert "A refusal with a status below 500 changed nothing" in page
    assert "A refused request changed nothing" not in page


def test_nobody_has_to_be_signed_in(client: FlaskClient) -> None:
    response = client.get("/docs/errors")

    assert (response.status_code, "Set-Cookie" in response.headers) == (200, False)
